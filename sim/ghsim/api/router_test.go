package api

import (
	"strings"
	"testing"
)

func TestRouterTakesSlashesInRefs(t *testing.T) {
	routes := routeTable()
	for path, want := range map[string]string{
		"/repos/a/b/commits/sia/issue-1-x/check-runs": "/repos/{owner}/{repo}/commits/{ref...}/check-runs",
		"/repos/a/b/commits/sia%2Fissue-1/status":     "/repos/{owner}/{repo}/commits/{ref...}/status",
		"/repos/a/b/branches/a/b/protection":          "/repos/{owner}/{repo}/branches/{branch...}/protection",
		"/repos/a/b/issues/comments/7":                "/repos/{owner}/{repo}/issues/comments/{comment}",
		"/repos/a/b/contents/.sia/config.yml":         "/repos/{owner}/{repo}/contents/{path...}",
		"/repos/a/b/branches/x/protection/required_status_checks": "/repos/{owner}/{repo}/branches/{branch...}" +
			"/protection/required_status_checks",
	} {
		rt, params, _ := match(routes, "GET", path)
		if rt == nil || rt.pattern != want {
			t.Errorf("%s goes to %v, want %s", path, rt, want)
			continue
		}
		if ref := params["ref"]; strings.Contains(path, "%2F") && ref != "sia/issue-1" {
			t.Errorf("ref %q", ref)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("/repos/a/b/commits/%zz/status")
	routes := routeTable()
	f.Fuzz(func(t *testing.T, path string) { match(routes, "GET", path) })
}
