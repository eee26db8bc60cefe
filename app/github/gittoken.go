package github

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// tokenForm is the form of a token for git.
type tokenForm int

// The forms, in the order in which they are tried. Since 2026 GitHub issues tokens that are JSON web tokens. Git over
// HTTPS reportedly answers 404 to narrowed ones for private repositories.
// https://github.blog/changelog/2026-05-15-github-app-installation-tokens-per-request-override-header/
// https://github.com/orgs/community/discussions/211387
const (
	usualForm  tokenForm = iota // narrowed, in GitHub's default form
	opaqueForm                  // narrowed, in the form used before 2026
	wholeForm                   // for the repository alone, with all granted permissions
	tokenForms int       = iota
)

// formTTL is how long to use the form that git accepts, before trying the narrowest again.
const formTTL = 24 * time.Hour

// opaqueHeader asks for a token in the form used before 2026. GitHub plans to remove it.
const opaqueHeader = "X-GitHub-Stateless-S2S-Token"

// gitTokens issues tokens for git in one repository.
type gitTokens struct {
	app   *App
	in    *installation
	repo  sia.Repo
	err   error // why there is none
	forms [tokenForms]*tokenSource
}

func newGitTokens(a *App, in *installation, repo sia.Repo, want Permissions, next http.RoundTripper) *gitTokens {
	scope := onlyRepository(repo)
	return &gitTokens{app: a, in: in, repo: repo, forms: [tokenForms]*tokenSource{
		usualForm:  newTokenSource(a, in, scope, want, next),
		opaqueForm: newTokenSource(a, in, scope, want, opaqueTransport{next}),
		wholeForm:  newTokenSource(a, in, scope, nil, next),
	}}
}

// remote returns the repository as a git remote with these tokens.
func (g *gitTokens) remote() gitops.Remote {
	return gitops.Remote{
		Key:   KeyOf(g.in.id, g.repo.ID),
		URL:   g.app.web.String() + url.PathEscape(g.repo.Owner) + "/" + url.PathEscape(g.repo.Name) + ".git",
		Token: func(ctx context.Context) (string, error) { return g.ask(ctx, g.token) },
		Other: func(ctx context.Context, refused string, expired bool) (string, error) {
			return g.ask(ctx, func(ctx context.Context) (string, error) { return g.fallback(ctx, refused, expired) })
		},
		Took: g.accepted,
	}
}

// ask returns the token that from returns in time.
func (g *gitTokens) ask(ctx context.Context, from func(context.Context) (string, error)) (string, error) {
	if g.err != nil {
		return "", g.err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	token, err := from(ctx)
	return token, g.app.failure(err, "get a token for %s", g.repo)
}

// token returns a token in the form that git accepts.
func (g *gitTokens) token(ctx context.Context) (string, error) {
	form, _ := g.in.forms.Get("")
	return g.forms[form].token(ctx)
}

// fallback returns the token to try after git answered 404 to one, or "" if the repository does not exist. An opaque
// token of the usual form is not retried: GitHub Enterprise Server issues those. An expired one is renewed.
func (g *gitTokens) fallback(ctx context.Context, refused string, expired bool) (string, error) {
	form, known := g.formOf(refused)
	if known && expired {
		g.forms[form].drop(refused)
		return g.forms[form].token(ctx)
	}
	if !known || form == usualForm && !stateless(refused) || int(form)+1 == tokenForms {
		return "", nil
	}
	return g.forms[form+1].token(ctx)
}

// accepted records the form of a token that git accepted after it had refused another.
func (g *gitTokens) accepted(token string) {
	form, known := g.formOf(token)
	if !known {
		return
	}
	g.in.forms.Put("", form)
	switch form {
	case opaqueForm:
		g.app.log.Warn("git does not find a repository with a narrowed token of the new form; asking for the old form",
			"installation", g.in.id)
	case wholeForm:
		g.app.log.Warn("git does not find a repository with a narrowed token; git's tokens now have every permission that "+
			"was granted, in the one repository", "installation", g.in.id)
	}
}

func (g *gitTokens) formOf(token string) (tokenForm, bool) {
	for i, s := range g.forms {
		if s.isCurrent(token) {
			return tokenForm(i), true
		}
	}
	return 0, false
}

// stateless reports whether a token is a JSON web token: it has two dots, an opaque one none.
// https://github.blog/changelog/2026-05-15-github-app-installation-tokens-per-request-override-header/
func stateless(token string) bool { return strings.Count(token, ".") == 2 }

// opaqueTransport asks for tokens in the form used before 2026.
type opaqueTransport struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (t opaqueTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set(opaqueHeader, "disabled")
	return t.next.RoundTrip(req)
}
