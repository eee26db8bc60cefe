package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/ghsim/api"
	"github.com/sia-bot/sia/sim/ghsim/conformance"
)

// Every route is an operation that GitHub has.
func TestEveryRouteIsGitHubs(t *testing.T) {
	v := conformance.New(t)
	s, err := ghsim.New(ghsim.Config{Dir: t.TempDir(), Wrap: v.Middleware})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, rt := range api.Routes() {
		if rt.Pattern == "/graphql" {
			continue
		}
		path := api.Placeholder.ReplaceAllString(rt.Pattern, "1")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(rt.Method, "/api/v3"+path, strings.NewReader("{}")))
		if rt.Auth != "none" && w.Code != http.StatusUnauthorized && w.Code != http.StatusForbidden {
			t.Errorf("%s %s without credentials: %d", rt.Method, rt.Pattern, w.Code)
		}
	}
	if n := len(v.Checked()); n < 80 {
		t.Errorf("only %d operations were checked", n)
	}
}
