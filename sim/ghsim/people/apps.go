package people

import (
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/world"
)

// SetCallbackURL sets the exact sign-in callback address. Without one, any address is accepted.
func (p *People) SetCallbackURL(appID int64, address string) error {
	return p.onApp(appID, func(a *model.App) error {
		a.Callbacks = []string{address}
		return nil
	})
}

// WithdrawSignIns revokes all of a person's sign-ins to an app, as they do in their settings.
func (p *People) WithdrawSignIns(appID int64, login string) error {
	p.world.Lock()
	defer p.world.Unlock()
	a, u := p.world.App(appID), p.world.User(login)
	if a == nil || u == nil {
		return fmt.Errorf("no app %d, or nobody called %s", appID, login)
	}
	p.issuer.Withdraw(a, u)
	return nil
}

// CreateApp registers an app with a new private key, the permissions of [world.DefaultPermissions] and the default
// webhook, if any. A ping is sent to the webhook.
func (p *People) CreateApp(slug string) (App, error) {
	key, err := p.issuer.NewKey()
	if err != nil {
		return App{}, fmt.Errorf("creating app %s: %w", slug, err)
	}
	p.world.Lock()
	defer p.world.Unlock()
	a := p.world.RegisterApp(slug, slug, p.world.EnsureUser("app-owner", "User"), key, world.DefaultPermissions(),
		world.Events())
	if p.hook.URL != "" {
		p.world.SetHook(a, p.hook.URL, p.hook.Secret)
	}
	return App{ID: a.ID, Slug: a.Slug, ClientID: a.ClientID, ClientSecret: a.ClientSecret, PrivateKeyPEM: a.KeyPEM(),
		Bot: publicUser(a.Bot), WebhookSecret: p.hook.Secret}, nil
}

// HideApp hides an app from the tokens of other apps, as GraphQL does with some private ones.
func (p *People) HideApp(slug string) {
	p.world.Lock()
	defer p.world.Unlock()
	p.world.EnsureApp(slug).Hidden = true
}

// SetWebhook points an app's webhook at url and sends it a ping; an empty url
// removes it.
func (p *People) SetWebhook(appID int64, url, secret string) error {
	return p.onApp(appID, func(a *model.App) error {
		p.world.SetHook(a, url, secret)
		return nil
	})
}

// SetAppPermissions replaces the permissions of an app and its installations, such as {"issues": "write", "contents":
// "read"}; metadata: read is always granted.
func (p *People) SetAppPermissions(appID int64, permissions map[string]string) error {
	return p.onApp(appID, func(a *model.App) error {
		p.world.SetPermissions(a, permissions)
		return nil
	})
}

// Install installs an app for an owner on the named repositories ("name" or
// "owner/name"); none means all of the owner's. It returns the installation's
// id. Installing again adds repositories.
func (p *People) Install(appID int64, owner string, repos ...string) (int64, error) {
	p.world.Lock()
	defer p.world.Unlock()
	a := p.world.App(appID)
	if a == nil {
		return 0, fmt.Errorf("installing app %d: no such app", appID)
	}
	u := p.world.User(owner)
	if u == nil {
		return 0, fmt.Errorf("installing %s: no account %s", a.Slug, owner)
	}
	rs, err := p.owned(u, repos)
	if err != nil {
		return 0, fmt.Errorf("installing %s: %w", a.Slug, err)
	}
	return p.world.Install(a, u, len(repos) == 0, rs).ID, nil
}

// owned resolves names of an owner's repositories; none means all, oldest first.
func (p *People) owned(u *model.User, names []string) ([]*model.Repository, error) {
	if len(names) == 0 {
		rs := slices.DeleteFunc(p.world.Repositories(), func(r *model.Repository) bool { return r.Owner != u })
		slices.SortFunc(rs, func(a, b *model.Repository) int { return int(a.ID - b.ID) })
		return rs, nil
	}
	var rs []*model.Repository
	for _, n := range names {
		r := p.world.Repository(u.Login + "/" + n)
		if r == nil {
			r = p.world.Repository(n)
		}
		if r == nil || r.Owner != u {
			return nil, fmt.Errorf("%s has no repository %s", u.Login, n)
		}
		rs = append(rs, r)
	}
	return rs, nil
}

// onApp changes an app.
func (p *People) onApp(id int64, do func(*model.App) error) error {
	p.world.Lock()
	defer p.world.Unlock()
	if a := p.world.App(id); a != nil {
		return do(a)
	}
	return fmt.Errorf("no app %d", id)
}

// onInstallation changes an installation.
func (p *People) onInstallation(id int64, do func(*model.Installation) error) error {
	p.world.Lock()
	defer p.world.Unlock()
	if i := p.world.Installation(id); i != nil {
		return do(i)
	}
	return fmt.Errorf("no installation %d", id)
}

// RemoveFromInstallation removes repositories ("owner/name") from an installation.
func (p *People) RemoveFromInstallation(id int64, repos ...string) error {
	return p.onInstallation(id, func(i *model.Installation) error {
		var gone []*model.Repository
		for _, name := range repos {
			r, err := p.repository(name)
			if err != nil {
				return err
			}
			gone = append(gone, r)
		}
		p.world.RemoveRepositories(i, gone)
		return nil
	})
}

// Uninstall removes an installation and all its tokens.
func (p *People) Uninstall(id int64) error {
	return p.onInstallation(id, func(i *model.Installation) error {
		p.world.Uninstall(i)
		return nil
	})
}

// Suspend suspends or resumes an installation; while suspended its tokens are answered 403.
func (p *People) Suspend(id int64, suspended bool) error {
	return p.onInstallation(id, func(i *model.Installation) error {
		p.world.Suspend(i, suspended)
		return nil
	})
}
