// Package setup registers a server of SIA at GitHub without anybody copying a secret.
//
// [Registration] is /setup while there is no app: a person chooses its owner, and GitHub registers it from a manifest,
// which is app.yml with this server's addresses. GitHub then sends the browser back with a code, which is exchanged for
// the app's keys once. They are stored in the server's folder ([File]) and not shown. Where manifests don't work, as
// for apps owned by an enterprise, a page lists each field of GitHub's form and takes id and key.
//
// [Progress] is /setup from then on: where to install the app, where it is installed, whether webhooks arrive, and what
// to do if they don't.
//
// app/web/signin decides who may open these pages; their forms carry the viewer's token. The package may import
// app/web/viewer, app/look, app/github, app/store and sia. Start reading at [Registration].
//
// https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
package setup

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"

	"github.com/sia-bot/sia/app/look"
)

// Path is the path of set-up.
const Path = "/setup"

//go:embed templates/*.html again.js
var assets embed.FS

// site renders the pages.
type site struct{ pages map[string]*template.Template }

// newSite parses the templates of some pages.
func newSite(names ...string) site {
	s := site{pages: map[string]*template.Template{}}
	base := template.Must(template.ParseFS(assets, "templates/base.html"))
	for _, name := range names {
		s.pages[name] = template.Must(template.Must(base.Clone()).ParseFS(assets, "templates/"+name+".html"))
	}
	return s
}

// otherPath is Path after a registration that is not used, because the server already has an app.
const otherPath = Path + "?other"

// otherApp explains that on the page at otherPath; "" at any other address. name is the server's app, "" if unknown.
func otherApp(r *http.Request, name string) string {
	if !r.URL.Query().Has("other") {
		return ""
	}
	if name != "" {
		name = ", " + name
	}
	return "SIA has its app already" + name + ". If GitHub has just registered another app, nobody has its keys: " +
		"delete it there, " + appsAt + "."
}

// appsAt is where GitHub lists the apps that somebody owns.
const appsAt = "under Settings → Developer settings → GitHub Apps of the account or organisation that owns it"

// frame is the common content of every page.
type frame struct {
	Title string
	Renew int    // seconds after which it reloads itself; 0: never
	Token string // the viewer's, for forms
	Error string // what was wrong with the form
	Body  any
}

// show renders a page. posts are further targets of its forms, in the syntax of a Content-Security-Policy.
func (s site) show(w http.ResponseWriter, status int, name, posts string, f frame) {
	var b bytes.Buffer
	if err := s.pages[name].Execute(&b, f); err != nil {
		http.Error(w, fmt.Sprintf("The page could not be made: %v.", err), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	scripts := ""
	if f.Renew > 0 {
		scripts = "script-src 'self'; connect-src 'self'; "
	}
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; "+scripts+"base-uri 'none'; "+
		"form-action 'self' "+posts+"; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "strict-origin") // GitHub's form needs the site; nobody the address
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// shared adds the pages' style sheet and script to a mux. Browsers cache them, because the last page is shown when
// nothing serves them any more.
func shared(mux *http.ServeMux) {
	kept := func(serve http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=600")
			serve(w, r)
		}
	}
	mux.HandleFunc("GET "+Path+"/style.css", kept(look.Style))
	mux.HandleFunc("GET "+Path+"/again.js", kept(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, assets, "again.js")
	}))
}
