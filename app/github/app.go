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
	"github.com/gregjones/httpcache"

	"github.com/sia-bot/sia/app/expiring"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

// Config configures an [App]. AppID, PrivateKey, Secrets and Writes are required.
type Config struct {
	AppID      int64
	PrivateKey []byte // PEM, PKCS #1 or PKCS #8, as downloaded from GitHub

	BaseURL string // of the REST API; "": https://api.github.com/; GitHub Enterprise Server: https://host/api/v3/

	Transport http.RoundTripper // to the network; nil: a pooled transport of its own
	Logger    *slog.Logger      // nil: discard
	Secrets   *secret.Masker    // masks what is written to GitHub; tokens in use are added to it

	Now   func() time.Time                           // nil: time.Now
	Sleep func(context.Context, time.Duration) error // nil: sleeps by the wall clock

	Writes       WriteCounter  // counts writes of all servers for the app's installations
	WriteSpacing time.Duration // average time between two writes to one repository; 0: one second
	WriteBurst   int           // writes that may be sent at once after an idle time; 0: 5
}

// Timeouts and the size of the cache.
const (
	requestTimeout = 20 * time.Second // for one request with its waits and retries
	zipTimeout     = 2 * time.Minute  // for downloading one artifact
	logStall       = 30 * time.Second // longest pause in the download of a job's log
	maxWait        = 10 * time.Second // longest wait for a rate limit that is slept through; a longer one is an error
	cacheBytes     = 4 << 20          // size of the response cache of an installation
)

// App is the GitHub App. Create one with [New].
type App struct {
	cfg      Config
	key      *rsa.PrivateKey
	api, web *url.URL
	graphql  string
	log      *slog.Logger

	gh   *gh.Client // authenticated as the app
	anon *gh.Client // unauthenticated

	self selfCache

	mu            sync.Mutex
	installations map[int64]*installation
}

// installation is the state that the repositories of one installation share.
type installation struct {
	id     int64
	cache  *responseCache
	limits *rateLimits
	lists  *gh.Client // may only list the installation's repositories

	forms *expiring.Map[string, tokenForm] // form of tokens that git accepts

	mu    sync.Mutex
	repos map[sia.Repo]*Repo
}

// New validates the configuration and returns the app. It makes no request.
func New(cfg Config) (*App, error) {
	const op = "set up the GitHub App"
	if cfg.AppID <= 0 {
		return nil, &sia.Error{Op: op, Message: "the app id is missing; it is on the app's settings page under “App ID”",
			Permanent: true}
	}
	key, err := parseKey(cfg.PrivateKey)
	if err != nil {
		return nil, &sia.Error{Op: op, Message: "the private key can't be read; generate one on the app's settings page " +
			"and give the whole .pem file", Permanent: true, Err: err}
	}
	if cfg.Secrets == nil {
		return nil, &sia.Error{Op: op, Message: "the masker of secrets is missing; without it the server's own could be " +
			"written to GitHub", Permanent: true}
	}
	if cfg.Writes == nil {
		return nil, &sia.Error{Op: op, Message: "what counts the writes is missing; without it GitHub's limits could be " +
			"exceeded", Permanent: true}
	}
	api, web, err := endpoints(cfg.BaseURL)
	if err != nil {
		return nil, &sia.Error{Op: op, Message: "GitHub's address is not usable; leave it empty for github.com, or give " +
			"https://HOST/api/v3/", Permanent: true, Err: err}
	}
	cfg.setDefaults()
	a := &App{
		cfg: cfg, key: key, api: api, web: web, graphql: graphqlURL(api), log: cfg.Logger,
		installations: map[int64]*installation{},
	}
	a.gh = a.client(&appAuth{next: a.appTransport(a.baseTransport(0, newRateLimits(), nil)), host: api.Host})
	a.anon = a.client(a.baseTransport(0, newRateLimits(), nil))
	return a, nil
}

func (c *Config) setDefaults() {
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
		c.Sleep = Sleep
	}
	setDefault(&c.WriteSpacing, time.Second)
	setDefault(&c.WriteBurst, 5)
}

func setDefault[T ~int | ~int64](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// Sleep waits for d, or until ctx is done.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// baseTransport returns the lower part of the stack: rate limits and retries.
func (a *App) baseTransport(installation int64, l *rateLimits, p *writePacer) http.RoundTripper {
	return &rateLimiter{
		app: a, installation: installation, limits: l, pacer: p,
		next: a.retryTransport(installation),
	}
}

// retryTransport returns the network with retries.
func (a *App) retryTransport(installation int64) http.RoundTripper {
	return &retrier{next: a.cfg.Transport, sleep: a.cfg.Sleep, allow: a.countWrite(installation)}
}

// client returns a go-github client over a stack of round trippers. All clients are made here, so that each has an
// [outerTransport].
func (a *App) client(next http.RoundTripper) *gh.Client {
	c := gh.NewClient(&http.Client{Transport: newOuterTransport(&redirector{next}, a.cfg.Secrets, requestTimeout)})
	c.BaseURL = a.api
	c.UserAgent = "sia"
	return c
}

// installation returns the shared state of an installation.
func (a *App) installation(id int64) *installation {
	a.mu.Lock()
	defer a.mu.Unlock()
	in := a.installations[id]
	if in == nil {
		in = a.newInstallation(id, newRateLimits())
		a.installations[id] = in
	}
	return in
}

func (a *App) newInstallation(id int64, l *rateLimits) *installation {
	in := &installation{
		id: id, cache: newResponseCache(cacheBytes), limits: l, repos: map[sia.Repo]*Repo{},
		forms: expiring.New[string, tokenForm](a.cfg.Now, formTTL, 1),
	}
	base := a.baseTransport(id, l, nil)
	in.lists = a.client(in.withCache(&installationAuth{
		next: base, host: a.api.Host, tokens: newTokenSource(a, in, anyRepository, listPermissions(), base),
	}))
	return in
}

// withCache adds the installation's response cache to a round tripper. An incomplete response in the cache would be
// confirmed by its entity tag, and stay incomplete.
func (in *installation) withCache(next http.RoundTripper) http.RoundTripper {
	t := httpcache.NewTransport(in.cache)
	t.Transport = strictTransport{next, maxResponse}
	return t
}

// Forget drops an installation's tokens and cached responses. Call it when the installation was deleted or suspended,
// or its permissions or repositories changed. Rate limits stay in force.
func (a *App) Forget(installation int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if in := a.installations[installation]; in != nil {
		a.installations[installation] = a.newInstallation(installation, in.limits)
	}
}
