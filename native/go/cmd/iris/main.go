// Command iris serves the contract with the Iris framework and plain handlers.
package main

import (
	"net/http"

	"github.com/kataras/iris/v12"

	"levelfield/native/internal/irisapp"
	"levelfield/native/internal/model"
	"levelfield/native/internal/pages"
	"levelfield/native/internal/server"
	"levelfield/native/internal/store"
)

func main() {
	server.Main("iris", 8085, newHandler)
}

func newHandler(users *store.Users, year func() int) http.Handler {
	app := irisapp.New()
	get := func(path string, handler iris.Handler) {
		app.HandleMany("GET HEAD", path, handler)
	}
	get("/helloWorld", func(ctx iris.Context) {
		ctx.JSON(model.Greeting)
	})
	get("/users/{id}", func(ctx iris.Context) {
		id, err := model.ParseUserID(ctx.Params().Get("id"))
		if err != nil {
			irisapp.Refuse(ctx, err)
			return
		}
		user, err := users.ByID(ctx.Request().Context(), id)
		if err != nil {
			irisapp.Refuse(ctx, err)
			return
		}
		ctx.JSON(user)
	})
	get("/api/values/{id}", func(ctx iris.Context) {
		ctx.Text("value")
	})
	get("/", func(ctx iris.Context) { ctx.View("home", pages.Home(year())) })
	get("/about", func(ctx iris.Context) { ctx.View("about", pages.About(year())) })
	get("/contact", func(ctx iris.Context) { ctx.View("contact", pages.Contact(year())) })
	return irisapp.Build(app)
}
