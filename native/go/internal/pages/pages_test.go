package pages_test

import (
	"bytes"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"levelfield/native/internal/pages"
)

// The golden pages are one set for every build.
const golden = "../../../../contract/pages"

func TestEachPageIsItsGoldenFile(t *testing.T) {
	templates := pages.Templates()
	for view, page := range map[string]pages.Page{
		"home": pages.Home(2026), "about": pages.About(2026), "contact": pages.Contact(2026),
	} {
		want, err := os.ReadFile(filepath.Join(golden, view+".html"))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := templates[view].Execute(&got, page); err != nil {
			t.Fatal(err)
		}
		if got.String() != string(want) {
			t.Errorf("%s differs from its golden file, contract/pages/%s.html", view, view)
		}
	}
}

func TestMarkupInTheModelIsEscaped(t *testing.T) {
	const markup = "<b>\"&'+`"
	for view, tmpl := range pages.Templates() {
		var out strings.Builder
		if err := tmpl.Execute(&out, pages.Page{Title: markup, Message: markup, Year: 1}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "<b>") {
			t.Errorf("%s: markup came through", view)
		}
		_, rest, _ := strings.Cut(out.String(), "<title>")
		title, _, _ := strings.Cut(rest, "</title>")
		_, rest, _ = strings.Cut(out.String(), `<p class="lead">`)
		message, _, _ := strings.Cut(rest, "</p>")
		for _, got := range []string{title, message} {
			if html.UnescapeString(got) != markup {
				t.Errorf("%s: %q is not an escape of %q", view, got, markup)
			}
		}
	}
}
