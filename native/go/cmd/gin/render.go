package main

import (
	"bytes"
	"html/template"
	"net/http"

	"github.com/gin-gonic/gin/codec/json"
	"github.com/gin-gonic/gin/render"

	"levelfield/native/internal/model"
)

// exactJSON renders like Gin's PureJSON, with Gin's codec, but leaves out the charset and the newline at the end.
type exactJSON struct{ data any }

func (r exactJSON) Render(w http.ResponseWriter) error {
	r.WriteContentType(w)
	var body bytes.Buffer
	encoder := json.API.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r.data); err != nil {
		return err
	}
	_, err := w.Write(bytes.TrimSuffix(body.Bytes(), []byte("\n")))
	return err
}

func (r exactJSON) WriteContentType(w http.ResponseWriter) {
	w.Header().Set("Content-Type", model.ContentTypeJSON)
}

// views gives each view a template of its own, joined with the layout. Gin's LoadHTML functions parse all files into
// one set, in which the views' "content" would overwrite each other.
type views map[string]*template.Template

func (v views) Instance(name string, data any) render.Render {
	return render.HTML{Template: v[name], Data: data}
}
