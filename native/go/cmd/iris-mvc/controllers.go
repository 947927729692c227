package main

import (
	"github.com/kataras/iris/v12"
	"github.com/kataras/iris/v12/mvc"

	"levelfield/native/internal/irisapp"
	"levelfield/native/internal/model"
	"levelfield/native/internal/pages"
	"levelfield/native/internal/store"
)

// A method named Get... answers GET only, so each controller names its routes itself, for HEAD too.
const methods = "GET HEAD"

// homeController serves the three pages.
type homeController struct{ year func() int }

func (c *homeController) BeforeActivation(b mvc.BeforeActivation) {
	b.HandleMany(methods, "/", "Home")
	b.HandleMany(methods, "/about", "About")
	b.HandleMany(methods, "/contact", "Contact")
}

func (c *homeController) Home() mvc.Result {
	return mvc.View{Name: "home", Data: pages.Home(c.year())}
}

func (c *homeController) About() mvc.Result {
	return mvc.View{Name: "about", Data: pages.About(c.year())}
}

func (c *homeController) Contact() mvc.Result {
	return mvc.View{Name: "contact", Data: pages.Contact(c.year())}
}

// helloController serves the greeting.
type helloController struct{}

func (c *helloController) BeforeActivation(b mvc.BeforeActivation) {
	b.HandleMany(methods, "/", "Greet")
}

func (c *helloController) Greet() model.Message { return model.Greeting }

// usersController serves users from the store.
type usersController struct{ users *store.Users }

func (c *usersController) BeforeActivation(b mvc.BeforeActivation) {
	b.HandleMany(methods, "/{id}", "ByID")
}

func (c *usersController) ByID(ctx iris.Context, text string) (model.User, error) {
	id, err := model.ParseUserID(text)
	if err != nil {
		return model.User{}, err
	}
	return c.users.ByID(ctx.Request().Context(), id)
}

// HandleError is where Iris brings the error that a method returned.
func (c *usersController) HandleError(ctx iris.Context, err error) { irisapp.Refuse(ctx, err) }

// valuesController serves a fixed value.
type valuesController struct{}

func (c *valuesController) BeforeActivation(b mvc.BeforeActivation) {
	b.HandleMany(methods, "/{id}", "Value")
}

func (c *valuesController) Value(string) string { return "value" }
