// Command iris-mvc serves the contract with the Iris framework and its MVC controllers.
package main

import (
	"net/http"

	"github.com/kataras/iris/v12/mvc"

	"levelfield/native/internal/irisapp"
	"levelfield/native/internal/server"
	"levelfield/native/internal/store"
)

func main() {
	server.Main("iris-mvc", 8086, newHandler)
}

func newHandler(users *store.Users, year func() int) http.Handler {
	app := irisapp.New()
	mvc.New(app).Handle(&homeController{year})
	mvc.New(app.Party("/helloWorld")).Handle(new(helloController))
	mvc.New(app.Party("/users")).Handle(&usersController{users})
	mvc.New(app.Party("/api/values")).Handle(new(valuesController))
	return irisapp.Build(app)
}
