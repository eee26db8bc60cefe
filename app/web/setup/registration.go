package setup

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia/text"
)

// RegistrationConfig configures set-up. All fields but the optional ones are required.
type RegistrationConfig struct {
	Dir      string // the server's data folder
	GitHub   string // address, the form's default
	API      string // optional: GitHub's REST API, if not the usual one
	Callback string // path of the sign-in callback
	Replace  bool   // a stored app may be replaced
	Serves   bool   // the server continues by itself when an app is stored and nothing is missing

	PublicURL string // optional: the form's default
	Name      string // optional: likewise
	Org       string // optional: likewise

	Missing func(Registered) []string // lists what a server with that app still lacks, one sentence each
	Stored  func(Registered)          // called once, with the stored app
	Logger  *slog.Logger
	Now     func() time.Time
}

// Registration serves /setup until an app is stored, and then shows the next steps. It is safe for concurrent use.
type Registration struct {
	conf    RegistrationConfig
	app     appTemplate
	secret  string // webhook secret of an app that is registered by hand
	site    site
	pending *pending
	now     func() time.Time

	shown  chan struct{} // closed when a browser has shown that an app is stored
	once   sync.Once
	turn   sync.Mutex // serialises the completion of registrations
	mu     sync.Mutex
	stored *Registered
}

// NewRegistration prepares set-up.
func NewRegistration(c RegistrationConfig) (*Registration, error) {
	app, err := readTemplate()
	if err != nil {
		return nil, err
	}
	if c.Name == "" {
		c.Name = app.Name
	}
	return &Registration{conf: c, app: app, secret: rand.Text(),
		site:    newSite("choose", "confirm", "manual", "stored", "failed"),
		pending: newPending(c.Now), now: c.Now, shown: make(chan struct{})}, nil
}

// Shown is closed when a browser has shown that the app is stored.
func (g *Registration) Shown() <-chan struct{} { return g.shown }

// Handler serves set-up to viewers whom the caller has let in. base is the server's address for browsers; "" for the
// loopback name of the request.
func (g *Registration) Handler(base string) http.Handler {
	mux := http.NewServeMux()
	shared(mux)
	mux.HandleFunc("GET "+Path, g.begin)
	mux.HandleFunc("POST "+Path, func(w http.ResponseWriter, r *http.Request) { g.confirm(w, r, base) })
	mux.HandleFunc("GET "+Path+"/done", g.done)
	mux.HandleFunc("GET "+Path+"/manual", g.manual)
	mux.HandleFunc("POST "+Path+"/manual", g.enter)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) { redirect(w, r, Path) })
	return mux
}

// redirect redirects a browser from an address that must not stay in its history.
func redirect(w http.ResponseWriter, r *http.Request, to string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "same-origin")
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// registered returns the stored app; nil while there is none.
func (g *Registration) registered() *Registered {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stored
}

// choosePage is the content of the first page.
type choosePage struct {
	choice
	Missing []string // what will be missing in addition to the app
}

// begin is GET /setup.
func (g *Registration) begin(w http.ResponseWriter, r *http.Request) {
	if app := g.registered(); app != nil {
		missing, renew := g.conf.Missing(*app), 0
		if g.conf.Serves && len(missing) == 0 {
			renew = 2 // until the server continues
		}
		g.site.show(w, http.StatusOK, "stored", "", frame{Title: "The app is registered", Renew: renew,
			Error: otherApp(r, app.Name), Body: storedPage{App: *app, File: g.file(), Missing: missing, Serves: g.conf.Serves}})
		g.once.Do(func() { close(g.shown) })
		return
	}
	g.choose(w, r, http.StatusOK, choice{OfOrg: g.conf.Org != "", Org: g.conf.Org, Name: g.conf.Name,
		GitHub: g.conf.GitHub, PublicURL: g.conf.PublicURL}, nil)
}

type storedPage struct {
	App     Registered
	File    string
	Missing []string
	Serves  bool
}

func (g *Registration) file() string { return filepath.Join(g.conf.Dir, File) }

func (g *Registration) choose(w http.ResponseWriter, r *http.Request, status int, c choice, err error) {
	g.site.show(w, status, "choose", "", frame{Title: "Set SIA up", Token: viewer.From(r.Context()).Token,
		Error: words(err), Body: choosePage{c, g.conf.Missing(Registered{})}})
}

// words is an error for people; "" for none.
func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// confirmPage shows what is requested from GitHub, with the button.
type confirmPage struct {
	choice
	Address     string // GitHub's address for the manifest
	Manifest    string
	Permissions []Grant
	Events      []Grant
	Warning     string
}

// confirm is POST /setup: it makes the manifest from the choice; the next button sends it to GitHub.
func (g *Registration) confirm(w http.ResponseWriter, r *http.Request, base string) {
	if g.registered() != nil {
		redirect(w, r, Path)
		return
	}
	c := choice{OfOrg: r.PostFormValue("owner") == "org", Org: r.PostFormValue("org"), Name: r.PostFormValue("name"),
		GitHub: r.PostFormValue("github"), PublicURL: r.PostFormValue("public_url")}
	checked, err := c.checked()
	if err == nil {
		err = g.checkStorage()
	}
	if err != nil {
		g.choose(w, r, http.StatusUnprocessableEntity, c, err)
		return
	}
	if base == "" {
		base = "http://" + r.Host
	}
	m, err := g.app.manifest(checked, base+Path+"/done", g.conf.Callback)
	if err != nil {
		g.choose(w, r, http.StatusInternalServerError, c, err)
		return
	}
	token := viewer.From(r.Context()).Token
	state := g.pending.begin(checked, token)
	g.site.show(w, http.StatusOK, "confirm", "https: http:", frame{Title: "Register the app on GitHub", Body: confirmPage{
		choice: checked, Address: checked.address(state), Manifest: m, Permissions: g.app.Permissions, Events: g.app.Events,
		Warning: checked.warning()}})
}

// checkStorage returns why an app could not be stored, before GitHub registers one.
func (g *Registration) checkStorage() error {
	if err := writable(g.conf.Dir); err != nil {
		return fmt.Errorf("the app's keys could not be stored: %w; give SIA a folder that it may write to with --dir", err)
	}
	if _, err := os.Lstat(g.file()); err == nil && !g.conf.Replace {
		return fmt.Errorf("%w, in %s: set up with --replace to register another and keep this one beside it",
			ErrExists, g.file())
	}
	return nil
}

// done is GET /setup/done, where GitHub sends the browser with a code. It can be reloaded: a code that was not
// converted is tried again, and keys that could not be stored are stored.
func (g *Registration) done(w http.ResponseWriter, r *http.Request) {
	g.turn.Lock()
	defer g.turn.Unlock()
	b := g.pending.find(r.URL.Query().Get("state"), viewer.From(r.Context()).Token)
	switch {
	case g.registered() != nil && b != nil && b.made == nil:
		redirect(w, r, otherPath)
		return
	case g.registered() != nil:
		redirect(w, r, Path)
		return
	case b == nil:
		g.fail(w, http.StatusBadRequest, errors.New("this registration did not begin in this browser, took longer than an "+
			"hour, or SIA was started again meanwhile. If GitHub lists the app, "+appsAt+", delete it there, and begin again"))
		return
	}
	if b.made == nil {
		made, err := g.convert(r.Context(), b.choice, r.URL.Query().Get("code"))
		if err != nil {
			g.fail(w, http.StatusBadGateway, err)
			return
		}
		b.made = &made
	}
	if err := g.store(*b.made); err != nil {
		g.conf.Logger.ErrorContext(r.Context(), "the registered app could not be stored", "error", err)
		g.fail(w, http.StatusInternalServerError,
			fmt.Errorf("the app is registered, and could not be stored: %w. Mend that, and load this page again; its keys are "+
				"still there", err))
		return
	}
	redirect(w, r, Path)
}

// store stores an app and calls Stored. The caller holds turn.
func (g *Registration) store(app Registered) error {
	if err := saveApp(g.conf.Dir, app, g.conf.Replace); err != nil {
		return err
	}
	g.mu.Lock()
	g.stored = &app
	g.mu.Unlock()
	g.conf.Stored(app)
	return nil
}

func (g *Registration) fail(w http.ResponseWriter, status int, err error) {
	g.site.show(w, status, "failed", "",
		frame{Title: "The app is not set up", Error: text.Capital(err.Error())})
}
