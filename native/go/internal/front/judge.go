// Package front is what stands between net/http and a build's router: what the contract judges on the raw path, before
// a framework decodes and cleans it, and a content-length for every body.
package front

import (
	"net/http"
	"strings"

	"levelfield/native/internal/model"
)

// Judge refuses a path that has a percent sign or two slashes in a row, drops one trailing slash, and hands the request
// on to the router. The query string is nobody's business here.
func Judge(router http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := rawPath(r)
		switch {
		case strings.ContainsAny(path, percents):
			Refuse(w, model.InvalidPathParameter)
		case strings.Contains(path, "//"):
			Refuse(w, model.NotFound)
		case len(path) > 1 && strings.HasSuffix(path, "/"):
			router.ServeHTTP(w, withPath(r, strings.TrimSuffix(path, "/")))
		default:
			router.ServeHTTP(w, r)
		}
	})
}

// rawPath is the path as it came on the request line.
func rawPath(r *http.Request) string {
	if !strings.HasPrefix(r.RequestURI, "/") { // absolute form, http://host/path
		return r.URL.EscapedPath()
	}
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return path
}

// withPath returns a copy, because a handler must not change the request that it was given.
func withPath(r *http.Request, path string) *http.Request {
	copied := *r
	url := *r.URL
	url.Path, url.RawPath = path, ""
	copied.URL = &url
	return &copied
}

// Refuse answers with a problem.
func Refuse(w http.ResponseWriter, problem *model.Problem) {
	problem.SetHeader(w.Header())
	WriteJSON(w, problem.Status, problem)
}

// WriteJSON answers with the contract's JSON of v.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	body, err := model.JSON(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", model.ContentTypeJSON)
	w.WriteHeader(status)
	w.Write(body)
}
