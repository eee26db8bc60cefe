package web

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

//go:embed templates/*.html style.css
var assets embed.FS

// Reader is where pages come from. [store.Store] is one.
type Reader interface {
	Task(ctx context.Context, id sia.TaskID) (sia.Task, error)
	Tasks(ctx context.Context, f store.Filter) ([]sia.Task, error)
	Turns(ctx context.Context, id sia.TaskID, attempt int) ([]json.RawMessage, error)
	Events(ctx context.Context, id sia.TaskID) ([]store.EventRecord, error)
	Decisions(ctx context.Context, id sia.TaskID) ([]sia.Decision, error)
	Experiments(ctx context.Context, installation int64, open bool) ([]store.Experiment, error)
	ExperimentTasks(ctx context.Context, experiment string) ([]store.ExperimentTask, error)
	ExperimentEvents(ctx context.Context, experiment string) ([]store.ExperimentEvent, error)
}

// readWithin bounds what a page reads.
const readWithin = 10 * time.Second

// site makes the pages.
type site struct {
	from  Reader
	links render.Links
	log   *slog.Logger
	pages map[string]*template.Template
}

// New is the handler of the pages. Links say where GitHub is.
func New(from Reader, links render.Links, log *slog.Logger) http.Handler {
	s := &site{from: from, links: links, log: log, pages: map[string]*template.Template{}}
	funcs := template.FuncMap{
		"time":      func(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04:05 UTC") },
		"rfc":       func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"technique": render.TechniqueName,
		"choice":    render.ChoiceWords,
		"percent":   func(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) },
	}
	maps.Copy(funcs, partFuncs)
	base := template.Must(template.New("base.html").Funcs(funcs).ParseFS(assets, "templates/base.html"))
	for _, name := range []string{"tasks", "task", "attempt", "policies", "change"} {
		s.pages[name] = template.Must(template.Must(base.Clone()).ParseFS(assets, "templates/"+name+".html",
			"templates/parts.html"))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /style.css",
		func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, assets, "style.css") })
	mux.HandleFunc("GET /{$}", s.page("tasks", s.tasks))
	mux.HandleFunc("GET /tasks/{id}", s.page("task", s.task))
	mux.HandleFunc("GET /tasks/{id}/attempts/{n}", s.page("attempt", s.attempt))
	mux.HandleFunc("GET /policies", s.page("policies", s.policies))
	mux.HandleFunc("GET /policies/{id}", s.page("change", s.change))
	return guard(mux)
}

// frame is what every page has.
type frame struct {
	Title string
	Live  bool // it renews itself
	Body  any
}

// page serves what build makes.
func (s *site) page(name string, build func(*http.Request) (frame, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readWithin)
		defer cancel()
		f, err := build(r.WithContext(ctx))
		switch {
		case errors.Is(err, store.ErrNotFound):
			http.Error(w, "There is no such page. The tasks are at /.", http.StatusNotFound)
			return
		case err != nil:
			s.log.ErrorContext(ctx, "page not made", "page", name, "error", err)
			http.Error(w, "The page could not be made: the database does not answer. Try again; `sia doctor` says more.",
				http.StatusServiceUnavailable)
			return
		}
		var b bytes.Buffer
		if err := s.pages[name].Execute(&b, f); err != nil {
			s.log.ErrorContext(ctx, "page not made", "page", name, "error", err)
			http.Error(w, "The page could not be made; the log says why.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(b.Bytes())
	}
}

// guard answers only this machine, and only who asked for a loopback name; and it
// lets no page run or load anything from elsewhere.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback(r.Host) || !loopback(r.RemoteAddr) {
			http.Error(w, "SIA's pages show every repository, so they are served on this machine only: open http://localhost.",
				http.StatusForbidden)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "+
			"frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// loopback reports whether a name or address, with or without a port, is this
// machine's own.
func loopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}
