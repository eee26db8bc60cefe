package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

func TestSelf(t *testing.T) {
	w := start(t, "/")
	ctx := context.Background()
	for range 2 {
		got := must[Self](t)(w.app.Self(ctx))
		want := Self{ID: 7, Slug: "sia", Login: "sia[bot]", UserID: 77, Name: "SIA",
			Permissions: Permissions{"issues": "write"}}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	if n := len(w.got("GET /app")); n != 1 {
		t.Errorf("asked %d times", n)
	}
	if u := w.got("GET /users"); len(u) != 1 || u[0].auth != "" {
		t.Errorf("the bot's user: %+v", u)
	}
	_ = w.clock.sleep(ctx, selfTTL)
	_ = must[Self](t)(w.app.Self(ctx))
	if n := len(w.got("GET /app")); n != 2 {
		t.Errorf("asked %d times after an hour", n)
	}
}

// A server in private mode refuses unauthenticated requests for an account: the token of any installation works.
func TestBotWhereNobodyMayAskUnsigned(t *testing.T) {
	w := start(t, "/")
	handler := w.srv.Config.Handler
	w.srv.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/users/") && r.Header.Get("Authorization") == "" {
			answer(rw, 401, `{"message":"Must authenticate to access this API."}`)
			return
		}
		handler.ServeHTTP(rw, r)
	})
	installed := `[]`
	w.HandleFunc("GET /app/installations", func(rw http.ResponseWriter, _ *http.Request) { answer(rw, 200, installed) })
	ctx := t.Context()
	if got := must[Self](t)(w.app.Self(ctx)); got.UserID != 0 {
		t.Errorf("without an installation: %+v", got)
	}
	installed = `[{"id":1,"account":{"login":"gone"},"permissions":{},"suspended_at":"2026-01-01T00:00:00Z"},
		{"id":2,"account":{"login":"acme"},"permissions":{}}]`
	_ = w.clock.sleep(ctx, selfRetryAfter)
	if got := must[Self](t)(w.app.Self(ctx)); got.UserID != 77 {
		t.Errorf("got %+v", got)
	}
	want := []tokenRequest{{Installation: "2", Permissions: listPermissions()}}
	if d := cmp.Diff(want, w.minted()); d != "" {
		t.Error(d)
	}
}

// While GitHub fails, the cached record of the app is used, with few retries.
func TestSelfWhileGitHubFails(t *testing.T) {
	w := start(t, "/")
	fails := false
	handler := w.srv.Config.Handler
	w.srv.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if fails && r.URL.Path == "/app" {
			answer(rw, 401, `{"message":"Bad credentials"}`)
			return
		}
		handler.ServeHTTP(rw, r)
	})
	ctx := t.Context()
	want := must[Self](t)(w.app.Self(ctx))
	_, fails = w.clock.sleep(ctx, selfTTL), true
	for range 3 {
		if d := cmp.Diff(want, must[Self](t)(w.app.Self(ctx))); d != "" {
			t.Error(d)
		}
	}
	if n := strings.Count(w.logs.String(), "read the app itself"); n != 1 {
		t.Errorf("asked %d times: %s", n, w.logs)
	}
	_, fails = w.clock.sleep(ctx, time.Minute), false
	_ = must[Self](t)(w.app.Self(ctx))
	if n := len(w.got("GET /app")); n != 2 {
		t.Errorf("answered %d times", n)
	}
}

func TestAuthor(t *testing.T) {
	w := start(t, "/")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := gitops.Signature{Name: "sia[bot]", Email: "77+sia[bot]@users.noreply.github.com", When: at}
	if d := cmp.Diff(want, must[gitops.Signature](t)(w.app.Author(context.Background(), at))); d != "" {
		t.Error(d)
	}

	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if got, err := start(t, "/").app.Author(cancelled, at); err == nil || got != (gitops.Signature{}) {
		t.Errorf("an app that can't be read is %+v, %v", got, err)
	}
}

func TestNoreply(t *testing.T) {
	for _, c := range []struct {
		api   string
		id    int64
		login string
		want  string
	}{
		{"", 7, "ada", "7+ada@users.noreply.github.com"},
		{"", 77, "sia[bot]", "77+sia[bot]@users.noreply.github.com"},
		{"", 0, "sia[bot]", "sia[bot]@users.noreply.github.com"},
		{"https://git.corp.example:8443/api/v3/", 7, "ada", "7+ada@users.noreply.git.corp.example"},
		{"https://api.acme.ghe.com/", 7, "ada", "7+ada@users.noreply.acme.ghe.com"},
		{"http://127.0.0.1:99/api/v3/", 7, "ada", "7+ada@users.noreply.github.com"},
	} {
		a := must[*App](t)(New(Config{AppID: 1, PrivateKey: testPEM(), BaseURL: c.api, Secrets: &secret.Masker{},
			Writes: Uncounted{}}))
		if got := a.Noreply(c.id, c.login); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestRemote(t *testing.T) {
	w := start(t, "/")
	got := w.repo().Remote()
	if got.Key != "1/42" || got.URL != w.srv.URL+"/acme/shop.git" {
		t.Errorf("key %s, address %s", got.Key, got.URL)
	}
	token := must[string](t)(got.Token(context.Background()))
	if d := cmp.Diff(must[string](t)(w.repo().Remote().Token(context.Background())), token); d != "" {
		t.Error(d)
	}
}

func TestInstallationsAndRepositories(t *testing.T) {
	w := start(t, "/")
	w.json("GET /app/installations", 200,
		`[{"id":1,"account":{"login":"acme"},"permissions":{"checks":"write"}},`+
			`{"id":2,"account":{"login":"gone"},"permissions":{},
			"suspended_at":"2026-01-01T00:00:00Z"}]`)
	var repos []any
	for i := range 130 {
		repos = append(repos, map[string]any{"id": i + 1, "name": fmt.Sprint("r", i),
			"owner":          map[string]any{"login": "acme"},
			"default_branch": "main", "private": true})
	}
	w.HandleFunc("GET /installation/repositories",
		func(rw http.ResponseWriter, req *http.Request) { servePages(rw, req, repos, "repositories") })
	ctx := context.Background()
	ins := must[[]Installation](t)(w.app.Installations(ctx))
	want := []Installation{{ID: 1, Account: "acme", Permissions: Permissions{"checks": "write"}},
		{ID: 2, Account: "gone", Suspended: true, Permissions: Permissions{}}}
	if d := cmp.Diff(want, ins); d != "" {
		t.Error(d)
	}
	rs := must[[]Repository](t)(w.app.Repositories(ctx, 1))
	if len(rs) != 130 {
		t.Fatalf("%d repositories", len(rs))
	}
	if d := cmp.Diff(Repository{Repo: sia.Repo{ID: 130, Owner: "acme", Name: "r129"}, DefaultBranch: "main",
		Private: true}, rs[129]); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]tokenRequest{{Installation: "1", Permissions: map[string]string{"metadata": "read"}}},
		w.minted()); d != "" {
		t.Error(d)
	}
}

func TestRepositoryAndHead(t *testing.T) {
	w := start(t, "/")
	w.json("GET /repos/acme/shop", 200,
		`{"id":42,"name":"shop","owner":{"login":"acme"},"default_branch":"trunk","archived":true}`)
	w.json("GET /repos/acme/shop/git/ref/heads/sia/issue-1", 200,
		`{"ref":"refs/heads/sia/issue-1","object":{"sha":"abc"}}`)
	ctx := context.Background()
	got := must[Repository](t)(w.repo().Repository(ctx))
	if got.DefaultBranch != "trunk" || !got.Archived {
		t.Errorf("got %+v", got)
	}
	if sha, ok, err := w.repo().Head(ctx, "sia/issue-1"); sha != "abc" || !ok || err != nil {
		t.Errorf("%s %v %v", sha, ok, err)
	}
	if _, ok, err := w.repo().Head(ctx, "nope"); ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
}

func TestFailedDeliveries(t *testing.T) {
	w := start(t, "/")
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	item := func(id int, guid string, code int, age time.Duration) string {
		return fmt.Sprintf(`{"id":%d,"guid":%q,"event":"issues","status_code":%d,"delivered_at":%q,"installation_id":1}`, id,
			guid, code, at.Add(-age).Format(time.RFC3339))
	}
	w.HandleFunc("GET /app/hook/deliveries", func(rw http.ResponseWriter, req *http.Request) {
		if got := req.URL.Query().Get("status"); got != "failure" {
			t.Errorf("asked for status %q", got)
		}
		switch req.URL.Query().Get("cursor") {
		case "":
			rw.Header().Set("Link", `<http://x/app/hook/deliveries?cursor=v1_2>; rel="next"`)
			answer(rw, 200, "["+item(8, "lost", 502, 1)+","+item(7, "healed", 502, 2)+"]")
		case "v1_2":
			rw.Header().Set("Link", `<http://x/app/hook/deliveries?cursor=v1_3>; rel="next"`)
			answer(rw, 200, "["+item(6, "lost", 504, 3)+","+item(5, "of an old server", 202, 4)+","+
				item(4, "old", 500, 2*time.Hour)+"]")
		default:
			t.Error("read on beyond the time asked for")
			answer(rw, 200, "[]")
		}
	})
	w.json("POST /app/hook/deliveries/8/attempts", 202, `{}`)
	w.json("POST /app/hook/deliveries/9/attempts", 404, `{"message":"Not Found"}`)
	ctx := context.Background()
	got, complete, err := w.app.FailedDeliveries(ctx, at.Add(-time.Hour))
	if err != nil || !complete {
		t.Errorf("whole: %v, %v", complete, err)
	}
	want := []Delivery{
		{ID: 8, GUID: "lost", Event: "issues", First: at.Add(-3).Truncate(time.Second),
			Last: at.Add(-1).Truncate(time.Second), Tries: 2},
		{ID: 7, GUID: "healed", Event: "issues", First: at.Add(-2).Truncate(time.Second),
			Last: at.Add(-2).Truncate(time.Second), Tries: 1}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err := w.app.Redeliver(ctx, 8); err != nil {
		t.Error(err)
	}
	if err := w.app.Redeliver(ctx, 9); !sia.IsPermanent(err) {
		t.Errorf("got %v", err)
	}
}

// The next look reads the answered deliveries over the limit, and begins where the last one ended.
func TestAnsweredDeliveries(t *testing.T) {
	w := start(t, "/")
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	const all = maxAnsweredPages + 3 // one delivery per page
	w.HandleFunc("GET /app/hook/deliveries", func(rw http.ResponseWriter, req *http.Request) {
		if got := req.URL.Query().Get("status"); got != "success" {
			t.Errorf("asked for status %q", got)
		}
		n := 0
		if cursor := req.URL.Query().Get("cursor"); cursor != "" {
			if _, err := fmt.Sscanf(cursor, "v1_%d", &n); err != nil {
				t.Error(err)
			}
		}
		code, age := 202, time.Duration(n)*time.Second
		if n == 1 {
			code = 502 // an old server ignores the filter
		}
		if n == all {
			age = 2 * time.Hour
		}
		if n > all {
			t.Error("read on beyond the time asked for")
		}
		rw.Header().Set("Link", fmt.Sprintf(`<http://x/app/hook/deliveries?cursor=v1_%d>; rel="next"`, n+1))
		answer(rw, 200, fmt.Sprintf(`[{"id":%d,"guid":"g%[1]d","event":"issues","status_code":%d,"delivered_at":%q}]`, n+1,
			code, at.Add(-age).Format(time.RFC3339)))
	})
	var got []Delivery
	cursor, looks := "", 0
	for looks == 0 || cursor != "" {
		some, next, err := w.app.AnsweredDeliveries(t.Context(), at.Add(-time.Hour), cursor)
		if err != nil {
			t.Fatal(err)
		}
		got, cursor = append(got, some...), next
		looks++
	}
	if len(got) != all-1 || looks != 2 {
		t.Fatalf("%d deliveries in %d looks, want %d in 2", len(got), looks, all-1)
	}
	want := Delivery{ID: 3, GUID: "g3", Event: "issues", First: at.Add(-2 * time.Second), Last: at.Add(-2 * time.Second),
		Tries: 1, Answered: true}
	if d := cmp.Diff(want, got[1]); d != "" {
		t.Error(d)
	}
}
