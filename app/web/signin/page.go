package signin

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"net/http"
)

//go:embed templates/page.html
var assets embed.FS

var pageTemplate = template.Must(template.ParseFS(assets, "templates/page.html"))

// referrer hides addresses here from other sites, and lets forms report their origin here.
const referrer = "same-origin"

// page is a page about signing in.
type page struct {
	Title          string
	Text           []string // paragraphs
	Written        []field  // texts to be copied
	Link, LinkText string   // the next step; "": none
	Form           form     // a form to send; without an action: none
	Style          string   // address of the style sheet; "": the pages' one
}

// form is a button that sends one value.
type form struct {
	Action, Field, Value string
	Text                 string // on the button
}

// show renders a page.
func show(w http.ResponseWriter, status int, p page) {
	p.Style = cmp.Or(p.Style, stylePath)
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		http.Error(w, p.Title, status)
		return
	}
	forms := "'none'"
	if p.Form.Action != "" {
		forms = "'self'"
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; form-action "+forms+"; "+
		"frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", referrer)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}
