package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// Grant is the meaning of a one-time code, in the web application flow or in the manifest flow.
type Grant struct {
	App       *model.App
	User      *model.User // nil in the manifest flow
	Redirect  string      // redirect address of the sign-in
	Challenge string      // of PKCE, S256; "" when there was none
	expires   time.Time
}

// Proves reports whether a verifier matches the challenge of the sign-in.
// https://datatracker.ietf.org/doc/html/rfc7636#section-4.6
func (g Grant) Proves(verifier string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return g.Challenge == "" || base64.RawURLEncoding.EncodeToString(sum[:]) == g.Challenge
}

// PersonToken is the token that a person's sign-in gives an app: it has the person's rights in the app's installations,
// limited to the app's.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
type PersonToken struct {
	App     *model.App
	User    *model.User
	expires time.Time
}

// PersonTokenLife is the lifetime of a sign-in.
const PersonTokenLife = 8 * time.Hour

// The lifetimes of codes: ten minutes for a sign-in, an hour for a manifest.
const (
	grantLife    = 10 * time.Minute
	manifestLife = time.Hour
)

// NewCode is a one-time code for a grant.
func (d *TokenIssuer) NewCode(g Grant) string {
	code, life := NewSecret(""), grantLife
	if g.User == nil {
		life = manifestLife
	}
	g.expires = d.hub.Now().Add(life)
	d.grants[code] = g
	return code
}

// Redeem exchanges a code for its grant; valid is false for one that is unknown, used or too old.
func (d *TokenIssuer) Redeem(code string) (g Grant, valid bool) {
	g, known := d.grants[code]
	delete(d.grants, code)
	return g, known && d.hub.Now().Before(g.expires)
}

// SignIn issues a person's token to an app.
func (d *TokenIssuer) SignIn(g Grant) (raw string) {
	raw = NewSecret("ghu_")
	d.people[raw] = &PersonToken{g.App, g.User, d.hub.Now().Add(PersonTokenLife)}
	return raw
}

// SignOut revokes a person's token to an app; it reports whether there was one.
func (d *TokenIssuer) SignOut(a *model.App, raw string) bool {
	t := d.people[raw]
	if t == nil || t.App != a {
		return false
	}
	delete(d.people, raw)
	return true
}

// Withdraw revokes all of a person's tokens to an app, as the person does in their settings.
func (d *TokenIssuer) Withdraw(a *model.App, u *model.User) {
	for raw, t := range d.people {
		if t.App == a && t.User == u {
			delete(d.people, raw)
		}
	}
}

// Client returns the app of a client id and its secret.
func (d *TokenIssuer) Client(id, secret string) (*model.App, error) {
	for _, a := range d.hub.Apps() {
		if a.ClientID == id && subtle.ConstantTimeCompare([]byte(secret), []byte(a.ClientSecret)) == 1 {
			return a, nil
		}
	}
	return nil, refusal.BadCredentials()
}

// IsPerson distinguishes a person's token from an installation's.
func IsPerson(raw string) bool { return strings.HasPrefix(raw, "ghu_") }

// Person finds a valid token of a person.
func (d *TokenIssuer) Person(raw string) (*PersonToken, error) {
	t := d.people[raw]
	if t == nil || !d.hub.Now().Before(t.expires) {
		return nil, refusal.BadCredentials()
	}
	return t, nil
}

// Narrow returns a user token's rights in a repository: the app's permissions there, limited to the person's role.
func (d *TokenIssuer) Narrow(t *PersonToken, r *model.Repository) *Token {
	role := r.Role(t.User.Login)
	if !model.AtLeast(role, "read") {
		return nil
	}
	for _, i := range d.hub.Installed(r) {
		if i.App != t.App {
			continue
		}
		perms := maps.Clone(i.Permissions)
		for p, level := range perms {
			if level != "read" && !model.AtLeast(role, "write") &&
				!(model.AtLeast(role, "triage") && (p == "issues" || p == "pull_requests")) {
				perms[p] = "read"
			}
		}
		return &Token{Inst: i, Permissions: perms, Repos: []*model.Repository{r}, Expires: t.expires, User: t.User}
	}
	return nil
}

// Visible are the repositories of an installation in which a person has a role.
// https://docs.github.com/en/rest/apps/installations#list-repositories-accessible-to-the-user-access-token
func (d *TokenIssuer) Visible(t *PersonToken, i *model.Installation) []*model.Repository {
	return slices.DeleteFunc(slices.Clone(i.Repos),
		func(r *model.Repository) bool { return !r.Member(t.User.Login) })
}
