// Package pages holds the three pages: one layout, a view for each, and the view model that all of them take.
package pages

import (
	"embed"
	"html/template"
)

// Views holds the layout and the views, for an engine that loads them itself.
//
//go:embed views
var Views embed.FS

// Page is the view model.
type Page struct {
	Title   string
	Message string
	Year    int
}

// Home is the model of the view "home".
func Home(year int) Page {
	return Page{"Home - Levelfield", "The same service, built in many ways: see what each of them costs.", year}
}

// About is the model of the view "about".
func About(year int) Page {
	return Page{"About - Levelfield", "One contract, served by a component and by native builds.", year}
}

// Contact is the model of the view "contact".
func Contact(year int) Page {
	return Page{"Contact - Levelfield", "Tell us where a build answers otherwise than the contract says.", year}
}

// Templates returns each view joined with the layout, by the view's name. The views are part of the program, so a view
// that does not parse is a bug in it: that panics, at start.
func Templates() map[string]*template.Template {
	templates := make(map[string]*template.Template)
	for _, view := range []string{"home", "about", "contact"} {
		templates[view] = template.Must(template.ParseFS(Views, "views/layouts/main.html", "views/"+view+".html"))
	}
	return templates
}
