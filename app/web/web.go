package web

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/expiring"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/memory"
	"github.com/sia-bot/sia/sia/text"
)

//go:embed templates/*.html live.js
var assets embed.FS

// Deps are the dependencies of the pages. All are required.
type Deps struct {
	From     Reader
	Do       Doer
	Lessons  Sharer
	Settings Settings
	Advise   Adviser
	Diffs    Differ
	Models   Models
	Links    render.Links // GitHub's addresses
	Logger   *slog.Logger
	Now      func() time.Time
	Ending   <-chan struct{} // closed when the server ends, to close open pages' connections
}

// readWithin bounds the time of a page, actWithin that of a form: it may ask GitHub. Package signin bounds the size of
// forms.
const (
	readWithin = 10 * time.Second
	actWithin  = 30 * time.Second
)

// site renders the pages. It is safe for concurrent use.
type site struct {
	Deps
	pages   map[string]*template.Template
	live    *live
	targets *expiring.Map[string, memory.Figures] // by the repositories that a viewer sees
}

// New returns the handler of the pages. Each request has to carry a [viewer.Viewer]; without one, nothing is visible.
// It is an error when anything of d is missing.
func New(d Deps) (http.Handler, error) {
	for name, missing := range map[string]bool{"From": d.From == nil, "Do": d.Do == nil, "Lessons": d.Lessons == nil,
		"Settings": d.Settings == nil, "Advise": d.Advise == nil, "Diffs": d.Diffs == nil, "Models": d.Models == nil,
		"Logger": d.Logger == nil, "Now": d.Now == nil, "Ending": d.Ending == nil} {
		if missing {
			return nil, fmt.Errorf("make the pages: %s is missing", name)
		}
	}
	s := &site{Deps: d, pages: map[string]*template.Template{},
		targets: expiring.New[string, memory.Figures](d.Now, targetsFresh, keptFigures)}
	s.live = newLive(s.pulseOf, d.Ending, d.Logger)
	base, err := template.New("base.html").Funcs(s.funcs()).ParseFS(assets, "templates/base.html", "templates/parts.html")
	if err != nil {
		return nil, fmt.Errorf("make the pages: %w", err)
	}
	files, err := fs.Glob(assets, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("make the pages: %w", err)
	}
	for _, file := range files {
		page, err := base.Clone()
		if err == nil {
			page, err = page.ParseFS(assets, file)
		}
		if err != nil {
			return nil, fmt.Errorf("make the page %s: %w", file, err)
		}
		s.pages[strings.TrimSuffix(path.Base(file), ".html")] = page
	}
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		switch {
		case r.serve != nil:
			mux.HandleFunc(r.pattern, r.serve)
		case r.act != nil:
			mux.HandleFunc(r.pattern, s.action(r.act))
		default:
			mux.HandleFunc(r.pattern, s.page(r.page, r.build))
		}
	}
	return headers(mux), nil
}

func (s *site) funcs() template.FuncMap {
	funcs := template.FuncMap{
		"time":       func(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04:05 UTC") },
		"day":        func(t time.Time) string { return t.UTC().Format("2 Jan") },
		"rfc":        func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"approach":   render.Approach,
		"said":       renderWords,
		"whole":      func(s string) string { return cleanText(s, shownWords) },
		"technique":  render.TechniqueName,
		"choice":     render.ChoiceWords,
		"percent":    text.Percent,
		"plain":      func(a any) string { return strings.ReplaceAll(fmt.Sprint(a), "-", " ") },
		"capital":    text.Capital,
		"wordsOnly":  wordsOnly,
		"mark":       mark,
		"state":      stateBadge,
		"stateWord":  stateWord,
		"decides":    decides,
		"ended":      attemptBadge,
		"check":      checkBadge,
		"why":        render.CheckNote,
		"count":      text.Count,
		"started":    render.StartedChecks,
		"sum":        func(a, b int) int { return a + b },
		"attemptOf":  attemptOf,
		"coder":      coderOf,
		"took":       func(a sia.Attempt) string { return attemptTook(a, s.Now()) },
		"meter":      meter,
		"exact":      exact,
		"credits":    credits,
		"creditSpan": creditSpan,
		"lasted":     lasted,
		"ago":        func(t time.Time) string { return ago(t, s.Now()) },
		"bar":        func(of, in int) template.HTML { return shareOf(of, in).Bar() },
		"share":      shareOf,
		"points":     func(d float64) string { return fmt.Sprintf("%+.0f", 100*d) },
		"interval":   func(low, high float64) string { return fmt.Sprintf("%.0f–%.0f %%", 100*low, 100*high) },
	}
	maps.Copy(funcs, partFuncs)
	return funcs
}

// frame is the common content of every page.
type frame struct {
	Title string
	Live  bool       // the subject is in progress
	About sia.TaskID // the task to follow; empty: all tasks, unless Of is set
	Of    string     // the page's path, if it shows no tasks, see [site.pulseOf]
	Body  any        // also the page's JSON

	Viewer viewer.Viewer
	Said   string // the answer to the viewer's last action
	Here   string // the page's address
	since  string // the state shown on the page; see [store.Store.Pulse]
}

// Rules reports whether the viewer administers all of some installation.
func (f frame) Rules() bool {
	return f.Viewer.Operator ||
		slices.ContainsFunc(f.Viewer.Installations, func(in viewer.Installation) bool { return in.Whole })
}

// Pulse is the address of the page's event stream.
func (f frame) Pulse() string {
	q := url.Values{"since": {f.since}}
	if f.About != "" {
		q.Set("task", string(f.About))
	}
	if f.Of != "" {
		q.Set("page", f.Of)
	}
	return "/live?" + q.Encode()
}

// pulse is the state that a page is about to show.
func (s *site) pulse(r *http.Request) (string, error) {
	id := sia.TaskID("")
	if strings.HasPrefix(r.URL.Path, "/tasks/") {
		id = sia.TaskID(r.PathValue("id"))
	}
	return s.pulseOf(r, id, r.URL.Path)
}

// pulseOf is a text that changes whenever a page's content does: that of its task, of the setup of repositories, or
// else of any visible task or change of a policy.
func (s *site) pulseOf(r *http.Request, id sia.TaskID, page string) (string, error) {
	if of, ok := strings.CutPrefix(page, "/installations/"); ok {
		in, err := s.theInstallation(r, of)
		if err != nil {
			return "", err
		}
		return s.From.SetupPulse(r.Context(), in.ID)
	}
	return s.From.Pulse(r.Context(), visibilityOf(viewer.From(r.Context())), id)
}

// page serves the result of build, as HTML or as JSON.
func (s *site) page(name string, build func(*http.Request) (frame, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readWithin)
		defer cancel()
		since, err := s.pulse(r.WithContext(ctx)) // before the page is read: later changes cause an event
		var f frame
		if err == nil {
			f, err = build(r.WithContext(ctx))
		}
		if err != nil {
			s.refuse(w, r, name, err)
			return
		}
		f.since = since
		s.show(w, r, http.StatusOK, name, f)
	}
}

// show renders a page as HTML or as JSON.
func (s *site) show(w http.ResponseWriter, r *http.Request, status int, name string, f frame) {
	var b bytes.Buffer
	var err error
	if asksJSON(r) {
		w.Header().Set("Content-Type", "application/json")
		err = json.NewEncoder(&b).Encode(f.Body)
	} else {
		f.Viewer, f.Here = viewer.From(r.Context()), here(r)
		f.Said = openNote(f.Viewer, r.URL.Query().Get("note"))
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		err = s.pages[name].Execute(&b, f)
	}
	if err != nil {
		s.Logger.ErrorContext(r.Context(), "page not written", "page", name, "error", err)
		http.Error(w, "The page could not be made; the log says why.", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// here is the address of a page, without the answer.
func here(r *http.Request) string {
	q := r.URL.Query()
	q.Del("note")
	return (&url.URL{Path: r.URL.Path, RawQuery: q.Encode()}).String()
}

// asksJSON reports whether a request asks for JSON.
func asksJSON(r *http.Request) bool {
	return r.URL.Query().Get("format") == "json" || strings.HasPrefix(r.Header.Get("Accept"), "application/json")
}

// badRequest is an error of the client: an invalid request.
type badRequest string

func (e badRequest) Error() string { return string(e) }

// problem is an error page.
type problem struct{ What, Do string }

// notFound answers unknown addresses.
func (s *site) notFound(r *http.Request) (frame, error) {
	return frame{}, fmt.Errorf("%s: %w", r.URL.Path, store.ErrNotFound)
}

// refuse answers with an error page that reveals no more than a stranger may know.
func (s *site) refuse(w http.ResponseWriter, r *http.Request, name string, err error) {
	status, text := http.StatusServiceUnavailable,
		"The page could not be made: the database does not answer. Try again; `sia doctor` says more."
	var wrong badRequest
	switch {
	case errors.Is(err, store.ErrNotFound):
		status, text = http.StatusNotFound, "There is no such page, or it is not yours to see."
	case errors.As(err, &wrong):
		status, text = http.StatusBadRequest, string(wrong)
	default:
		s.Logger.ErrorContext(r.Context(), "page not made", "page", name, "error", err)
	}
	if asksJSON(r) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": text})
		return
	}
	what := "Not available"
	switch status {
	case http.StatusNotFound:
		what = "Not found"
	case http.StatusBadRequest:
		what = "That can't be done"
	}
	s.show(w, r, status, "problem", frame{Title: what, Body: problem{what, text}})
}

// action carries out a form's action, and redirects the browser to the page with the answer.
func (s *site) action(act func(*http.Request) (note, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), actWithin)
		defer cancel()
		if err := r.ParseForm(); err != nil {
			s.refuse(w, r, "form", badRequest("The form could not be read; go back and send it again."))
			return
		}
		n, err := act(r.WithContext(ctx))
		if n.again != nil && err == nil {
			s.show(w, r, n.again.status, n.again.page, n.again.frame)
			return
		}
		var answer string
		if err == nil {
			answer, err = sealNote(viewer.From(ctx), n.text)
		}
		if err != nil {
			s.refuse(w, r, "form", err)
			return
		}
		http.Redirect(w, r, n.back+"?note="+answer, http.StatusSeeOther)
	}
}

func asset(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, assets, name) }
}

// headers forbid pages to run or load anything from other hosts, and others to cache or frame them.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "+
			"base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
