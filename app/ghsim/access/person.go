package access

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/ghsim/model"
	"github.com/sia-bot/sia/app/ghsim/refusal"
)

// Grant is what a one-time code stands for, in the web application flow or in the
// manifest flow.
type Grant struct {
	App     *model.App
	User    *model.User // nil in the manifest flow
	expires time.Time
}

// PersonToken is what a person's sign-in gives an app: the person's rights, where
// the app is installed, and no more than the app's.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
type PersonToken struct {
	App     *model.App
	User    *model.User
	expires time.Time
}

const (
	grantLife       = 10 * time.Minute
	personTokenLife = 8 * time.Hour
)

// NewCode is a code for an app, once.
func (d *Desk) NewCode(a *model.App, u *model.User) string {
	code := NewSecret("")
	d.grants[code] = Grant{a, u, d.hub.Now().Add(grantLife)}
	return code
}

// Redeem takes a code back for what it stands for; valid is false for one that is
// unknown, used or too old.
func (d *Desk) Redeem(code string) (g Grant, valid bool) {
	g, known := d.grants[code]
	delete(d.grants, code)
	return g, known && d.hub.Now().Before(g.expires)
}

// SignIn hands out a person's token to an app.
func (d *Desk) SignIn(g Grant) (raw string) {
	raw = NewSecret("ghu_")
	d.people[raw] = &PersonToken{g.App, g.User, d.hub.Now().Add(personTokenLife)}
	return raw
}

// IsPerson tells a person's token from an installation's.
func IsPerson(raw string) bool { return strings.HasPrefix(raw, "ghu_") }

// Person finds a live token of a person.
func (d *Desk) Person(raw string) (*PersonToken, error) {
	t := d.people[raw]
	if t == nil || !d.hub.Now().Before(t.expires) {
		return nil, refusal.BadCredentials()
	}
	return t, nil
}

// Narrow is a user token's rights in a repository: what the app was granted
// there, down to the person's role.
func (d *Desk) Narrow(t *PersonToken, r *model.Repository) *Token {
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

// Visible are the repositories of an installation that a person can read.
func (d *Desk) Visible(t *PersonToken, i *model.Installation) []*model.Repository {
	return slices.DeleteFunc(slices.Clone(i.Repos),
		func(r *model.Repository) bool { return !model.AtLeast(r.Role(t.User.Login), "read") })
}
