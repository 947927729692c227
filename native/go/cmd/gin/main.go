// Command gin serves the contract with the Gin framework.
package main

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"levelfield/native/internal/model"
	"levelfield/native/internal/pages"
	"levelfield/native/internal/server"
	"levelfield/native/internal/store"
)

func main() {
	server.Main("gin", 8080, newHandler)
}

func newHandler(users *store.Users, year func() int) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New() // not Default, which logs every request
	router.HandleMethodNotAllowed = true
	router.HTMLRender = views(pages.Templates())
	router.NoRoute(func(c *gin.Context) { refuse(c, model.NotFound) })
	router.NoMethod(func(c *gin.Context) { refuse(c, model.MethodNotAllowed) })

	get := func(path string, handler gin.HandlerFunc) {
		router.Match([]string{http.MethodGet, http.MethodHead}, path, handler)
	}
	get("/helloWorld", func(c *gin.Context) {
		c.Render(http.StatusOK, exactJSON{model.Greeting})
	})
	get("/users/:id", func(c *gin.Context) {
		id, err := model.ParseUserID(c.Param("id"))
		if err != nil {
			refuse(c, err)
			return
		}
		user, err := users.ByID(c.Request.Context(), id)
		if err != nil {
			refuse(c, err)
			return
		}
		c.Render(http.StatusOK, exactJSON{user})
	})
	get("/api/values/:id", func(c *gin.Context) {
		c.String(http.StatusOK, "value")
	})
	get("/", func(c *gin.Context) { c.HTML(http.StatusOK, "home", pages.Home(year())) })
	get("/about", func(c *gin.Context) { c.HTML(http.StatusOK, "about", pages.About(year())) })
	get("/contact", func(c *gin.Context) { c.HTML(http.StatusOK, "contact", pages.Contact(year())) })
	return router
}

func refuse(c *gin.Context, err error) {
	problem := model.ProblemOf(err)
	problem.SetHeader(c.Writer.Header())
	c.Render(problem.Status, exactJSON{problem})
}
