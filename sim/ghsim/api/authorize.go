package api

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/access"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// authenticate sets the call's app or token; missing credentials are no error yet.
func (c *call) authenticate() (err error) {
	raw := access.Credentials(c.r)
	id, secret, basic := c.r.BasicAuth()
	switch {
	case basic && strings.HasPrefix(c.r.URL.Path, "/api/v3/applications/"):
		c.client, err = c.issuer.Client(id, secret)
	case raw == "" && c.r.Header.Get("Authorization") != "":
		return refusal.BadCredentials()
	case raw == "":
		return nil
	case access.IsJWT(raw):
		c.app, err = c.issuer.App(raw)
	case access.IsPerson(raw):
		c.user, err = c.issuer.Person(raw)
	default:
		c.token, err = c.issuer.Token(raw)
	}
	return err
}

// authorize checks that the credentials are of the route's kind, that the repository is in scope (404 when not) and the
// permission is granted (403).
func (c *call) authorize(rt *route) error {
	if rt.auth == "none" {
		return nil
	}
	if rt.auth == "app" {
		if c.app == nil {
			return refusal.BadJWT("A JSON web token could not be decoded")
		}
		if c.params["repo"] != "" {
			return c.scopeRepo(func(*model.Repository) bool { return true })
		}
		return nil
	}
	if rt.auth == "client" {
		if c.client == nil {
			return refusal.BadCredentials()
		}
		if c.client.ClientID != c.params["client_id"] {
			return refusal.NotFound()
		}
		return nil
	}
	if rt.auth == "user" {
		if c.user == nil {
			return refusal.NotAccessible()
		}
		return nil
	}
	if c.app != nil {
		return refusal.NotAccessible()
	}
	if c.user != nil {
		if r := c.world.Repository(c.params["owner"] + "/" + c.params["repo"]); r != nil {
			c.token = c.issuer.Narrow(c.user, r)
		}
		if c.token == nil {
			return refusal.NotFound()
		}
	}
	if c.token == nil {
		return &refusal.Error{Code: http.StatusUnauthorized, Message: "Requires authentication"}
	}
	if c.params["repo"] != "" {
		if err := c.scopeRepo(c.readable); err != nil {
			return err
		}
		if c.repo.Archived && c.r.Method != http.MethodGet {
			return refusal.Forbidden(model.ReadOnly)
		}
	}
	if rt.auth == "" {
		return nil
	}
	permission, level, _ := strings.Cut(rt.auth, ":")
	return c.need(permission, level)
}

// readable reports whether the request's token may read a repository: one in its scope, or a public one. So may
// GITHUB_TOKEN, an installation token for one repository, with which actions/checkout fetches other public ones.
// Permissions in a repository are visible only to people with write access.
// https://docs.github.com/en/actions/concepts/security/github_token
func (c *call) readable(r *model.Repository) bool {
	return c.token.Has(r) ||
		!r.Private && c.r.Method == http.MethodGet && !strings.Contains(c.r.URL.Path, "/collaborators/")
}

func (c *call) scopeRepo(in func(*model.Repository) bool) error {
	r := c.world.Repository(c.params["owner"] + "/" + c.params["repo"])
	if r == nil || !in(r) {
		return refusal.NotFound()
	}
	c.repo = r
	if asked := c.params["owner"] + "/" + c.params["repo"]; !strings.EqualFold(asked, r.FullName()) {
		return c.moved(asked)
	}
	return nil
}

// moved redirects a request for a repository's former name to its id.
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
func (c *call) moved(asked string) error {
	_, rest, _ := strings.Cut(c.r.URL.RequestURI(), "/repos/"+asked)
	code := http.StatusMovedPermanently
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		code = http.StatusTemporaryRedirect
	}
	return &refusal.Error{Code: code, Message: "Moved Permanently",
		Location: c.shape.API("/repositories/%d", c.repo.ID) + rest}
}

// byID rewrites the path of a request below /repositories/{id} with the repository's name; others stay.
func (h *Handler) byID(path string) string {
	id, rest, below := strings.Cut(strings.TrimPrefix(path, "/repositories/"), "/")
	if !below || !strings.HasPrefix(path, "/repositories/") {
		return path
	}
	for _, r := range h.world.Repositories() {
		if strconv.FormatInt(r.ID, 10) == id {
			return "/repos/" + r.FullName() + "/" + rest
		}
	}
	return path
}
