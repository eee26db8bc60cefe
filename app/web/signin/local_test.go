package signin_test

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/web/signin"
	"github.com/sia-bot/sia/app/web/viewer"
)

// operated serves pages for this machine only.
func operated(t *testing.T, done *int) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(signin.Local(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			*done++
		}
		if err := json.NewEncoder(w).Encode(viewer.From(r.Context())); err != nil {
			t.Error(err)
		}
	})))
	t.Cleanup(srv.Close)
	return srv
}

func TestPagesAreForThisMachine(t *testing.T) {
	done := 0
	srv := operated(t, &done)
	for host, want := range map[string]int{
		"localhost": 200, "localhost:9090": 200, "127.0.0.1:9090": 200, "[::1]:9090": 200, "LOCALHOST": 200,
		"evil.test": 403, "localhost.evil.test": 403, "10.0.0.7:9090": 403, "127.0.0.1.evil.test": 403, "127.8.9.1:1": 200,
		"[::1]": 200, "[::ffff:127.0.0.1]:9090": 200, "127.0.0.1:9090.evil.test": 403, "localhost:9090.evil.test": 403,
		"[::1]:9090.evil.test": 403, "localhost:evil": 403, "localhost:": 403, "localhost:+90": 403, "localhost:90909": 403,
		"[::1].evil.test": 403, "[::1]evil.test:9090": 403, "[127.0.0.1.evil.test": 403, "localhost.": 403,
		"evil.test:9090": 403, "127.0.0.1:9090:9090": 403, "::1": 403, "0.0.0.0:9090": 403, "127.1:9090": 403,
	} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		req.Host, req.RemoteAddr = host, "127.0.0.1:1234"
		seen := httptest.NewRecorder()
		if srv.Config.Handler.ServeHTTP(seen, req); seen.Code != want {
			t.Errorf("asked for %s: %d, want %d", host, seen.Code, want)
		}
	}
	far := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	far.RemoteAddr = "10.0.0.7:1234"
	seen := httptest.NewRecorder()
	if srv.Config.Handler.ServeHTTP(seen, far); seen.Code != http.StatusForbidden {
		t.Errorf("asked from elsewhere: %d", seen.Code)
	}
}

// The operator's forms carry a token that only their own browser has; another program of this machine, which browsers
// send the same cookies, can't derive it.
func TestOperatorsForms(t *testing.T) {
	done := 0
	srv := operated(t, &done)
	browser := func() (*http.Client, viewer.Viewer) {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &http.Client{Jar: jar}
		resp, err := c.Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var v viewer.Viewer
		if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
			t.Fatal(err)
		}
		return c, v
	}
	mine, me := browser()
	_, other := browser()
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	if !me.Operator || me.Token == "" || me.Token == other.Token || mine.Jar.Cookies(u)[0].Value == me.Token {
		t.Fatalf("%+v and %+v", me, other)
	}
	for _, token := range []string{"", other.Token, mine.Jar.Cookies(u)[0].Value} {
		resp, err := mine.PostForm(srv.URL, url.Values{"csrf": {token}})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%.8q: %d", token, resp.StatusCode)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL,
		strings.NewReader(url.Values{"csrf": {me.Token}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", "http://evil.test")
	resp, err := mine.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden || done != 0 {
		t.Errorf("from another site: %d, %d done", resp.StatusCode, done)
	}
	if resp, err = mine.PostForm(srv.URL, url.Values{"csrf": {me.Token}}); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK || done != 1 {
		t.Errorf("their own form: %d, %d done", resp.StatusCode, done)
	}
}
