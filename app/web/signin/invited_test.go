package signin_test

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/web/signin"
	"github.com/sia-bot/sia/app/web/viewer"
)

// The link lets the first browser in, for two hours, and nobody else.
func TestTheLinkLetsOneBrowserIn(t *testing.T) {
	at := &clock{now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	invitation := signin.NewInvitation("/setup", false, at.Now)
	srv := httptest.NewServer(signin.Invited(invitation, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewEncoder(w).Encode(viewer.From(r.Context())); err != nil {
			t.Error(err)
		}
	})))
	defer srv.Close()
	browser := func() func(path string, form url.Values) (int, string, viewer.Viewer) {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &http.Client{Jar: jar}
		return func(path string, form url.Values) (int, string, viewer.Viewer) {
			t.Helper()
			ask := func() (*http.Response, error) { return c.Get(srv.URL + path) }
			if form != nil {
				ask = func() (*http.Response, error) { return c.PostForm(srv.URL+path, form) }
			}
			resp, err := ask()
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			var v viewer.Viewer
			_ = json.NewDecoder(resp.Body).Decode(&v) // a refusal is no JSON
			return resp.StatusCode, resp.Request.URL.String(), v
		}
	}
	link := invitation.Link()
	first, second := browser(), browser()
	for _, path := range []string{"/setup", "/", "/setup?token=", "/setup?token=x", "/setup/done?token=" + link,
		link[:len(link)-1]} {
		if code, _, _ := second(path, nil); code != http.StatusForbidden {
			t.Errorf("%s: %d", path, code)
		}
	}
	code, where, v := first(link, nil)
	if code != http.StatusOK || where != srv.URL+"/setup" || !v.Operator || v.Token == "" {
		t.Fatalf("%d at %s: %+v", code, where, v)
	}
	if code, _, _ := second(link, nil); code != http.StatusForbidden {
		t.Errorf("the link a second time: %d", code)
	}
	if code, _, _ := first("/setup", url.Values{"csrf": {"x"}}); code != http.StatusForbidden {
		t.Errorf("a form with another token: %d", code)
	}
	if code, _, _ := first("/setup", url.Values{"csrf": {v.Token}}); code != http.StatusOK {
		t.Errorf("the guest's form: %d", code)
	}
	at.Advance(2 * time.Hour)
	if code, _, _ := first("/setup", nil); code != http.StatusForbidden {
		t.Errorf("two hours later: %d", code)
	}
}
