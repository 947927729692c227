package irisapp_test

import (
	"html"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kataras/iris/v12"

	"levelfield/native/internal/irisapp"
	"levelfield/native/internal/pages"
)

func TestItsViewEngineEscapesMarkup(t *testing.T) {
	const markup = "<b>\"&'+`"
	app := irisapp.New()
	app.Get("/", func(ctx iris.Context) { ctx.View("home", pages.Page{Title: markup, Message: "m", Year: 1}) })
	answer := httptest.NewRecorder()
	irisapp.Build(app).ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
	page := answer.Body.String()
	_, rest, _ := strings.Cut(page, "<title>")
	title, _, _ := strings.Cut(rest, "</title>")
	if strings.Contains(page, "<b>") || html.UnescapeString(title) != markup {
		t.Errorf("%q is not an escape of %q", title, markup)
	}
}
