package github

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// accessFor is how long a person's permission is remembered. What somebody lost
// works for no longer than this.
const accessFor = time.Minute

// rankedRoles are the permissions from least to most.
var rankedRoles = []string{"none", "read", "triage", "write", "maintain", "admin"}

// loginName is what GitHub lets people, apps and managed users be called.
var loginName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}(\[bot\])?$`)

// Permission returns what somebody may do in the repository: none, read,
// triage, write, maintain or admin. A custom role counts as the role it builds
// on, at least. Answers are remembered for a minute.
// https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
func (r *Repo) Permission(ctx context.Context, who string) (string, error) {
	if !loginName.MatchString(who) {
		return "none", nil
	}
	if p, ok := r.access.get(who); ok {
		return p, nil
	}
	got, _, err := r.gh.Repositories.GetPermissionLevel(ctx, r.repo.Owner, r.repo.Name, url.PathEscape(who))
	p := "none"
	switch {
	case err == nil && got.GetPermission() == "":
		return "", r.fail(errNothing, "read what %s may do in %s", who, r.repo)
	case err == nil:
		p = roleOf(got.GetPermission(), got.GetRoleName())
	case statusOf(err) != http.StatusNotFound:
		return "", r.fail(err, "read what %s may do in %s", who, r.repo)
	}
	r.access.put(who, p)
	return p, nil
}

// roleOf is the role by name when it is one of GitHub's own, else the coarser
// permission that GitHub gives for custom roles.
func roleOf(permission, name string) string {
	if slices.Contains(rankedRoles, name) {
		return name
	}
	if slices.Contains(rankedRoles, permission) {
		return permission
	}
	return "none"
}
