package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/web/setup"
	"github.com/sia-bot/sia/app/web/signin"
)

// Named reports whether a configuration names an app, in whole or in part. One that names none can be set up.
func (g GitHubConfig) Named() bool {
	return g.AppID != 0 || len(g.PrivateKey) > 0 || g.WebhookSecret != ""
}

// WithApp fills in a registered app where the configuration leaves something out. An app of another id than the
// configuration's is left alone; one of another GitHub is an error.
func (c Config) WithApp(r setup.Registered) (Config, error) {
	if c.GitHub.AppID != 0 && c.GitHub.AppID != r.ID {
		return c, nil
	}
	if c.GitHub.URL != "" && !strings.EqualFold(strings.TrimRight(c.GitHub.URL, "/"), r.GitHub) {
		if c.GitHub.AppID != 0 {
			return c, nil
		}
		return c, fmt.Errorf("the stored app %s is registered elsewhere than at --github-url %s; leave that out, or give "+
			"the id and key of the app there", r, c.GitHub.URL)
	}
	c.GitHub.URL, c.GitHub.AppID = r.GitHub, r.ID
	if c.GitHub.API == "" {
		c.GitHub.API = r.API
	}
	if len(c.GitHub.PrivateKey) == 0 {
		c.GitHub.PrivateKey = []byte(r.PrivateKey)
	}
	if c.GitHub.WebhookSecret == "" {
		c.GitHub.WebhookSecret = r.WebhookSecret
	}
	if c.GitHub.ClientID == "" && c.GitHub.ClientSecret == "" {
		c.GitHub.ClientID, c.GitHub.ClientSecret = r.ClientID, r.ClientSecret
	}
	if c.PublicURL == "" {
		c.PublicURL = r.PublicURL
	}
	return c, nil
}

// SetUpOptions are what set-up needs beside the configuration. All but the optional fields is required.
type SetUpOptions struct {
	Front      *Front             // where /setup is served
	Invitation *signin.Invitation // optional: lets one browser in at the public address
	Name, Org  string             // optional: what the form begins with
	Replace    bool               // an app that is stored already may be replaced
	Serves     bool               // the process goes on to serve with the app; else it ends
	Logger     *slog.Logger
	Now        func() time.Time
}

// SetUp serves /setup, and nothing else, until an app is registered and stored in the configuration's folder. It
// returns the app when that is done, and goes on serving what comes next until the front answers with something else.
func SetUp(ctx context.Context, c Config, o SetUpOptions) (setup.Registered, error) {
	full, missing := c.WithDefaults(), c.missing
	if !o.Serves {
		missing = func(setup.Registered) []string { return nil }
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return setup.Registered{}, fmt.Errorf("the data folder can't be made: %w; set --dir or SIA_DIR to a folder that SIA "+
			"may write to", err)
	}
	registered := make(chan setup.Registered, 1)
	reg, err := setup.NewRegistration(setup.RegistrationConfig{
		Dir: c.Dir, GitHub: full.GitHub.URL, API: c.GitHub.API, Callback: signin.CallbackPath, Replace: o.Replace,
		PublicURL: strings.TrimRight(c.PublicURL, "/"), Name: o.Name, Org: o.Org, Missing: missing, Serves: o.Serves,
		Stored: func(r setup.Registered) { registered <- r }, Logger: o.Logger, Now: o.Now,
	})
	if err != nil {
		return setup.Registered{}, err
	}
	o.Front.Answer(unregistered(o.Invitation, reg, c.PublicURL), privateSetUp(signin.Local(reg.Handler(""))))
	o.Front.Begin()
	select {
	case r := <-registered:
		o.Logger.InfoContext(ctx, "the app is registered", "app", r)
		if !o.Serves {
			seen(ctx, reg)
		}
		return r, nil
	case err := <-o.Front.failed:
		return setup.Registered{}, err
	case <-ctx.Done():
		return setup.Registered{}, ctx.Err()
	}
}

// seenWithin bounds how long set-up waits until the browser has seen its last page.
const seenWithin = 5 * time.Second

// seen returns when the browser has seen that the app is stored, or does not ask.
func seen(ctx context.Context, reg *setup.Registration) {
	ctx, cancel := context.WithTimeout(ctx, seenWithin)
	defer cancel()
	select {
	case <-reg.Shown():
	case <-ctx.Done():
	}
}

// missing says what a server lacks besides its app, a sentence each; an app without id stands for one to come.
func (c Config) missing(r setup.Registered) (all []string) {
	if r.ID == 0 {
		r = setup.Registered{ID: 1, GitHub: c.WithDefaults().GitHub.URL, PrivateKey: "to come", WebhookSecret: "to come"}
	}
	with, err := c.WithApp(r)
	if err == nil {
		with = with.WithDefaults()
		err = errors.Join(with.Validate(), with.CheckPrices())
	}
	if err == nil {
		return nil
	}
	for line := range strings.Lines(err.Error()) {
		all = append(all, strings.TrimSpace(line))
	}
	return all
}

// unregistered is the public surface while there is no app: set-up for who is invited, and no webhooks yet.
func unregistered(i *signin.Invitation, reg *setup.Registration, public string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/webhook", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "SIA is being set up and does not know its webhook secret yet; please send it again.",
			http.StatusServiceUnavailable)
	})
	if i != nil {
		guests := signin.Invited(i, reg.Handler(strings.TrimRight(public, "/")))
		mux.Handle("/", guests)
	}
	return mux
}

// privateSetUp is the private surface while there is no app.
func privateSetUp(pages http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "GitHub: SIA is not set up: open /setup on its machine, or run `sia setup`",
			http.StatusServiceUnavailable)
	})
	mux.Handle("/", pages)
	return mux
}
