package signin_test

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/web/signin"
	"github.com/sia-bot/sia/app/web/viewer"
)

// The link lets one browser in, for two hours: the first in which somebody presses its button.
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
	if code, _, _ := second("/setup/style.css", nil); code != http.StatusOK {
		t.Errorf("the page that the link opens has no style sheet: %d", code)
	}
	// Opening the link, as a chat's preview does, does not use it up, however often.
	for range 10 {
		if code, _, _ := second(link, nil); code != http.StatusOK {
			t.Fatalf("a look at the link: %d", code)
		}
		if code, _, _ := second("/setup", nil); code != http.StatusForbidden {
			t.Fatalf("a look let somebody in: %d", code)
		}
	}
	enter := url.Values{"token": {link[len("/setup?token="):]}}
	for name, try := range map[string]struct {
		path string
		form url.Values
	}{
		"another token":            {"/setup/enter", url.Values{"token": {"x"}}},
		"no token":                 {"/setup/enter", url.Values{}},
		"the token elsewhere":      {"/setup", enter},
		"the token in the address": {"/setup/enter?" + enter.Encode(), url.Values{}},
	} {
		if code, _, _ := second(try.path, try.form); code != http.StatusForbidden {
			t.Errorf("%s: %d", name, code)
		}
	}
	if code, _, _ := second("/setup/enter?"+enter.Encode(), nil); code != http.StatusForbidden {
		t.Errorf("a GET of where the form goes: %d", code)
	}
	code, where, v := first("/setup/enter", enter)
	if code != http.StatusOK || where != srv.URL+"/setup" || !v.Operator || v.Token == "" {
		t.Fatalf("%d at %s: %+v", code, where, v)
	}
	if code, where, _ := first(link, nil); code != http.StatusOK || where != srv.URL+"/setup" {
		t.Errorf("the guest opens the link again: %d at %s", code, where)
	}
	if code, _, _ := second(link, nil); code != http.StatusForbidden {
		t.Errorf("the link a second time: %d", code)
	}
	if code, _, _ := second("/setup/enter", enter); code != http.StatusForbidden {
		t.Errorf("its form a second time: %d", code)
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

// A link that nobody has used is valid for two hours. A new one is made only when it has expired, or its guest's stay
// has. At the end of set-up, nobody gets in by it any more, and the guest stays.
func TestTheLinkExpires(t *testing.T) {
	at := &clock{now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	invitation := signin.NewInvitation("/setup", false, at.Now)
	door := signin.Invited(invitation, http.NotFoundHandler())
	ask := func(method, path, body string, cookies ...*http.Cookie) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for _, c := range cookies {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		door.ServeHTTP(w, r)
		return w
	}
	enter := func(link string) *httptest.ResponseRecorder {
		return ask(http.MethodPost, "/setup/enter", link[len("/setup?"):])
	}
	old := invitation.Link()
	at.Advance(2*time.Hour - time.Second)
	if got := ask(http.MethodGet, old, ""); got.Code != http.StatusOK || invitation.Renew() {
		t.Fatalf("before two hours are over: %d, or it was renewed", got.Code)
	}
	at.Advance(time.Second)
	for _, renewed := range []bool{false, true} {
		if renewed && !invitation.Renew() {
			t.Error("it was not renewed")
		}
		if a, b := ask(http.MethodGet, old, ""), enter(old); a.Code != http.StatusForbidden ||
			b.Code != http.StatusForbidden {
			t.Errorf("the expired link, renewed %v: %d, its form %d", renewed, a.Code, b.Code)
		}
	}
	link := invitation.Link()
	guest := enter(link).Result().Cookies()
	if len(guest) != 1 || link == old {
		t.Fatalf("the new link %s lets nobody in", link)
	}
	invitation.Drop()
	if got := ask(http.MethodGet, "/setup", "", guest...); got.Code != http.StatusNotFound {
		t.Errorf("the guest after set-up: %d", got.Code)
	}
	at.Advance(2 * time.Hour)
	if !invitation.Renew() {
		t.Error("no new link when the guest's stay is over")
	}
	link = invitation.Link()
	invitation.Drop()
	if got := enter(link); got.Code != http.StatusForbidden {
		t.Errorf("the unused link after set-up: %d", got.Code)
	}
}

// The link's page sends its form here, and to no other site.
func TestTheLinksPage(t *testing.T) {
	invitation := signin.NewInvitation("/setup", false, time.Now)
	door := signin.Invited(invitation, http.NotFoundHandler())
	ask := func(method, path, body string, pairs ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for i := 0; i < len(pairs); i += 2 {
			r.Header.Set(pairs[i], pairs[i+1])
		}
		w := httptest.NewRecorder()
		door.ServeHTTP(w, r)
		return w
	}
	link := invitation.Link()
	page := ask(http.MethodGet, link, "")
	token := link[len("/setup?token="):]
	for _, want := range []string{`<form method="post" action="/setup/enter">`, `value="` + token + `"`} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("the page lacks %s: %s", want, page.Body)
		}
	}
	if csp := page.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "form-action 'self'") {
		t.Errorf("the page's policy is %s", csp)
	}
	if head := ask(http.MethodHead, link, ""); head.Code != http.StatusOK || len(head.Result().Cookies()) != 0 {
		t.Errorf("HEAD: %d %v", head.Code, head.Result().Cookies())
	}
	if got := ask(http.MethodPost, "/setup/enter", "token="+token, "Sec-Fetch-Site", "cross-site"); got.Code !=
		http.StatusForbidden {
		t.Errorf("sent by another site: %d", got.Code)
	}
	if got := ask(http.MethodPost, "/setup/enter", "token="+token); got.Code != http.StatusSeeOther {
		t.Errorf("sent by the page: %d", got.Code)
	}
}
