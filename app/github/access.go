package github

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// permissionTTL is how long a user's permission is cached, and so how long a revoked one stays in effect.
const permissionTTL = time.Minute

// rankedRoles lists the permissions, the lowest first.
var rankedRoles = []string{"none", "read", "triage", "write", "maintain", "admin"}

// loginName matches the logins of users, apps and managed users.
var loginName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}(\[bot\])?$`)

// Permission returns a user's permission in the repository: none, read, triage, write, maintain or admin. A custom
// role counts at least as the role it is based on. It is cached for a minute.
// https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
func (r *Repo) Permission(ctx context.Context, who string) (string, error) {
	if !loginName.MatchString(who) {
		return "none", nil
	}
	if p, ok := r.permissions.Get(who); ok {
		return p, nil
	}
	got, _, err := r.gh.Repositories.GetPermissionLevel(ctx, r.repo.Owner, r.repo.Name, url.PathEscape(who))
	p := "none"
	switch {
	case err == nil && got.GetPermission() == "":
		return "", r.app.failure(errIncomplete, "read what %s may do in %s", who, r.repo)
	case err == nil:
		p = roleOf(got.GetPermission(), got.GetRoleName())
	case statusOf(err) != http.StatusNotFound:
		return "", r.app.failure(err, "read what %s may do in %s", who, r.repo)
	}
	r.permissions.Put(who, p)
	return p, nil
}

// roleOf returns the role called name if it is one of GitHub's own, or else the coarser permission that GitHub
// reports for custom roles.
func roleOf(permission, name string) string {
	if slices.Contains(rankedRoles, name) {
		return name
	}
	if slices.Contains(rankedRoles, permission) {
		return permission
	}
	return "none"
}
