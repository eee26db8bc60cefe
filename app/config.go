package app

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/app/clientaddr"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/notify"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/sweep"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

// Config is the configuration of one SIA server. It is set by flags, SIA_* environment variables and one file, in that
// order; see docs/configuration.md.
type Config struct {
	Listen  string // address for webhooks and for pages with sign-in, ":8080"
	Private string // address for the pages, /healthz, /readyz and /metrics, loopback by default; "": none
	// PublicURL is the public address of the pages, that of the TLS proxy in front of Listen, where users sign in with
	// GitHub. Comments and check runs link to it. "": no links and no sign-in.
	PublicURL string
	// TrustedProxies are addresses, or ranges of them, of proxies in front of Listen. X-Forwarded-For is accepted only
	// from these. Limits per client use it.
	TrustedProxies []string

	Roles Roles // of this server; other servers with the same database have the rest

	Dir string // contains the database and the git mirrors
	// contains what is learned about models; "": Dir
	ModelsDir string
	// contains compiled standard libraries for the sandbox; "": in Dir
	Stdlib string
	DB     string // database URL; "": sia.db in Dir
	// URL of PostgreSQL itself if DB refers to PgBouncer; "": DB
	DBDirect string

	GitHub GitHubConfig
	Models ModelsConfig

	Free       bool            // models may be free, and then no budget stops an attempt
	Attempts   int             // concurrent attempts
	OnRunners  bool            // attempts and tests are run by runners, and wait for one
	Repos      sia.AllowList   // allowed repositories; empty: all with the app installed
	SetupHosts []string        // hosts from which setup commands may fetch; empty: no network
	AgentPath  []string        // read-only folders with agents that repositories may name
	AgentEnv   []string        // names of environment variables that repositories may request
	Welcome    bool            // propose settings to each new repository, once, in a pull request
	Schedule   sweep.Schedule  // of the periodic work
	Keep       sweep.Retention // of data not needed for work; zero: forever
	SignInFor  time.Duration   // duration of a sign-in to the pages; 0: [signin.MaxLifetime]
	Notify     notify.Config   // notifications outside GitHub
	// WriteSpacing is the average time between writes to one repository on GitHub; 0: one second, as GitHub recommends.
	// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
	WriteSpacing time.Duration

	Traces       string            // address of an OTLP receiver for traces; "": no traces
	TraceHeaders map[string]string // sent with traces
}

// GitHubConfig is the connection to GitHub as the app.
type GitHubConfig struct {
	URL           string // https://github.com, https://TENANT.ghe.com, or the address of a GitHub Enterprise Server
	API           string // its REST address; "": derived from URL
	AppID         int64
	PrivateKey    []byte // PEM
	WebhookSecret string
	ClientID      string // for signing in; "": no sign-in
	ClientSecret  string
}

// SignsIn reports whether users can sign in with GitHub to see the pages remotely.
func (c Config) SignsIn() bool {
	return c.GitHub.ClientID != "" && c.GitHub.ClientSecret != "" && c.PublicURL != ""
}

// WithDefaults returns c with defaults for omitted fields.
func (c Config) WithDefaults() Config {
	if c.Listen == "" {
		c.Listen = ":8080"
	}
	if c.DB == "" {
		c.DB = "sqlite:" + c.Dir + "/sia.db"
	}
	if c.GitHub.URL == "" {
		c.GitHub.URL = "https://github.com"
	}
	c.GitHub.URL = strings.TrimRight(c.GitHub.URL, "/")
	if c.GitHub.API == "" {
		c.GitHub.API = github.APIAddress(c.GitHub.URL)
	}
	if c.Attempts == 0 {
		c.Attempts = 2
	}
	if c.Schedule == (sweep.Schedule{}) {
		c.Schedule = sweep.DefaultSchedule()
	}
	if c.WriteSpacing == 0 {
		c.WriteSpacing = time.Second
	}
	c.Models.SIA = c.Models.SIA.withFallback(c.Models.Coder)
	c.Models.Reviewer = c.Models.Reviewer.withFallback(c.Models.SIA)
	if !c.Free {
		c.Models = c.Models.withPrices()
	}
	return c
}

// Validate returns an error for everything that is missing or wrong, each with a remedy.
func (c Config) Validate() error { return errors.Join(c.Roles.CheckShared(c.DB), c.validate(true)) }

// validate validates the configuration of a server, or of a command, which needs no webhook secret and no model.
func (c Config) validate(serves bool) error {
	if serves && !c.Roles.usesGitHub() {
		return c.validateRest(serves)
	}
	return errors.Join(c.GitHub.missing(), c.validateRest(serves))
}

// CheckDirect returns an error if DBDirect is set beside a SQLite file.
func (c Config) CheckDirect() error {
	if c.DBDirect == "" || store.IsPostgres(c.DB) {
		return nil
	}
	return errors.New("--db-direct (SIA_DB_DIRECT) says where PostgreSQL itself is, and the database is a SQLite file; " +
		"set --db to a PostgreSQL database, or leave --db-direct out")
}

// missing returns an error that names what is missing for access to GitHub as the app; nil: nothing.
func (g GitHubConfig) missing() error {
	var all []error
	if g.AppID <= 0 {
		all = append(all, errors.New("the GitHub App's id is missing: set --app-id or SIA_APP_ID (GitHub → Settings → "+
			"Developer settings → GitHub Apps)"))
	}
	if len(g.PrivateKey) == 0 {
		all = append(all, errors.New("the GitHub App's private key is missing: set --app-key-file or "+
			"SIA_APP_KEY_FILE to the .pem file that GitHub made"))
	}
	return errors.Join(all...)
}

// validateRest validates everything except the app.
func (c Config) validateRest(serves bool) error {
	var all []error
	need := func(ok bool, format string, args ...any) {
		if !ok {
			all = append(all, fmt.Errorf(format, args...))
		}
	}
	need(!serves || !c.Roles.Has(RoleIntake) || c.GitHub.WebhookSecret != "",
		"the webhook secret is missing: set --webhook-secret or "+
			"SIA_WEBHOOK_SECRET to the one in the app's settings")
	need(!serves || !c.Roles.usesGitHub() || c.Models.Coder.URL != "",
		"no model is configured: set --model-url and --model, or SIA_MODEL_URL and "+
			"SIA_MODEL, to an OpenAI-compatible endpoint, or name models in the file of --config")
	need(c.Models.Coder.URL == "" || c.Models.Coder.Model != "", "the model's name is missing: set --model or SIA_MODEL")
	need((c.GitHub.ClientID == "") == (c.GitHub.ClientSecret == ""),
		"people sign in with a client id and its secret: set --client-id and --client-secret (SIA_CLIENT_ID, "+
			"SIA_CLIENT_SECRET), or neither")
	need(c.Attempts > 0, "--attempts %d: at least one attempt has to be made at a time", c.Attempts)
	need(c.WriteSpacing > 0, "--write-spacing %s: the time between writes has to be positive", c.WriteSpacing)
	all = append(all, c.CheckAddresses(), c.CheckDirect(), c.CheckNames(), c.Notify.Validate())
	if c.Dir != "" {
		if err := os.MkdirAll(c.Dir, 0o700); err != nil {
			all = append(all, fmt.Errorf("the data folder can't be made: %w; set --dir or SIA_DIR to a folder that SIA may "+
				"write to", err))
		}
	} else {
		need(c.DB != "", "the data folder is missing: set --dir or SIA_DIR")
	}
	return errors.Join(all...)
}

// CheckNames returns an error for every invalid name of a proxy, repository or host.
func (c Config) CheckNames() error {
	var all []error
	if _, err := clientaddr.Parse(c.TrustedProxies); err != nil {
		all = append(all, fmt.Errorf("--trusted-proxies: %w", err))
	}
	if err := c.Repos.Check(); err != nil {
		all = append(all, fmt.Errorf("--repos: %w", err))
	}
	if err := sandbox.AllowedHosts(c.SetupHosts).Check(); err != nil {
		all = append(all, fmt.Errorf("--setup-hosts: %w", err))
	}
	return errors.Join(all...)
}

// CheckAddresses returns an error for every invalid address.
func (c Config) CheckAddresses() error {
	var all []error
	addresses := map[string]string{"--public-url": c.PublicURL, "--github-url": c.GitHub.URL, "--github-api": c.GitHub.API}
	for _, m := range c.Models.Named() {
		addresses["the address of the model "+m.Name] = m.URL
	}
	for name, address := range addresses {
		if address == "" {
			continue
		}
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			all = append(all, fmt.Errorf("%s %q is not an http or https address", name, address))
		} else if name == "--public-url" && (strings.Trim(u.Path, "/")+u.RawQuery+u.Fragment != "") {
			all = append(all, fmt.Errorf("--public-url %q has more than scheme and host, and the pages are at the host's root; "+
				"give %s://%s", address, u.Scheme, u.Host))
		}
	}
	return errors.Join(all...)
}

// links returns the base addresses of links for users.
func (c Config) links() render.Links {
	return render.Links{Web: strings.TrimRight(c.PublicURL, "/"), Host: c.GitHub.URL}
}

// CheckPrices returns an error for every model without a price in the configuration, unless models may be free: no
// budget would ever stop it.
func (c Config) CheckPrices() error {
	var all []error
	for _, m := range c.WithDefaults().Models.Named() {
		if !c.Free && !m.Price.Known() {
			all = append(all, fmt.Errorf("the price of the model %s is not known, so no budget would ever stop it: set "+
				"--price-input "+
				"and --price-output (SIA_PRICE_INPUT, SIA_PRICE_OUTPUT) to USD per million tokens, or its price in the file of "+
				"--config; --free (SIA_FREE=true) says that it really costs nothing", m.Name))
		}
	}
	return errors.Join(all...)
}

// serverSecret is a secret of the configuration.
type serverSecret struct {
	rule    string // its name in marks
	setting string // for people
	value   string
}

// allSecrets returns the configuration's secrets.
func (c Config) allSecrets() []serverSecret {
	all := []serverSecret{
		{"app-key", "--app-key-file", string(c.GitHub.PrivateKey)},
		{"webhook-secret", "--webhook-secret", c.GitHub.WebhookSecret},
		{"client-secret", "--client-secret", c.GitHub.ClientSecret},
		{"notify", "--notify-smtp-password", c.Notify.Password},
		{"database-password", "the password in --db", store.Password(c.DB)},
		{"database-password", "the password in --db-direct", store.Password(c.DBDirect)},
	}
	for _, name := range slices.Sorted(maps.Keys(c.TraceHeaders)) {
		all = append(all, serverSecret{"trace-header", name + " of --trace-headers", c.TraceHeaders[name]})
	}
	for _, model := range c.Models.Named() {
		all = append(all, serverSecret{"model-key", "the key of the model " + model.Name, model.Key})
	}
	for _, name := range c.AgentEnv { // commands get it and may print it
		all = append(all, serverSecret{"agent-env", name + " of --agent-env", os.Getenv(name)})
	}
	return all
}

// secrets returns a masker for the configuration's secrets.
func (c Config) secrets() *secret.Masker {
	m := &secret.Masker{}
	for _, s := range c.allSecrets() {
		m.Know(s.rule, s.value)
	}
	for _, s := range c.Notify.Secrets() {
		m.Know("notify", s)
	}
	return m
}

// Unmasked returns the settings whose values are not masked in what SIA writes, since they occur in ordinary text.
func (c Config) Unmasked() (settings []string) {
	for _, s := range c.allSecrets() {
		if strings.TrimSpace(s.value) != "" && !secret.Distinctive(s.value) {
			settings = append(settings, s.setting)
		}
	}
	if c.Notify.URL != "" && !slices.ContainsFunc(c.Notify.Secrets(), secret.Distinctive) {
		settings = append(settings, "--notify-url")
	}
	return settings
}
