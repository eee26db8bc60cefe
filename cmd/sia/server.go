package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/notify"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/setup"
)

// serverFlags are the configuration of a server. Each can also be set as an environment variable and, under its own
// name, in the YAML file that --config names. A flag takes precedence over the environment, and the environment over
// the file. The file may name further models, and their order for each role (models.go).
type serverFlags struct {
	Listen         string   `help:"Address for webhooks, and for the pages where people sign in with GitHub." default:":8080" env:"SIA_LISTEN" group:"folded:serve" type:"listen"`
	Private        string   `help:"Address for the pages, /healthz and /readyz; keep it off the internet. The pages are shown to this machine only." default:"127.0.0.1:9090" env:"SIA_PRIVATE" group:"folded:serve" type:"listen"`
	PublicURL      string   `name:"public-url" help:"Address at which people reach --listen, through whatever ends TLS in front of it; they sign in there with GitHub, and comments and check runs link there. Default: no links and no sign-in." env:"SIA_PUBLIC_URL" placeholder:"URL" group:"folded:serve" type:"web"`
	TrustedProxies []string `help:"Addresses of the proxies in front of --listen, or ranges of them, such as 172.16.0.0/12; X-Forwarded-For is believed of them alone. Default: those on this machine; none for no proxy." default:"127.0.0.0/8,::1" env:"SIA_TRUSTED_PROXIES" placeholder:"ADDRESS" group:"folded:serve"`
	Role           []string `help:"What this server does of the work that it shares with others of one PostgreSQL database: intake writes webhooks down, work works on them, web shows the pages; all, or several with commas between them." default:"all" env:"SIA_ROLE" placeholder:"ROLE" group:"folded:serve"`
	databaseFlags  `embed:""`
	DBDirect       string `name:"db-direct" help:"Where PostgreSQL itself is, when --db leads to PgBouncer: notifications of new jobs are heard there. Default: at --db." env:"SIA_DB_DIRECT" placeholder:"URL" last:""`

	GitHubURL     string `name:"github-url" help:"GitHub's address, or a GitHub Enterprise Server's; default: that of the stored app, or https://github.com." env:"SIA_GITHUB_URL" placeholder:"URL" group:"folded:serve" type:"web"`
	GitHubAPI     string `name:"github-api" help:"Its REST address, when it is not the usual one." env:"SIA_GITHUB_API" placeholder:"URL" group:"folded:serve" type:"web"`
	AppID         int64  `help:"Id of the GitHub App." env:"SIA_APP_ID" placeholder:"ID" group:"folded:serve"`
	AppKeyFile    string `help:"PEM file with the app's private key." env:"SIA_APP_KEY_FILE" type:"path" placeholder:"FILE" group:"folded:serve"`
	WebhookSecret string `help:"The app's webhook secret; better in the environment than as a flag." env:"SIA_WEBHOOK_SECRET" placeholder:"SECRET" group:"folded:serve"`
	ClientID      string `name:"client-id" help:"The app's client id: people sign in to the pages with it, at --public-url." env:"SIA_CLIENT_ID" placeholder:"ID" group:"folded:serve"`
	ClientSecret  string `help:"The app's client secret; better in the environment than as a flag." env:"SIA_CLIENT_SECRET" placeholder:"SECRET" group:"folded:serve"`

	modelFlags  `embed:"" group:"folded:serve"`
	notifyFlags `embed:"" group:"folded:serve"`
	Summary     string `help:"How often the same channels get a summary: daily, weekly or off; at 08:00 UTC." enum:"daily,weekly,off" default:"off" env:"SIA_SUMMARY" group:"folded:serve"`

	Free bool `help:"The models cost nothing, so no budget stops an attempt. A server without prices and without this does not start." env:"SIA_FREE" group:"folded:serve"`

	Repos          []string `help:"Repositories to work in, as owner/name or owner/*; default: wherever the app is installed." env:"SIA_REPOS" placeholder:"NAME" group:"folded:serve"`
	SetupHosts     []string `help:"Hosts that agent.setup commands may fetch packages from, such as proxy.golang.org; default: no network." env:"SIA_SETUP_HOSTS" placeholder:"NAME" group:"folded:serve"`
	AgentPath      []string `help:"Folders with coding agents for agent.kind: command, such as the prefix of an npm install -g; the agents see them read-only." env:"SIA_AGENT_PATH" placeholder:"FOLDER" group:"folded:serve"`
	AgentEnv       []string `help:"Names of environment variables of this server that a repository's agent.env may ask for; default: none." env:"SIA_AGENT_ENV" placeholder:"NAME" group:"folded:serve"`
	Welcome        bool     `help:"Propose settings, once, in a pull request to a repository that the app is newly installed on and that has none." default:"true" negatable:"" env:"SIA_WELCOME" group:"folded:serve"`
	Attempts       int      `help:"Attempts at the same time." default:"2" env:"SIA_ATTEMPTS" group:"folded:serve" min:"1" max:"10000"`
	AttemptsOn     string   `name:"attempts-on" help:"Who makes attempts: here, this server; or runners, the machines that sia runner add has given a token. They ask at --listen, below /runner/." enum:"here,runners" default:"here" env:"SIA_ATTEMPTS_ON" group:"folded:serve"`
	retentionFlags `embed:""`
	Traces         string            `help:"Address of an OpenTelemetry receiver that speaks OTLP over HTTP, such as http://localhost:4318: a trace for each task. Default: no traces." env:"SIA_TRACES,OTEL_EXPORTER_OTLP_ENDPOINT" placeholder:"URL" group:"folded:serve" type:"web"`
	TraceHeaders   map[string]string `help:"Headers for --traces, as NAME=VALUE; better in the environment than as a flag." env:"SIA_TRACE_HEADERS,OTEL_EXPORTER_OTLP_HEADERS" mapsep:"," placeholder:"NAME=VALUE" group:"folded:serve"`
	WriteSpacing   time.Duration     `help:"Average time between writes to one repository." default:"1s" env:"SIA_WRITE_SPACING" group:"folded:serve" min:"1ns"`
}

// Validate returns an error for values that no server can work with.
func (s serverFlags) Validate() error {
	if _, err := app.ParseRoles(s.Role); err != nil {
		return fmt.Errorf("--role: %w", err)
	}
	if s.DBDirect != "" && !store.IsPostgres(s.DBDirect) {
		return errors.New("--db-direct: that is no address of a PostgreSQL server; give one such as " +
			"postgres://user@host/database")
	}
	return errors.Join(app.Config{TrustedProxies: s.TrustedProxies, Repos: s.Repos, SetupHosts: s.SetupHosts}.CheckNames(),
		s.retentionFlags.check())
}

// config returns the server's configuration: the flags and, for missing app settings, the app that set-up stored.
func (s serverFlags) config() (app.Config, error) {
	c, err := s.fromFlags()
	if err != nil {
		return c, err
	}
	stored, ok, err := setup.Load(s.Dir)
	if err != nil || !ok {
		return c, err
	}
	return c.WithApp(stored)
}

// withoutModels returns the flags for a command that uses no model, so that it doesn't need a model's key.
func (s serverFlags) withoutModels() serverFlags {
	s.modelFlags = modelFlags{}
	return s
}

// decodedHeaders decodes headers, which are percent-encoded in OpenTelemetry's variables.
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/#specifying-headers-via-environment-variables
func decodedHeaders(headers map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range headers {
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		out[strings.TrimSpace(name)] = value
	}
	return out
}

// fromFlags returns the configuration of the flags, with the contents of the key file.
func (s serverFlags) fromFlags() (app.Config, error) {
	c := app.Config{
		Listen: s.Listen, Private: s.Private, PublicURL: s.PublicURL, TrustedProxies: s.TrustedProxies,
		Dir: s.Dir, DB: s.DB, DBDirect: s.DBDirect, Attempts: s.Attempts, SetupHosts: s.SetupHosts,
		AgentPath: s.AgentPath, AgentEnv: s.AgentEnv, Repos: s.Repos, Free: s.Free, Welcome: s.Welcome,
		OnRunners:    s.AttemptsOn == "runners",
		WriteSpacing: s.WriteSpacing, Keep: s.retention(), SignInFor: s.SignInFor,
		Traces: s.Traces, TraceHeaders: decodedHeaders(s.TraceHeaders),
		GitHub: app.GitHubConfig{URL: s.GitHubURL, API: s.GitHubAPI, AppID: s.AppID, WebhookSecret: s.WebhookSecret,
			ClientID: s.ClientID, ClientSecret: s.ClientSecret},
	}
	c.Notify = s.notifyFlags.config()
	c.Notify.Summary = notify.Summary(s.Summary)
	var err error
	if c.Roles, err = app.ParseRoles(s.Role); err != nil {
		return c, fmt.Errorf("--role: %w", err)
	}
	if c.Models, err = s.models(); err != nil {
		return c, err
	}
	if s.AppKeyFile != "" {
		key, err := os.ReadFile(s.AppKeyFile)
		if err != nil {
			return c, fmt.Errorf("the app's private key: %w; check --app-key-file", err)
		}
		c.GitHub.PrivateKey = key
	}
	return c, nil
}

// yamlFile reads a configuration file: a flat mapping of flags' names to values.
func yamlFile(r io.Reader) (kong.Resolver, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	var f fileFlags
	err = yaml.NewDecoder(bytes.NewReader(withoutBOM(b))).Decode(&f)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	return f, nil
}

// withoutBOM returns a file without the byte order mark that some editors write.
func withoutBOM(file []byte) []byte { return bytes.TrimPrefix(file, []byte("\ufeff")) }

// unknownKey returns a key that is not a flag of these commands; "" if there is none.
func (f fileFlags) unknownKey(a *kong.Application) string {
	known := map[string]bool{keyModels: true, keyRoles: true, keyCoders: true}
	for _, flag := range allFlags(a) {
		known[flag.Name] = true
	}
	for _, key := range slices.Sorted(maps.Keys(f)) {
		if !known[key] {
			return key
		}
	}
	return ""
}

// allFlags returns the flags of all commands. A flag that several commands have occurs several times.
func allFlags(a *kong.Application) (all []*kong.Flag) {
	for _, command := range a.Leaves(false) {
		all = append(all, slices.Concat(command.AllFlags(false)...)...)
	}
	return all
}

// fileFlags are the flags that a file sets, by name.
type fileFlags map[string]any

// Validate returns an error for keys that are not a flag of any command. The parser may be that of one command only
// (see [cli.Program.ForArgs]), and the file may set flags of others.
func (f fileFlags) Validate(a *kong.Application) error {
	if f.unknownKey(a) == "" {
		return nil
	}
	all, err := newParser(&commandLine{}, io.Discard, io.Discard)
	if err != nil {
		return err
	}
	if key := f.unknownKey(all.Model); key != "" {
		return fmt.Errorf("configuration file: there is no setting %q; the settings are the flags that `sia serve "+
			"--help` lists, models, roles and coders", key)
	}
	return nil
}

// Resolve returns the value of a flag in the file.
func (f fileFlags) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	return f[flag.Name], nil
}

// defaultDir returns the default data folder of a server.
func defaultDir() string { return cmp.Or(userDir(), ".sia-server") }

// userDir returns SIA's folder of this user; "" if the user has none, as without HOME.
func userDir() string {
	d, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(d, "sia")
}
