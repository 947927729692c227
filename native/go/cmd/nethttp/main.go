// Command nethttp serves the contract with net/http and its ServeMux: what Go costs without a framework.
package main

import (
	"html/template"
	"io"
	"net/http"

	"levelfield/native/internal/front"
	"levelfield/native/internal/model"
	"levelfield/native/internal/pages"
	"levelfield/native/internal/server"
	"levelfield/native/internal/store"
)

func main() {
	server.Main("nethttp", 8084, newHandler)
}

type app struct {
	users     *store.Users
	templates map[string]*template.Template
	year      func() int
}

func newHandler(users *store.Users, year func() int) http.Handler {
	app := &app{users, pages.Templates(), year}
	mux := http.NewServeMux()
	for path, handler := range map[string]http.HandlerFunc{
		"/helloWorld":      app.hello,
		"/users/{id}":      app.user,
		"/api/values/{id}": app.value,
		"/{$}":             app.page("home", pages.Home),
		"/about":           app.page("about", pages.About),
		"/contact":         app.page("contact", pages.Contact),
	} {
		mux.HandleFunc("GET "+path, handler) // and HEAD, as ServeMux has it
		mux.HandleFunc(path, refuse(model.MethodNotAllowed))
	}
	mux.HandleFunc("/", refuse(model.NotFound))
	return mux
}

func (a *app) hello(w http.ResponseWriter, _ *http.Request) {
	front.WriteJSON(w, http.StatusOK, model.Greeting)
}

func (a *app) user(w http.ResponseWriter, r *http.Request) {
	id, err := model.ParseUserID(r.PathValue("id"))
	if err != nil {
		front.Refuse(w, model.ProblemOf(err))
		return
	}
	user, err := a.users.ByID(r.Context(), id)
	if err != nil {
		front.Refuse(w, model.ProblemOf(err))
		return
	}
	front.WriteJSON(w, http.StatusOK, user)
}

func (a *app) value(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(w, "value")
}

func (a *app) page(view string, model func(year int) pages.Page) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		a.templates[view].Execute(w, model(a.year()))
	}
}

func refuse(problem *model.Problem) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { front.Refuse(w, problem) }
}
