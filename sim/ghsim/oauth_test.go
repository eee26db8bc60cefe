package ghsim_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sim/ghsim"
)

// form posts a form as a browser on a page of origin would.
func (s *sim) form(path, origin string, fields url.Values) (*http.Response, string) {
	s.t.Helper()
	return s.do("POST", path, "", fields.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Origin", origin,
		"Accept", "application/json")
}

// signIn goes through the web application flow.
func (s *sim) signIn(login string) string {
	s.t.Helper()
	const back = "http://127.0.0.1:9/callback?x=1"
	q := url.Values{"client_id": {s.app.ClientID}, "redirect_uri": {back}, "state": {"st"}}
	if resp, body := s.do("GET", "/login/oauth/authorize?"+q.Encode(), "", ""); resp.StatusCode != 200 ||
		!strings.Contains(body, `value="`+login+`"`) {
		s.t.Fatalf("sign-in page: %d %s", resp.StatusCode, body)
	}
	q.Set("login", login)
	resp, body := s.form("/login/oauth/authorize", s.URL(), q)
	u, err := resp.Location()
	if err != nil || u.Query().Get("state") != "st" || u.Query().Get("x") != "1" {
		s.t.Fatalf("signed in: %d %s %v", resp.StatusCode, body, u)
	}
	in := url.Values{"client_id": {s.app.ClientID}, "client_secret": {s.app.ClientSecret}, "code": {u.Query().Get("code")}}
	_, body = s.form("/login/oauth/access_token", s.URL(), in)
	var out struct {
		AccessToken string `json:"access_token"`
	}
	must(s.t, json.Unmarshal([]byte(body), &out))
	if out.AccessToken == "" {
		s.t.Fatalf("access token: %s", body)
	}
	if _, again := s.form("/login/oauth/access_token", s.URL(), in); !strings.Contains(again, "bad_verification_code") {
		s.t.Errorf("the code worked twice: %s", again)
	}
	return out.AccessToken
}

func TestPeopleSignIn(t *testing.T) {
	s := newSim(t, nil)
	_, err := s.CreateRepo("acme", "hidden", ghsim.RepoSpec{Files: map[string]string{"a": "a"}})
	must(t, err)
	_, err = s.Install(s.app.ID, "acme", "hidden")
	must(t, err)
	c := s.client(s.signIn("dana"))
	u, _, err := c.Users.Get(ctx, "")
	must(t, err)
	if u.GetLogin() != "dana" {
		t.Errorf("signed in as %s", u.GetLogin())
	}
	is, _, err := c.Apps.ListUserInstallations(ctx, nil)
	must(t, err)
	if len(is) != 1 || is[0].GetID() != s.inst {
		t.Errorf("installations %v", is)
	}
	rs, _, err := c.Apps.ListUserRepos(ctx, s.inst, nil)
	must(t, err)
	if rs.GetTotalCount() != 1 || rs.Repositories[0].GetFullName() != repoName {
		t.Errorf("repositories %v", rs)
	}
	r, _, err := c.Repositories.Get(ctx, "acme", "shop")
	must(t, err)
	if !r.GetPermissions()["push"] || r.GetPermissions()["admin"] {
		t.Errorf("permissions %v", r.GetPermissions())
	}
	if _, resp, _ := c.Repositories.Get(ctx, "acme", "hidden"); resp.StatusCode != 404 {
		t.Errorf("a repository that dana cannot read: %d", resp.StatusCode)
	}
	i, _, err := c.Issues.Create(ctx, "acme", "shop", &github.IssueRequest{Title: ptr("T")})
	must(t, err)
	if i.GetUser().GetLogin() != "dana" {
		t.Errorf("by %s", i.GetUser().GetLogin())
	}
	stranger := s.client(s.signIn("mallory"))
	if is, _, err := stranger.Apps.ListUserInstallations(ctx, nil); err != nil || len(is) != 0 {
		t.Errorf("a stranger sees %v, %v", is, err)
	}
	s.clock.Advance(9 * time.Hour)
	if _, resp, _ := c.Users.Get(ctx, ""); resp.StatusCode != 401 {
		t.Errorf("nine hours later: %d", resp.StatusCode)
	}
	must(t, s.SetCallbackURL(s.app.ID, "https://sia.example/"))
	if resp, _ := s.do("GET", "/login/oauth/authorize?client_id="+s.app.ClientID+
		"&redirect_uri=https%3A%2F%2Fevil.example%2F", "", ""); resp.StatusCode != 404 {
		t.Errorf("an address that is not the app's: %d", resp.StatusCode)
	}
}

func TestRegisteringFromAManifest(t *testing.T) {
	s := newSim(t, nil, func(c *ghsim.Config) { c.AppKeyPEM = nil })
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer hook.Close()
	manifest := `{"name":"My SIA","url":"http://127.0.0.1:9","redirect_url":"http://127.0.0.1:9/setup",
		"hook_attributes":{"url":` + quote(hook.URL) + `},
		"default_permissions":{"issues":"write"},"default_events":["issues"]}`
	resp, body := s.form("/settings/apps/new?state=st", "http://127.0.0.1:9", url.Values{"manifest": {manifest}})
	if resp.StatusCode != 200 || !strings.Contains(body, "issues: write") {
		t.Fatalf("register: %d %s", resp.StatusCode, body)
	}
	if resp, _ := s.form("/settings/apps/create", "http://127.0.0.1:9",
		url.Values{"manifest": {manifest}}); resp.StatusCode != 403 {
		t.Errorf("another origin created an app: %d", resp.StatusCode)
	}
	resp, body = s.form("/settings/apps/create", s.URL(), url.Values{"manifest": {manifest}, "state": {"st"}})
	u, err := resp.Location()
	if err != nil {
		t.Fatalf("create: %d %s", resp.StatusCode, body)
	}
	c, err := github.NewClient(nil).WithEnterpriseURLs(s.URL(), s.URL())
	must(t, err)
	cfg, _, err := c.Apps.CompleteAppManifest(ctx, u.Query().Get("code"))
	must(t, err)
	if cfg.GetSlug() != "my-sia" || cfg.GetPEM() == "" || cfg.GetWebhookSecret() == "" || cfg.GetClientSecret() == "" {
		t.Errorf("configuration %v", cfg)
	}
	if _, _, err := c.Apps.CompleteAppManifest(ctx, u.Query().Get("code")); err == nil {
		t.Error("the code worked twice")
	}
	ds := s.Deliveries()
	if last := ds[len(ds)-1]; last.Event != "ping" {
		t.Errorf("the last delivery is %s, want a ping", last.Event)
	}
	if resp, body := s.do("GET", "/apps/my-sia/installations/new", "", ""); resp.StatusCode != 200 ||
		!strings.Contains(body, repoName) {
		t.Errorf("install page: %d %s", resp.StatusCode, body)
	}
	resp, body = s.form("/apps/my-sia/installations/new", s.URL(), url.Values{"account": {"acme"}, "repo": {repoName}})
	if resp.StatusCode != 303 || !strings.Contains(resp.Header.Get("Location"), "installation_id=") {
		t.Errorf("install: %d %s", resp.StatusCode, body)
	}
	if es := s.Timeline("installation.created"); !slices.ContainsFunc(es,
		func(e ghsim.Entry) bool { return e.Ref == "my-sia" }) {
		t.Errorf("timeline %v", es)
	}
	s.settle()
}

func quote(s string) string { b, _ := json.Marshal(s); return string(b) }

// A sign-in with a challenge needs its verifier, and the same browser.
func TestSigningInIsBoundToWhoBegan(t *testing.T) {
	s := newSim(t, nil)
	const back, verifier = "https://sia.example/signin/callback", "a-verifier-of-forty-three-characters-or-more-0"
	must(t, s.SetCallbackURL(s.app.ID, back))
	sum := sha256.Sum256([]byte(verifier))
	exchange := func(verifier, redirect string) string {
		q := url.Values{"client_id": {s.app.ClientID}, "redirect_uri": {back}, "login": {"dana"},
			"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}}
		resp, _ := s.form("/login/oauth/authorize", s.URL(), q)
		u, err := resp.Location()
		must(t, err)
		_, body := s.form("/login/oauth/access_token", s.URL(),
			url.Values{"client_id": {s.app.ClientID}, "client_secret": {s.app.ClientSecret},
				"code": {u.Query().Get("code")}, "code_verifier": {verifier}, "redirect_uri": {redirect}})
		return body
	}
	if got := exchange("another", back); !strings.Contains(got, "bad_verification_code") {
		t.Errorf("another verifier: %s", got)
	}
	if got := exchange(verifier, back+"/x"); !strings.Contains(got, "redirect_uri_mismatch") {
		t.Errorf("another address: %s", got)
	}
	var in struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int    `json:"expires_in"`
	}
	must(t, json.Unmarshal([]byte(exchange(verifier, back)), &in))
	if in.ExpiresIn != 8*60*60 {
		t.Errorf("it lasts %d s", in.ExpiresIn)
	}
	c := s.client(in.AccessToken)
	_, _, err := c.Users.Get(ctx, "")
	must(t, err)
	app := (&github.BasicAuthTransport{Username: s.app.ClientID, Password: s.app.ClientSecret}).Client()
	client, err := github.NewClient(app).WithEnterpriseURLs(s.URL(), s.URL())
	must(t, err)
	_, err = client.Authorizations.Revoke(ctx, s.app.ClientID, in.AccessToken)
	must(t, err)
	if _, resp, _ := c.Users.Get(ctx, ""); resp.StatusCode != 401 {
		t.Errorf("signed out: %d", resp.StatusCode)
	}
}

// A public repository is not listed for people without a role: reading what is public is no access.
func TestPublicRepositoriesAreNobodysInParticular(t *testing.T) {
	s := newSim(t, nil)
	_, err := s.CreateRepo("acme", "open", ghsim.RepoSpec{Files: map[string]string{"a": "a"}, Public: true})
	must(t, err)
	_, err = s.Install(s.app.ID, "acme", "open")
	must(t, err)
	is, _, err := s.client(s.signIn("mallory")).Apps.ListUserInstallations(ctx, nil)
	must(t, err)
	if len(is) != 0 {
		t.Errorf("installations %v", is)
	}
}

func TestAnOrganizationRegistersAnApp(t *testing.T) {
	s := newSim(t, nil)
	s.CreateOrg("umbrella")
	manifest := `{"name":"SIA","url":"http://127.0.0.1:9","redirect_url":"http://127.0.0.1:9/setup"}`
	for org, want := range map[string]int{"umbrella": 200, "acme": 404, "nobody": 404} {
		if resp, body := s.form("/organizations/"+org+"/settings/apps/new", "http://127.0.0.1:9",
			url.Values{"manifest": {manifest}}); resp.StatusCode != want {
			t.Errorf("%s: %d %s", org, resp.StatusCode, body)
		}
	}
	long := `{"name":"A name of thirty-five characters, no","url":"http://h","redirect_url":"http://h"}`
	resp, _ := s.form("/settings/apps/new", "http://127.0.0.1:9", url.Values{"manifest": {long}})
	if resp.StatusCode != 404 {
		t.Errorf("a long name: %d", resp.StatusCode)
	}
}
