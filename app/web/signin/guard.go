package signin

import (
	"net/http"
	"net/url"
)

// Field and Header carry the viewer's token in a request that changes something: a form field of that name, or a
// script's header.
const (
	Field  = "csrf"
	Header = "X-CSRF-Token"
)

// maxForm bounds a form, in bytes: the largest are a lesson's and a private key's.
const maxForm = 64 << 10

// guard refuses cross-site requests: by the browser's headers about their origin, and by a token that is only in these
// pages.
type guard struct{ same *http.CrossOriginProtection }

// allows reports whether a request may be served; otherwise it has answered it.
func (g guard) allows(w http.ResponseWriter, r *http.Request, token string) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	if !g.reads(w, r) {
		return false
	}
	got := r.Header.Get(Header)
	if got == "" {
		got = r.PostForm.Get(Field)
	}
	if !same(token, got) {
		show(w, http.StatusForbidden, page{Title: "Nothing was done", Text: []string{
			"This form is from an earlier sign-in, or not SIA's.", "Load the page again, and send it from there."},
			Written: writtenIn(r), Link: formPath(r), LinkText: "Load the page again"})
		return false
	}
	return true
}

// reads reports whether a form is same-origin and can be parsed; otherwise it has answered it.
func (g guard) reads(w http.ResponseWriter, r *http.Request) bool {
	if err := g.same.Check(r); err != nil {
		show(w, http.StatusForbidden, page{Title: "Nothing was done", Text: []string{"This form came from another site."}})
		return false
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		show(w, http.StatusRequestEntityTooLarge, page{Title: "Nothing was done", Text: []string{
			"This form is too long, or it can't be read.", "Go back, make it shorter, and send it again."}})
		return false
	}
	return true
}

// field is a form field with a person's text.
type field struct{ Label, Text string }

// writtenIn returns a person's texts from a parsed form that is refused, so that they can be copied. The fields are
// those of the pages (app/web) for texts; they hold no secrets.
func writtenIn(r *http.Request) (all []field) {
	for _, of := range [][2]string{{"words", "Your answer"}, {"text", "Lesson"}, {"when", "When it applies"},
		{"corrects", "What it corrects"}, {"done", "What was done"}, {"came", "Result"}} {
		if text := r.PostForm.Get(of[0]); text != "" {
			all = append(all, field{of[1], text})
		}
	}
	return all
}

// formPath is the page of a form: the one that it was sent from, or else the one at its own address.
func formPath(r *http.Request) string {
	from, err := url.Parse(r.Referer())
	if err != nil || from.Host == "" {
		return localPath(r.URL.Path)
	}
	return localPath(from.RequestURI())
}
