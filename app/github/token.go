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

// Permissions maps a permission's name to the access it gives: read or write.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
type Permissions map[string]string

// reducedFor is how long to do without permissions that were not granted before
// asking for them again.
const reducedFor = 10 * time.Minute

// newTokenFor is how long after a token was made GitHub's servers may not know it, nor what it may do: they hear of it
// one after the other. A refusal is waited for a second then, and newTokenWait if it is repeated.
// https://github.com/octokit/auth-app.js/issues/589
const (
	newTokenFor  = 5 * time.Second
	newTokenWait = 2 * time.Second
)

// maxToken bounds an answer that holds a token, in bytes; it lists the repositories that the token reaches.
const maxToken = 8 << 20

// The permissions that tokens are narrowed to.
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

// tokenScope narrows a token to the repositories that it reaches.
type tokenScope func(*gh.InstallationTokenOptions)

// onlyRepository is for a repository that has a name; one with an id is reached
// under any name.
func onlyRepository(repo sia.Repo) tokenScope {
	return func(o *gh.InstallationTokenOptions) {
		if repo.ID != 0 {
			o.RepositoryIDs = []int64{repo.ID}
		} else {
			o.Repositories = []string{repo.Name}
		}
	}
}

// anyRepository is for all that the installation covers.
func anyRepository(*gh.InstallationTokenOptions) {}

// tokenSource hands out one installation token and renews it, narrowed to a scope
// and to some permissions. When the installation has not granted all
// of them, it asks for those that were granted: SIA then works but for the
// features that need the rest, and these say what is missing when they are used.
type tokenSource struct {
	app          *App
	installation int64
	scope        tokenScope
	want         Permissions       // nil: all that were granted
	next         http.RoundTripper // to GitHub, not signed in

	mu      sync.Mutex
	tr      *ghinstallation.Transport
	current string    // the token last handed out
	since   time.Time // when it was first
	reduced time.Time // until when to do with fewer permissions; zero: not reduced
}

func newTokenSource(
	a *App, in *installation, scope tokenScope, want Permissions, next http.RoundTripper,
) *tokenSource {
	return &tokenSource{app: a, installation: in.id, scope: scope, want: want, next: next}
}

// token returns a token that is good for at least another minute.
func (s *tokenSource) token(ctx context.Context) (string, error) {
	s.mu.Lock()
	if s.tr == nil || (!s.reduced.IsZero() && s.app.cfg.Now().After(s.reduced)) {
		s.tr, s.reduced = s.transport(s.want), time.Time{}
	}
	tr, full := s.tr, s.reduced.IsZero()
	s.mu.Unlock()

	token, err := tr.Token(ctx)
	err = whole(err, token)
	if full && refusedPermissions(err) {
		if fewer, ok := s.reduce(ctx, tr); ok {
			discardToken(err)
			token, err = fewer.Token(ctx)
			err = whole(err, token)
		}
	}
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	if s.current != token {
		s.app.cfg.Secrets.Passing("installation-token", token)
		s.current, s.since = token, s.app.cfg.Now()
	}
	s.mu.Unlock()
	return token, nil
}

// handedOut reports whether a token is the one last handed out.
func (s *tokenSource) handedOut(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current == token
}

// isNew reports whether a token was made so short a time ago that GitHub's servers may not know it.
func (s *tokenSource) isNew(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current == token && s.app.cfg.Now().Sub(s.since) < newTokenFor
}

// drop throws away a token that GitHub refused.
func (s *tokenSource) drop(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == token {
		s.tr, s.current, s.reduced = nil, "", time.Time{}
	}
}

// transport makes a source of tokens with the given permissions. Each has its
// own signer: ghinstallation's writes to the one it is given.
func (s *tokenSource) transport(p Permissions) *ghinstallation.Transport {
	tr := ghinstallation.NewFromAppsTransport(s.app.signs(wholeAnswers{s.next, maxToken}), s.installation)
	tr.BaseURL = s.app.api.String()
	tr.InstallationTokenOptions = &gh.InstallationTokenOptions{}
	if p != nil {
		tr.InstallationTokenOptions.Permissions = p.wire()
	}
	s.scope(tr.InstallationTokenOptions)
	return tr
}

// reduce replaces old by a source that asks only for what was granted; false
// when that would be the same.
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
		s.tr, s.reduced = s.transport(granted), s.app.cfg.Now().Add(reducedFor)
	}
	return s.tr, s.tr != nil
}

// discardToken closes the answer of a refused token that was dealt with.
func discardToken(err error) {
	var he *ghinstallation.HTTPError
	if errors.As(err, &he) && he.Response != nil {
		he.Response.Body.Close()
	}
}

// splitGranted splits what is wanted into what is granted, at most at the access
// granted, and what is missing.
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

// refusedPermissions reports whether GitHub refused to make a token because it
// asks for permissions that the installation was not granted.
func refusedPermissions(err error) bool {
	var he *ghinstallation.HTTPError
	return errors.As(err, &he) && he.Response != nil && he.Response.StatusCode == http.StatusUnprocessableEntity
}

// wire is p as go-github spells it.
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
