package ghsim

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/ghsim/conformance"
)

// Every route is an operation that GitHub has.
func TestEveryRouteIsGitHubs(t *testing.T) {
	v := conformance.New(t)
	s, err := New(Config{Dir: t.TempDir(), Wrap: v.Middleware})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, rt := range s.routes {
		if rt.pattern == "/graphql" {
			continue
		}
		path := placeholder.ReplaceAllString(rt.pattern, "1")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(rt.method, "/api/v3"+path, strings.NewReader("{}")))
		if rt.auth != "none" && w.Code != http.StatusUnauthorized && w.Code != http.StatusForbidden {
			t.Errorf("%s %s without credentials: %d", rt.method, rt.pattern, w.Code)
		}
	}
	if n := len(v.Checked()); n < 80 {
		t.Errorf("only %d operations were checked", n)
	}
}

func TestRouterTakesSlashesInRefs(t *testing.T) {
	s := &Server{}
	routes := s.routeTable()
	for path, want := range map[string]string{
		"/repos/a/b/commits/sia/issue-1-x/check-runs":             "/repos/{owner}/{repo}/commits/{ref...}/check-runs",
		"/repos/a/b/commits/sia%2Fissue-1/status":                 "/repos/{owner}/{repo}/commits/{ref...}/status",
		"/repos/a/b/compare/main...sia/x":                         "/repos/{owner}/{repo}/compare/{base...}...{head...}",
		"/repos/a/b/branches/a/b/protection":                      "/repos/{owner}/{repo}/branches/{branch...}/protection",
		"/repos/a/b/issues/comments/7":                            "/repos/{owner}/{repo}/issues/comments/{comment}",
		"/repos/a/b/contents/.sia/config.yml":                     "/repos/{owner}/{repo}/contents/{path...}",
		"/repos/a/b/branches/x/protection/required_status_checks": "/repos/{owner}/{repo}/branches/{branch...}/protection/required_status_checks",
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
	routes := (&Server{}).routeTable()
	f.Fuzz(func(t *testing.T, path string) { match(routes, "GET", path) })
}
