package signin

import "net/http"

// Field and Header are where a request that changes something carries the viewer's token: a form in a field of that
// name, a script in a header.
const (
	Field  = "csrf"
	Header = "X-CSRF-Token"
)

// maxForm bounds a form, in bytes: the largest are a lesson's and a private key's.
const maxForm = 64 << 10

// guard keeps other sites from having a browser change something here: by what the browser says of where a request
// comes from, and by a token that only these pages were told.
type guard struct{ same *http.CrossOriginProtection }

// allows reports whether a request may be served; otherwise it has answered it.
func (g guard) allows(w http.ResponseWriter, r *http.Request, token string) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
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
	got := r.Header.Get(Header)
	if got == "" {
		got = r.PostForm.Get(Field)
	}
	if !same(token, got) {
		show(w, http.StatusForbidden, page{Title: "Nothing was done", Text: []string{
			"This form is from an earlier sign-in, or not SIA's.", "Go back, load the page again, and send it again."}})
		return false
	}
	return true
}
