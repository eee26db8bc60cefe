package github

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// tokenForm is how a token for git is asked for.
type tokenForm int

// The forms, in the order in which they are tried. Since 2026 GitHub hands out tokens that are JSON
// web tokens. Git over HTTPS is reported to answer 404 to those that were narrowed, for private
// repositories.
// https://github.blog/changelog/2026-05-15-github-app-installation-tokens-per-request-override-header/
// https://github.com/orgs/community/discussions/211387
const (
	usualForm  tokenForm = iota // narrowed, in the form of GitHub's choice
	opaqueForm                  // narrowed, in the form of before 2026
	wholeForm                   // for the repository alone, with all permissions that were granted
	tokenForms int       = iota
)

// formFor is how long it is remembered which form git takes. After that the narrowest is tried again.
const formFor = 24 * time.Hour

// opaqueHeader asks for a token in the form of before 2026. GitHub means to take it away.
const opaqueHeader = "X-GitHub-Stateless-S2S-Token"

// gitTokens hands out tokens for git in one repository.
type gitTokens struct {
	app   *App
	in    *installation
	forms [tokenForms]*tokenSource
}

func newGitTokens(a *App, in *installation, scope tokenScope, want Permissions, next http.RoundTripper) *gitTokens {
	return &gitTokens{app: a, in: in, forms: [tokenForms]*tokenSource{
		usualForm:  newTokenSource(a, in, scope, want, next),
		opaqueForm: newTokenSource(a, in, scope, want, opaqueTransport{next}),
		wholeForm:  newTokenSource(a, in, scope, nil, next),
	}}
}

// token returns a token in the form that git was seen to take.
func (g *gitTokens) token(ctx context.Context) (string, error) {
	form, _ := g.in.forms.get("")
	return g.forms[form].token(ctx)
}

// other returns the token to try after git answered 404 to one; "" gives up, because the repository
// is not there. An opaque token of the usual form is believed: that is how GitHub Enterprise Server
// makes them. One that is expired is made anew.
func (g *gitTokens) other(ctx context.Context, refused string, expired bool) (string, error) {
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

// took remembers the form of a token that git took after it had refused another.
func (g *gitTokens) took(token string) {
	form, known := g.formOf(token)
	if !known {
		return
	}
	g.in.forms.put("", form)
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
		if s.handedOut(token) {
			return tokenForm(i), true
		}
	}
	return 0, false
}

// stateless reports whether a token is a JSON web token: it has two dots, and an opaque one has none.
// https://github.blog/changelog/2026-05-15-github-app-installation-tokens-per-request-override-header/
func stateless(token string) bool { return strings.Count(token, ".") == 2 }

// opaqueTransport asks for tokens in the form of before 2026.
type opaqueTransport struct{ next http.RoundTripper }

// RoundTrip sends the request with the header.
func (t opaqueTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set(opaqueHeader, "disabled")
	return t.next.RoundTrip(req)
}
