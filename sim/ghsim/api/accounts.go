package api

import (
	"strconv"

	"github.com/sia-bot/sia/sim/ghsim/access"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/payload"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

func getSelf(c *call) (answer, error) { return ok(c.shape.Profile(c.user.User)), nil }

// listSelfInstallations lists the app's installations that the person can access.
func listSelfInstallations(c *call) (answer, error) {
	var is []*model.Installation
	for _, i := range c.world.Installations() {
		if i.App == c.user.App && len(c.issuer.Visible(c.user, i)) > 0 {
			is = append(is, i)
		}
	}
	return page(c, is, "installations", c.shape.Installation)
}

func listSelfRepos(c *call) (answer, error) {
	i := c.world.Installation(c.id("id"))
	if i == nil || i.App != c.user.App || len(c.issuer.Visible(c.user, i)) == 0 {
		return answer{}, refusal.NotFound()
	}
	a, err := page(c, c.issuer.Visible(c.user, i), "repositories", func(r *model.Repository) object {
		return c.shape.RepositoryFull(r, payload.RolePermissions(r.Role(c.user.User.Login)))
	})
	a.value.(object)["repository_selection"] = i.Selection()
	return a, err
}

func getUser(c *call) (answer, error) {
	u := c.world.User(c.params["username"])
	if u == nil {
		return answer{}, refusal.NotFound()
	}
	return ok(c.shape.Profile(u)), nil
}

// getPermission is GET /repos/{owner}/{repo}/collaborators/{username}/permission. An app's bot is no collaborator: its
// permissions are those of the installation.
// https://github.com/anthropics/claude-code-action/issues/387
func getPermission(c *call) (answer, error) {
	u := c.world.User(c.params["username"])
	if u == nil {
		return answer{}, refusal.NotFound()
	}
	role := c.repo.Role(u.Login)
	if u.Kind == "Bot" {
		role = "none"
	}
	legacy := map[string]string{"maintain": "write", "triage": "read"}[role]
	if legacy == "" {
		legacy = role
	}
	who := c.shape.User(u)
	who["role_name"] = role
	who["permissions"] = payload.RolePermissions(role)
	return ok(object{"permission": legacy, "role_name": role, "user": who}), nil
}

func getRepo(c *call) (answer, error) {
	return ok(c.shape.RepositoryFull(c.repo, permissions(c.repo, c.token))), nil
}

// getRepoByID is GET /repositories/{id}, to which the redirects of renamed repositories lead.
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
func getRepoByID(c *call) (answer, error) {
	for _, r := range c.world.Repositories() {
		if strconv.FormatInt(r.ID, 10) == c.params["id"] && (c.token.Has(r) || !r.Private) {
			c.repo = r
			return getRepo(c)
		}
	}
	return answer{}, refusal.NotFound()
}

// permissions are a token's permissions in a repository: a person's are those of the role.
func permissions(r *model.Repository, t *access.Token) object {
	if t.User != nil {
		return payload.RolePermissions(r.Role(t.User.Login))
	}
	return object{"pull": t.May("contents", "read"), "push": t.May("contents", "write"),
		"triage": t.May("issues", "write"), "maintain": false, "admin": t.May("administration", "write")}
}
