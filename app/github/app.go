package github

import (
	"context"
	"crypto/rsa"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

// Config says which app this is and how it talks to GitHub. Only AppID and
// PrivateKey are required.
type Config struct {
	AppID      int64
	PrivateKey []byte // PEM, PKCS #1 or PKCS #8, as GitHub hands it out

	BaseURL string // of the REST API; "" is https://api.github.com/; GitHub Enterprise Server: https://host/api/v3/
	WebURL  string // where repositories are cloned from; "" derives it from BaseURL

	Transport http.RoundTripper // to the network; nil is a pooled transport of our own
	Logger    *slog.Logger      // nil discards
	Secrets   *secret.Masker    // masks what is written to GitHub, and is told the tokens in use; nil masks by shape alone

	Now   func() time.Time                           // nil is time.Now
	Sleep func(context.Context, time.Duration) error // nil waits by the wall clock

	WriteSpacing time.Duration // average time between two writes to one repository; 0 is one second
	WriteBurst   int           // writes that may go out at once after a quiet time; 0 is 5
	Timeout      time.Duration // of one request with its waits and retries; 0 is 20 s
	LogTimeout   time.Duration // of downloading one job's log; 0 is two minutes
	MaxWait      time.Duration // a rate limit's wait up to this is slept; a longer one is an error; 0 is 10 s
	CacheBytes   int           // answers kept for conditional requests, per installation; 0 is 4 MiB
}

// App is the GitHub App. Create one with [New].
type App struct {
	cfg      Config
	key      *rsa.PrivateKey
	api, web *url.URL
	graphql  string
	log      *slog.Logger
	calls    *counter

	gh   *gh.Client // signed in as the app
	anon *gh.Client // not signed in

	self selfCache

	mu            sync.Mutex
	installations map[int64]*installation
}

// installation is what the repositories of one installation share.
type installation struct {
	id     int64
	cache  *lru
	limits *limits

	mu    sync.Mutex
	conns map[connKey]*conn
}

// New checks the configuration and returns the app. It makes no request.
func New(cfg Config) (*App, error) {
	const op = "set up the GitHub App"
	if cfg.AppID <= 0 {
		return nil, &sia.Error{Op: op, Message: "the app id is missing; it is on the app's settings page under “App ID”", Permanent: true}
	}
	key, err := parseKey(cfg.PrivateKey)
	if err != nil {
		return nil, &sia.Error{Op: op, Message: "the private key can't be read; generate one on the app's settings page and give the whole .pem file", Permanent: true, Err: err}
	}
	api, web, err := endpoints(cfg.BaseURL, cfg.WebURL)
	if err != nil {
		return nil, &sia.Error{Op: op, Message: "GitHub's address is not usable; leave it empty for github.com, or give https://HOST/api/v3/", Permanent: true, Err: err}
	}
	cfg.fillIn()
	a := &App{
		cfg: cfg, key: key, api: api, web: web, graphql: graphqlURL(api), log: cfg.Logger,
		calls: newCounter(), installations: map[int64]*installation{},
	}
	a.gh = a.client(&front{secrets: cfg.Secrets, next: &appAuth{next: a.signs(a.bottom(0, newLimits(), nil)), host: api.Host}, timeout: cfg.Timeout})
	a.anon = a.client(&front{secrets: cfg.Secrets, next: a.bottom(0, newLimits(), nil), timeout: cfg.Timeout})
	return a, nil
}

func (c *Config) fillIn() {
	if c.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = 32
		c.Transport = t
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	setDefault(&c.WriteSpacing, time.Second)
	setDefault(&c.WriteBurst, 5)
	setDefault(&c.Timeout, 20*time.Second)
	setDefault(&c.LogTimeout, 2*time.Minute)
	setDefault(&c.MaxWait, 10*time.Second)
	setDefault(&c.CacheBytes, 4<<20)
}

func setDefault[T ~int | ~int64](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// sleep waits for d or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// bottom is the lower part of the stack: limits, retries, counting.
func (a *App) bottom(installation int64, l *limits, p *pacer) http.RoundTripper {
	return &limiter{
		app: a, installation: installation, limits: l, pacer: p,
		next: &retrier{
			next:  &counting{next: a.cfg.Transport, counter: a.calls, installation: installation, prefix: a.api.Path, host: a.api.Host},
			sleep: a.cfg.Sleep, maxWait: a.cfg.MaxWait,
		},
	}
}

// client is a go-github client over a stack.
func (a *App) client(rt http.RoundTripper) *gh.Client {
	c := gh.NewClient(&http.Client{Transport: rt})
	c.BaseURL = a.api
	c.UserAgent = "sia"
	return c
}

// installation returns what the repositories of an installation share.
func (a *App) installation(id int64) *installation {
	a.mu.Lock()
	defer a.mu.Unlock()
	in := a.installations[id]
	if in == nil {
		in = &installation{id: id, cache: newLRU(a.cfg.CacheBytes), limits: newLimits(), conns: map[connKey]*conn{}}
		a.installations[id] = in
	}
	return in
}

// Forget drops everything kept about an installation: tokens, cached answers,
// limits. Call it when the installation was deleted or suspended, or its
// permissions or repositories changed.
func (a *App) Forget(installation int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.installations, installation)
}
