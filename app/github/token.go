package github

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
)

// Permissions maps a permission's name to its access: read or write.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
type Permissions map[string]string

// reducedPeriod is how long to use a reduced token before asking for all permissions again.
const reducedPeriod = 10 * time.Minute

// newTokenPeriod is how long some of GitHub's replicas may not have a new token or its permissions. A refusal in that
// time is retried after a second, and after newTokenWait if it is repeated.
// https://github.com/octokit/auth-app.js/issues/589
const (
	newTokenPeriod = 5 * time.Second
	newTokenWait   = 2 * time.Second
)

// maxToken is the maximum size of a response with a token, in bytes; it lists the repositories that the token covers.
const maxToken = 8 << 20

// Permissions that tokens are narrowed to.
func apiPermissions() Permissions {
	p := Permissions{"metadata": "read", "contents": "write"}
	for _, f := range neededFeatures {
		p[f.permission] = f.access
	}
	return p
}

func gitPermissions() Permissions { return Permissions{"metadata": "read", "contents": "write"} }
func workflowPermissions() Permissions {
	return Permissions{"metadata": "read", "contents": "write", "workflows": "write"}
}
func listPermissions() Permissions { return Permissions{"metadata": "read"} }

// tokenScope narrows a token to some repositories.
type tokenScope func(*gh.InstallationTokenOptions)

// onlyRepository narrows a token to one repository, by id if it is known, since names change.
func onlyRepository(repo sia.Repo) tokenScope {
	return func(o *gh.InstallationTokenOptions) {
		if repo.ID != 0 {
			o.RepositoryIDs = []int64{repo.ID}
		} else {
			o.Repositories = []string{repo.Name}
		}
	}
}

// anyRepository is the scope of all repositories of the installation.
func anyRepository(*gh.InstallationTokenOptions) {}

// tokenSource issues one installation token and renews it, narrowed to a scope and to some permissions. If the
// installation has not granted all of them, it asks for the granted ones: then only the features that need the others
// fail, and report what is missing.
type tokenSource struct {
	app          *App
	installation int64
	scope        tokenScope
	want         Permissions       // nil: all that are granted
	next         http.RoundTripper // to GitHub, unauthenticated

	mu           sync.Mutex
	tr           *ghinstallation.Transport
	current      string    // latest token
	issuedAt     time.Time // when current was issued
	reducedUntil time.Time // until when to use fewer permissions; zero: not reduced
}

func newTokenSource(
	a *App, in *installation, scope tokenScope, want Permissions, next http.RoundTripper,
) *tokenSource {
	return &tokenSource{app: a, installation: in.id, scope: scope, want: want, next: next}
}

// token returns a token that is valid for at least another minute.
func (s *tokenSource) token(ctx context.Context) (string, error) {
	s.mu.Lock()
	if s.tr == nil || (!s.reducedUntil.IsZero() && s.app.cfg.Now().After(s.reducedUntil)) {
		s.tr, s.reducedUntil = s.transport(s.want), time.Time{}
	}
	tr, full := s.tr, s.reducedUntil.IsZero()
	s.mu.Unlock()

	token, err := tr.Token(ctx)
	err = require(err, token)
	if full && refusedPermissions(err) {
		if fewer, ok := s.reduce(ctx, tr); ok {
			discardToken(err)
			token, err = fewer.Token(ctx)
			err = require(err, token)
		}
	}
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	if s.current != token {
		s.app.cfg.Secrets.Passing("installation-token", token)
		s.current, s.issuedAt = token, s.app.cfg.Now()
	}
	s.mu.Unlock()
	return token, nil
}

// isCurrent reports whether a token is the latest one.
func (s *tokenSource) isCurrent(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current == token
}

// isNew reports whether a token was issued so recently that some of GitHub's replicas may not have it.
func (s *tokenSource) isNew(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current == token && s.app.cfg.Now().Sub(s.issuedAt) < newTokenPeriod
}

// drop discards a token that GitHub refused.
func (s *tokenSource) drop(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == token {
		s.tr, s.current, s.reducedUntil = nil, "", time.Time{}
	}
}

// transport returns a source of tokens with the given permissions. Each has its own AppsTransport, which
// ghinstallation modifies.
func (s *tokenSource) transport(p Permissions) *ghinstallation.Transport {
	tr := ghinstallation.NewFromAppsTransport(s.app.appTransport(strictTransport{s.next, maxToken}), s.installation)
	tr.BaseURL = s.app.api.String()
	tr.InstallationTokenOptions = &gh.InstallationTokenOptions{}
	if p != nil {
		tr.InstallationTokenOptions.Permissions = p.wire()
	}
	s.scope(tr.InstallationTokenOptions)
	return tr
}

// reduce replaces old by a source that asks for the granted permissions only, or returns false if they are the same.
func (s *tokenSource) reduce(ctx context.Context, old *ghinstallation.Transport) (*ghinstallation.Transport, bool) {
	in, _, err := s.app.gh.Apps.GetInstallation(ctx, s.installation)
	if err != nil {
		return nil, false
	}
	granted, missing := splitGranted(s.want, permissionsFrom(in.GetPermissions()))
	if len(missing) == 0 {
		return nil, false
	}
	s.app.log.WarnContext(ctx, "the installation lacks permissions; what needs them will not work",
		"installation", s.installation, "account", in.GetAccount().GetLogin(), "missing", missing)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tr == old {
		s.tr, s.reducedUntil = s.transport(granted), s.app.cfg.Now().Add(reducedPeriod)
	}
	return s.tr, s.tr != nil
}

// discardToken closes the response of a refused token.
func discardToken(err error) {
	var he *ghinstallation.HTTPError
	if errors.As(err, &he) && he.Response != nil {
		he.Response.Body.Close()
	}
}

// splitGranted splits the wanted permissions into those that are granted, up to the granted access, and those that
// are missing.
func splitGranted(want, have Permissions) (granted, missing Permissions) {
	granted, missing = Permissions{}, Permissions{}
	for name, access := range want {
		switch have[name] {
		case access, "write", "admin":
			granted[name] = access
		case "read":
			granted[name], missing[name] = "read", access
		default:
			missing[name] = access
		}
	}
	return granted, missing
}

// refusedPermissions reports whether GitHub refused a token because the installation lacks requested permissions.
func refusedPermissions(err error) bool {
	var he *ghinstallation.HTTPError
	return errors.As(err, &he) && he.Response != nil && he.Response.StatusCode == http.StatusUnprocessableEntity
}

// wire converts p to go-github's type.
func (p Permissions) wire() *gh.InstallationPermissions {
	out := new(gh.InstallationPermissions)
	if b, err := json.Marshal(p); err == nil {
		_ = json.Unmarshal(b, out) // every value is a string
	}
	return out
}

func permissionsFrom(p *gh.InstallationPermissions) Permissions {
	out := Permissions{}
	if p == nil {
		return out
	}
	if b, err := json.Marshal(p); err == nil {
		_ = json.Unmarshal(b, &out) // every field is a string
	}
	return out
}
