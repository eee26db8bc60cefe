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

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/web/setup"
	"github.com/sia-bot/sia/app/web/signin"
)

// Named reports whether a configuration names an app, completely or partly. If not, it can be set up.
func (g GitHubConfig) Named() bool {
	return g.AppID != 0 || len(g.PrivateKey) > 0 || g.WebhookSecret != ""
}

// WithApp completes the configuration with a registered app. It ignores an app with another id than the
// configuration's, and returns an error for one on another GitHub.
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

// SetUpOptions are inputs of set-up in addition to the configuration. All but the optional fields are required.
type SetUpOptions struct {
	Front      *Front             // serves /setup
	Invitation *signin.Invitation // optional: admits one browser at the public address
	NewLink    func()             // optional: called when the invitation's link was renewed
	Name, Org  string             // optional: initial values of the form
	Replace    bool               // a stored app may be replaced
	Serves     bool               // the process continues as a server; otherwise it ends
	Logger     *slog.Logger
	Now        func() time.Time
}

// storedInterval is the interval of looks at the folder of a configuration without an app.
const storedInterval = 2 * time.Second

// SetUp serves only /setup, until an app is registered and stored in the configuration's folder, here or by another
// process. It then returns the app. The front continues to serve the next steps until its handlers are replaced.
func SetUp(ctx context.Context, c Config, o SetUpOptions) (setup.Registered, error) {
	full, missing := c.WithDefaults(), c.missing
	if !o.Serves {
		missing = func(setup.Registered) []string { return nil }
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return setup.Registered{}, fmt.Errorf("the data folder can't be made: %w; set --dir or SIA_DIR to a folder that SIA "+
			"may write to", err)
	}
	before, _, _ := setup.Load(c.Dir) // to be replaced, or unreadable
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
	end := func(r setup.Registered) (setup.Registered, error) {
		o.Logger.InfoContext(ctx, "the app is registered", "app", r)
		if !o.Serves {
			waitUntilShown(ctx, reg)
		}
		return r, nil
	}
	looks := time.NewTicker(storedInterval)
	defer looks.Stop()
	for {
		select {
		case r := <-registered:
			return end(r)
		case <-looks.C:
			if r, ok, err := setup.Load(c.Dir); err == nil && ok && r.ID != before.ID {
				return end(r)
			}
			if o.Invitation != nil && o.Invitation.Renew() {
				o.NewLink()
			}
		case err := <-o.Front.failed:
			return setup.Registered{}, err
		case <-ctx.Done():
			return setup.Registered{}, ctx.Err()
		}
	}
}

// shownTimeout is the maximum wait for the browser to load the last page of set-up.
const shownTimeout = 5 * time.Second

// waitUntilShown returns after the browser has loaded the page about the stored app, or after shownTimeout.
func waitUntilShown(ctx context.Context, reg *setup.Registration) {
	ctx, cancel := context.WithTimeout(ctx, shownTimeout)
	defer cancel()
	select {
	case <-reg.Shown():
	case <-ctx.Done():
	}
}

// missing returns what a server lacks in addition to its app, one sentence each; an app without id is a placeholder.
func (c Config) missing(r setup.Registered) (all []string) {
	if r.ID == 0 {
		r = setup.Registered{GitHub: c.WithDefaults().GitHub.URL,
			Registration: github.Registration{ID: 1, PrivateKey: "to come", WebhookSecret: "to come"}}
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

// unregistered returns the public handler while there is no app: set-up for the invited browser, and no webhooks yet.
func unregistered(i *signin.Invitation, reg *setup.Registration, public string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/webhook", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "SIA is being set up and does not know its webhook secret yet; please send it again.",
			http.StatusServiceUnavailable)
	})
	if i != nil {
		invitedPages := signin.Invited(i, reg.Handler(strings.TrimRight(public, "/")))
		mux.Handle("/", invitedPages)
	}
	return mux
}

// privateSetUp returns the private handler while there is no app.
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
