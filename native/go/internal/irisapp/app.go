// Package irisapp sets Iris up for the contract, for the plain build and the MVC build alike.
package irisapp

import (
	"github.com/kataras/iris/v12"
	"github.com/kataras/iris/v12/context"

	"levelfield/native/internal/model"
	"levelfield/native/internal/pages"
)

func init() {
	// Iris' own place to change what Context.JSON writes. By default it appends a charset to the content type, a newline
	// to the body, and escapes <, > and &.
	context.WriteJSON = func(ctx *context.Context, v any, _ *context.JSON) error {
		body, err := model.JSON(v)
		if err != nil {
			return err
		}
		ctx.ResponseWriter().Header().Set("Content-Type", model.ContentTypeJSON)
		_, err = ctx.Write(body)
		return err
	}
}

// New returns an application that has everything but routes.
func New() *iris.Application {
	app := iris.New()
	app.Configure(iris.WithoutStartupLog, iris.WithFireMethodNotAllowed)
	app.Logger().SetLevel("error")
	// Iris' other HTML engine, iris.HTML, binds the layout's yield to the view on the shared template at each request, so
	// that requests at the same time can get each other's pages. Blocks joins each view with the layout once.
	app.RegisterView(iris.Blocks(pages.Views, ".html").RootDir("views").Layout("main"))
	app.OnErrorCode(iris.StatusNotFound, func(ctx iris.Context) { Refuse(ctx, model.NotFound) })
	app.OnErrorCode(iris.StatusMethodNotAllowed, func(ctx iris.Context) { Refuse(ctx, model.MethodNotAllowed) })
	return app
}

// Build makes an application ready to serve. It panics on a route or a view that cannot be right.
func Build(app *iris.Application) *iris.Application {
	if err := app.Build(); err != nil {
		panic(err)
	}
	return app
}

// Refuse answers with the problem in err.
func Refuse(ctx iris.Context, err error) {
	problem := model.ProblemOf(err)
	problem.SetHeader(ctx.ResponseWriter().Header())
	ctx.StatusCode(problem.Status)
	ctx.JSON(problem)
}
