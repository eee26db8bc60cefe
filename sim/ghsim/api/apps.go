package api

import (
	"maps"
	"net/http"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/access"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/payload"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// installations are those of the requesting app, oldest first.
func (c *call) installations() []*model.Installation {
	return slices.DeleteFunc(c.world.Installations(), func(i *model.Installation) bool { return i.App != c.app })
}

func getApp(c *call) (answer, error) {
	o := c.shape.Integration(c.app)
	o["installations_count"] = len(c.installations())
	return ok(o), nil
}

func listInstallations(c *call) (answer, error) {
	return page(c, c.installations(), "", c.shape.Installation)
}

func (c *call) installation() (*model.Installation, error) {
	if i := c.world.Installation(c.id("id")); i != nil && i.App == c.app {
		return i, nil
	}
	return nil, refusal.NotFound()
}

func getInstallation(c *call, i *model.Installation) (answer, error) {
	return ok(c.shape.Installation(i)), nil
}

func getRepoInstallation(c *call) (answer, error) {
	for _, i := range c.installations() {
		if i.Has(c.repo) {
			return ok(c.shape.Installation(i)), nil
		}
	}
	return answer{}, refusal.NotFound()
}

// convertManifest is POST /app-manifests/{code}/conversions: the keys of the new app, once. Its webhook is enabled with
// the secret issued here.
func convertManifest(c *call) (answer, error) {
	g, valid := c.issuer.Redeem(c.params["code"])
	if !valid || g.User != nil {
		return answer{}, refusal.NotFound()
	}
	secret := access.NewSecret("")
	if g.App.PendingHook != "" {
		c.world.SetHook(g.App, g.App.PendingHook, secret)
	}
	o := c.shape.Integration(g.App)
	o["client_secret"], o["webhook_secret"], o["pem"] = g.App.ClientSecret, secret, string(g.App.KeyPEM())
	return created(o), nil
}

type signOut struct {
	AccessToken string `json:"access_token"`
}

// deleteAppToken is DELETE /applications/{client_id}/token: an app signs a person out.
// https://docs.github.com/en/rest/apps/oauth-applications#delete-an-app-token
func deleteAppToken(c *call, in signOut) (answer, error) {
	if !c.issuer.SignOut(c.client, in.AccessToken) {
		return answer{}, refusal.NotFound()
	}
	return answer{code: http.StatusNoContent}, nil
}

type tokenInput struct {
	Repositories  []string          `json:"repositories"`
	RepositoryIDs []int64           `json:"repository_ids"`
	Permissions   map[string]string `json:"permissions"`
}

func createToken(c *call, i *model.Installation, in tokenInput) (answer, error) {
	if !i.Suspended.IsZero() {
		return answer{}, refusal.Forbidden("This installation has been suspended")
	}
	t := access.Token{Inst: i, Permissions: maps.Clone(i.Permissions),
		Stateless: c.r.Header.Get(access.FormHeader) != "disabled"}
	if len(in.Permissions) > 0 {
		t.Permissions = map[string]string{"metadata": "read"}
		for p, level := range in.Permissions {
			if p != "metadata" && !access.Grants(i.Permissions[p], level) {
				return answer{}, refusal.Unprocessable("The permissions requested are not granted to this installation.")
			}
			t.Permissions[p] = level
		}
	}
	if len(in.Repositories)+len(in.RepositoryIDs) > 0 {
		t.Repos = []*model.Repository{}
	}
	for _, r := range i.Repos {
		if slices.Contains(in.Repositories, r.Name) || slices.Contains(in.RepositoryIDs, r.ID) {
			t.Repos = append(t.Repos, r)
		}
	}
	if want := len(in.Repositories) + len(in.RepositoryIDs); want > 0 && len(t.Repos) < want {
		return answer{}, refusal.Unprocessable("There is at least one repository that does not exist or is not " +
			"accessible to the parent installation.")
	}
	raw, made := c.issuer.NewToken(t)
	out := object{"token": raw, "expires_at": payload.Stamp(made.Expires), "permissions": t.Permissions,
		"repository_selection": i.Selection()}
	if t.Repos != nil {
		list := payload.List(t.Repos, func(r *model.Repository) object {
			return c.shape.RepositoryFull(r, permissions(r, made))
		})
		out["repositories"], out["repository_selection"] = list, "selected"
	}
	return created(out), nil
}

func listInstallationRepos(c *call) (answer, error) {
	rs := slices.DeleteFunc(slices.Clone(c.token.Inst.Repos), func(r *model.Repository) bool { return !c.token.Has(r) })
	a, err := page(c, rs, "repositories", func(r *model.Repository) object {
		return c.shape.RepositoryFull(r, permissions(r, c.token))
	})
	if o, is := a.value.(object); is {
		o["repository_selection"] = c.token.Inst.Selection()
	}
	return a, err
}
