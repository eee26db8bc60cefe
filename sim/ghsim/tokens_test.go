package ghsim_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/golang-jwt/jwt/v4"
	"github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sim/ghsim"
)

func TestAppTokensAreVerified(t *testing.T) {
	s := newSim(t, nil)
	for name, c := range map[string]struct {
		change func(*jwt.RegisteredClaims)
		code   int
	}{
		"good":         {nil, 200},
		"client id":    {func(c *jwt.RegisteredClaims) { c.Issuer = s.app.ClientID }, 200},
		"other issuer": {func(c *jwt.RegisteredClaims) { c.Issuer = "42" }, 401},
		"expired": {func(c *jwt.RegisteredClaims) { c.ExpiresAt = jwt.NewNumericDate(s.clock.Now().Add(-time.Second)) },
			401},
		"lives too long": {func(c *jwt.RegisteredClaims) { c.ExpiresAt = jwt.NewNumericDate(s.clock.Now().Add(time.Hour)) },
			401},
		"from tomorrow": {func(c *jwt.RegisteredClaims) { c.IssuedAt = jwt.NewNumericDate(s.clock.Now().Add(time.Hour)) },
			401},
	} {
		if resp, body := s.do("GET", "/api/v3/app", s.jwt(c.change), ""); resp.StatusCode != c.code {
			t.Errorf("%s: %d %s, want %d", name, resp.StatusCode, body, c.code)
		}
	}
	forged, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{Issuer: "1"}).SignedString([]byte("x"))
	must(t, err)
	if resp, _ := s.do("GET", "/api/v3/app", forged, ""); resp.StatusCode != 401 {
		t.Errorf("forged: %d", resp.StatusCode)
	}
}

func TestInstallationTokensAreScoped(t *testing.T) {
	s := newSim(t, nil)
	_, err := s.CreateRepo("acme", "other", ghsim.RepoSpec{Files: map[string]string{"a": "a"}})
	must(t, err)
	_, err = s.CreateRepo("acme", "third", ghsim.RepoSpec{Files: map[string]string{"a": "a"}})
	must(t, err)
	_, err = s.Install(s.app.ID, "acme", "other")
	must(t, err)
	narrow := s.token(&github.InstallationTokenOptions{Repositories: []string{"shop"},
		Permissions: &github.InstallationPermissions{Issues: ptr("read"), Metadata: ptr("read")}})
	for path, want := range map[string]int{
		"GET /api/v3/repos/acme/shop":           200,
		"GET /api/v3/repos/acme/shop/issues":    200,
		"POST /api/v3/repos/acme/shop/issues":   403,
		"GET /api/v3/repos/acme/shop/pulls":     403,
		"GET /api/v3/repos/acme/other/issues":   404,
		"GET /api/v3/repos/acme/third/issues":   404,
		"GET /api/v3/app/installations":         401,
		"GET /api/v3/installation/repositories": 200,
	} {
		method, p, _ := cut(path)
		if resp, body := s.do(method, p, narrow, `{"title":"x"}`); resp.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", path, resp.StatusCode, body, want)
		}
	}
	for name, opts := range map[string]*github.InstallationTokenOptions{
		"repository out of scope": {Repositories: []string{"third"}},
		"permission not granted":  {Permissions: &github.InstallationPermissions{Administration: ptr("write")}},
	} {
		_, _, err := s.client(s.jwt(nil)).Apps.CreateInstallationToken(ctx, s.inst, opts)
		var e *github.ErrorResponse
		if !errors.As(err, &e) || e.Response.StatusCode != 422 {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.clock.Advance(time.Hour)
	if resp, _ := s.do("GET", "/api/v3/repos/acme/shop", narrow, ""); resp.StatusCode != 401 {
		t.Errorf("an hour later: %d", resp.StatusCode)
	}
	if resp, _ := s.do("GET", "/api/v3/repos/acme/shop", "", ""); resp.StatusCode != 401 {
		t.Errorf("without credentials: %d", resp.StatusCode)
	}
}

func cut(s string) (string, string, bool) {
	for i := range s {
		if s[i] == ' ' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// The application's authentication library uses the wall clock.
func TestGhinstallation(t *testing.T) {
	s := newSim(t, nil, func(c *ghsim.Config) { c.Clock = nil })
	tr, err := ghinstallation.New(http.DefaultTransport, s.app.ID, s.inst, s.app.PrivateKeyPEM)
	must(t, err)
	tr.BaseURL = s.URL() + "/api/v3"
	c, err := github.NewClient(&http.Client{Transport: tr}).WithEnterpriseURLs(s.URL(), s.URL())
	must(t, err)
	r, _, err := c.Repositories.Get(ctx, "acme", "shop")
	must(t, err)
	if r.GetDefaultBranch() != "main" || !r.GetPrivate() {
		t.Errorf("repository %v", r)
	}
	rs, _, err := c.Apps.ListRepos(ctx, nil)
	must(t, err)
	if rs.GetTotalCount() != 1 {
		t.Errorf("repositories %v", rs)
	}
	limits, _, err := c.RateLimit.Get(ctx)
	must(t, err)
	if limits.Core.Limit != 5000 || limits.Core.Remaining >= 5000 {
		t.Errorf("limits %+v", limits.Core)
	}
	u, _, err := c.Users.Get(ctx, "dana")
	must(t, err)
	if u.GetType() != "User" {
		t.Errorf("user %v", u)
	}
}

func TestUninstallAndSuspend(t *testing.T) {
	s := newSim(t, nil)
	tok := s.token(nil)
	must(t, s.Suspend(s.inst, true))
	if resp, _ := s.do("GET", "/api/v3/repos/acme/shop", tok, ""); resp.StatusCode != 403 {
		t.Errorf("suspended: %d", resp.StatusCode)
	}
	must(t, s.Suspend(s.inst, false))
	if resp, _ := s.do("GET", "/api/v3/repos/acme/shop", tok, ""); resp.StatusCode != 200 {
		t.Errorf("resumed: %d", resp.StatusCode)
	}
	must(t, s.SetAppPermissions(s.app.ID, map[string]string{"issues": "write"}))
	if resp, _ := s.do("GET", "/api/v3/repos/acme/shop/pulls", tok, ""); resp.StatusCode != 403 {
		t.Errorf("permission taken away: %d", resp.StatusCode)
	}
	_, err := s.CreateRepo("acme", "other", ghsim.RepoSpec{Files: map[string]string{"a": "a"}})
	must(t, err)
	_, err = s.Install(s.app.ID, "acme", "other")
	must(t, err)
	must(t, s.RemoveFromInstallation(s.inst, "acme/other"))
	jwt := s.jwt(nil)
	for _, p := range []string{"/app", "/app/installations", "/repos/acme/shop/installation", "/app/hook/config"} {
		if resp, body := s.do("GET", "/api/v3"+p, jwt, ""); resp.StatusCode != 200 {
			t.Errorf("%s: %d %s", p, resp.StatusCode, body)
		}
	}
	must(t, s.Uninstall(s.inst))
	if resp, _ := s.do("GET", "/api/v3/installation/repositories", tok, ""); resp.StatusCode != 401 {
		t.Errorf("uninstalled: %d", resp.StatusCode)
	}
	if resp, _ := s.do("GET", "/api/v3/repos/acme/shop/installation", jwt, ""); resp.StatusCode != 404 {
		t.Errorf("installation of an uninstalled app: %d", resp.StatusCode)
	}
	got := names(s.settle())
	want := []string{"installation.suspend", "installation.unsuspend", "installation.new_permissions_accepted",
		"installation_repositories.added", "installation_repositories.removed", "installation.deleted"}
	if len(got) < len(want) || !equal(got[len(got)-len(want):], want) {
		t.Errorf("events %v, want the last to be %v", got, want)
	}
}

func equal(a, b []string) bool {
	for i := range a {
		if len(a) != len(b) || a[i] != b[i] {
			return false
		}
	}
	return true
}
