package front

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
)

// ContentLength holds an answer back until the handler is done with it, and sends it with a content-length. net/http
// does that for bodies up to 2 KiB; a longer one, such as a page, it would send in chunks.
func ContentLength(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		held := answers.Get().(*answer)
		held.ResponseWriter, held.status = w, http.StatusOK
		held.body.Reset()
		next.ServeHTTP(held, r)
		w.Header().Set("Content-Length", strconv.Itoa(held.body.Len()))
		w.WriteHeader(held.status)
		w.Write(held.body.Bytes())
		held.ResponseWriter = nil
		answers.Put(held)
	})
}

var answers = sync.Pool{New: func() any { return new(answer) }}

// answer is a response that is not sent yet.
type answer struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (a *answer) WriteHeader(status int) { a.status = status }

func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }
