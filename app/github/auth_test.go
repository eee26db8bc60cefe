package github

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

const issue12 = `{"number":12,"title":"T","body":"B","state":"open","user":{"login":"ann","id":5},
	"labels":[{"id":8,"name":"sia"}]}`

func TestTokensAreNarrowedAndShared(t *testing.T) {
	w := start(t, "/")
	w.json("GET /repositories/42/issues/12", 200, issue12)
	ctx := context.Background()
	for range 3 {
		got, err := w.repo().Issue(ctx, 12)
		if err != nil {
			t.Fatal(err)
		}
		want := Issue{Number: 12, Title: "T", Body: "B", State: "open", Labels: []string{"sia"}, LabelIDs: []int64{8},
			Author: "ann", AuthorID: 5}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	token := must[string](t)(w.repo().Remote().Token(ctx))
	if token != "ghs_secretsecret0002" {
		t.Errorf("token for git is %q, want one of its own", token)
	}
	want := []tokenRequest{{
		Installation: "1", RepositoryIDs: []int64{42},
		Permissions: map[string]string{
			"metadata": "read", "contents": "write", "issues": "write", "pull_requests": "write",
			"checks": "write", "actions": "write", "statuses": "read",
		},
	}, {
		Installation: "1", RepositoryIDs: []int64{42},
		Permissions: map[string]string{"metadata": "read", "contents": "write"},
	}}
	if d := cmp.Diff(want, w.minted()); d != "" {
		t.Error(d)
	}
}

func TestRefusedTokenIsRenewedOnce(t *testing.T) {
	w := start(t, "/")
	w.json("POST /repos/acme/shop/issues/12/reactions", 201, `{"id":1}`)
	ctx := context.Background()
	if err := w.repo().React(ctx, sia.Origin{OnIssue: 12}, "eyes"); err != nil {
		t.Fatal(err)
	}
	w.revoke()
	_ = w.clock.sleep(ctx, newTokenPeriod)
	if err := w.repo().React(ctx, sia.Origin{OnIssue: 12}, "rocket"); err != nil {
		t.Fatal(err)
	}
	posts := w.got("POST /repos")
	if len(posts) != 3 || posts[1].body != posts[2].body || !strings.Contains(posts[2].body, "rocket") {
		t.Errorf("want the refused request sent again whole, got %+v", posts)
	}
}

// GitHub's replicas get a token and its permissions one after the other, so a refusal of a new one is retried with
// the same token: another would be newer still.
func TestNewTokenIsNotKnownYet(t *testing.T) {
	const unknown, notAllowed = `{"message":"Bad credentials"}`, `{"message":"Resource not accessible by integration"}`
	once := []time.Duration{time.Second, 2 * time.Second}
	twice := append(once, once...)
	for name, c := range map[string]struct {
		code         int
		body         string
		refusals     int
		age          time.Duration
		sent, tokens int
		want         string
		naps         []time.Duration
	}{
		"unknown":                {401, unknown, 2, 0, 3, 1, "", once},
		"unknown for good":       {401, unknown, 9, 0, 6, 2, "credentials", twice},
		"not allowed":            {403, notAllowed, 2, 0, 3, 1, "", once},
		"not allowed for good":   {403, notAllowed, 9, 0, 3, 1, "lacks", once},
		"an old one not allowed": {403, notAllowed, 1, newTokenPeriod, 1, 1, "lacks", nil},
		"another refusal":        {403, `{"message":"Repository was archived"}`, 1, 0, 1, 1, "archived", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, "/")
			sent := 0
			w.HandleFunc("POST /repos/acme/shop/issues/12/reactions", func(rw http.ResponseWriter, r *http.Request) {
				if sent++; sent <= c.refusals {
					answer(rw, c.code, c.body)
					return
				}
				answer(rw, 201, `{"id":1}`)
			})
			w.json("GET /repositories/42/issues/12", 200, issue12)
			ctx := t.Context()
			must[Issue](t)(w.repo().Issue(ctx, 12))
			_ = w.clock.sleep(ctx, c.age)
			before := len(w.clock.naps())
			err := w.repo().React(ctx, sia.Origin{OnIssue: 12}, "eyes")
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
			if d := cmp.Diff(c.naps, w.clock.naps()[before:], cmpopts.EquateEmpty()); d != "" || sent != c.sent ||
				len(w.minted()) != c.tokens {
				t.Errorf("sent %d times with %d tokens, waits %s", sent, len(w.minted()), d)
			}
		})
	}
}

func TestBadKeyIsSaidPlainly(t *testing.T) {
	w := start(t, "/", func(c *Config) { c.AppID = 8 }) // the key belongs to app 7
	_, err := w.repo().Issue(context.Background(), 12)
	if !sia.IsOutage(err) || !strings.Contains(err.Error(), "check the app id and private key") {
		t.Errorf("got %v", err)
	}
}

func TestMissingPermissionsLeaveTheRestWorking(t *testing.T) {
	w := start(t, "/")
	// A mux in front of the others refuses tokens that ask for actions.
	refused := 0
	w.srv.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/access_tokens") {
			body := make([]byte, req.ContentLength)
			_, _ = req.Body.Read(body)
			if strings.Contains(string(body), `"actions"`) {
				refused++
				answer(rw, 422, `{"message":"The permissions requested are not granted to this installation."}`)
				return
			}
			req.Body = http.NoBody
			req = req.Clone(req.Context())
			req.Body = readCloser(string(body))
		}
		w.serve(rw, req)
	})
	w.json("GET /app/installations/1", 200,
		`{"id":1,"account":{"login":"acme"},"permissions":{"metadata":"read","contents":"write","issues":"write",
			"checks":"read"}}`)
	w.json("GET /repositories/42/issues/12", 200, issue12)
	w.HandleFunc("POST /repos/acme/shop/actions/runs/9/rerun-failed-jobs", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("X-Accepted-GitHub-Permissions", "actions=write")
		answer(rw, 403, `{"message":"Resource not accessible by integration"}`)
	})
	ctx := context.Background()
	for range 2 {
		if _, err := w.repo().Issue(ctx, 12); err != nil {
			t.Fatal(err)
		}
	}
	if refused != 1 {
		t.Errorf("asked %d times for what is not granted, want once", refused)
	}
	want := map[string]string{"metadata": "read", "contents": "write", "issues": "write", "checks": "read"}
	if d := cmp.Diff(want, w.minted()[0].Permissions); d != "" {
		t.Error(d)
	}
	if !strings.Contains(w.logs.String(), "actions:write") {
		t.Errorf("the log does not name what is missing: %s", w.logs)
	}
	again, err := w.repo().Actions.RerunChecks(ctx, []CheckRun{{Name: "test", RunID: 9}})
	if err != nil || len(again.Refused) != 1 || !strings.Contains(again.Why.Error(),
		`"actions: write", which SIA needs to read the logs of failed jobs and run flaky ones again`) {
		t.Errorf("got %+v, %v", again, err)
	}
	// The permission is granted: it is requested again after a while.
	w.clock.mu.Lock()
	w.clock.t = w.clock.t.Add(reducedPeriod + 1)
	w.clock.mu.Unlock()
	if _, err := w.repo().Issue(ctx, 12); err != nil {
		t.Fatal(err)
	}
	if refused != 2 {
		t.Errorf("asked %d times, want again after %v", refused, reducedPeriod)
	}
}

func TestTokenStaysWithGitHub(t *testing.T) {
	w := start(t, "/")
	leaked := ""
	elsewhere := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		leaked = req.Header.Get("Authorization")
		answer(rw, 200, issue12)
	}))
	defer elsewhere.Close()
	w.HandleFunc("GET /repositories/42/issues/12", func(rw http.ResponseWriter, req *http.Request) {
		http.Redirect(rw, req, elsewhere.URL+"/x", http.StatusMovedPermanently)
	})
	_, err := w.repo().Issue(context.Background(), 12)
	if err == nil || leaked != "" {
		t.Errorf("err %v, leaked %q", err, leaked)
	}
}

func TestKeys(t *testing.T) {
	pkcs8, err := x509.MarshalPKCS8PrivateKey(testKey())
	if err != nil {
		t.Fatal(err)
	}
	oneLine := strings.ReplaceAll(strings.TrimSpace(string(testPEM())), "\n", `\n`)
	for name, b := range map[string][]byte{
		"pkcs1": testPEM(), "pkcs8": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}),
		"escaped": []byte(oneLine),
	} {
		if k, err := parseKey(b); err != nil || !k.Equal(testKey()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m, u := &secret.Masker{}, Uncounted{}
	certificate := []byte("-----BEGIN X-----\nAAAA\n-----END X-----\n")
	for says, cfg := range map[string]Config{
		"app id":               {PrivateKey: testPEM(), Secrets: m},
		"the private key":      {AppID: 1, Secrets: m},
		"holds no private key": {AppID: 1, PrivateKey: certificate, Secrets: m},
		"ftp://x/":             {AppID: 1, PrivateKey: testPEM(), BaseURL: "ftp://x/", Secrets: m, Writes: u},
		"https://u:xxxxx@x/": {AppID: 1, PrivateKey: testPEM(), BaseURL: "https://u:hunter2@x/", Secrets: m,
			Writes: u},
		"masker of secrets is missing": {AppID: 1, PrivateKey: testPEM(), Writes: u},
		"counts the writes is missing": {AppID: 1, PrivateKey: testPEM(), Secrets: m},
	} {
		_, err := New(cfg)
		if !sia.IsPermanent(err) || !strings.Contains(fmt.Sprint(err), says) {
			t.Errorf("%s: got %v", says, err)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: tells the password: %v", says, err)
		}
	}
}

func TestEndpoints(t *testing.T) {
	for _, c := range []struct{ base, clone, graphql string }{
		{"", "https://github.com/acme/shop.git", "https://api.github.com/graphql"},
		{"https://git.corp/api/v3/", "https://git.corp/acme/shop.git", "https://git.corp/api/graphql"},
		{"https://git.corp/api/v3", "https://git.corp/acme/shop.git", "https://git.corp/api/graphql"},
		{"https://api.acme.ghe.com", "https://acme.ghe.com/acme/shop.git", "https://api.acme.ghe.com/graphql"},
		{"http://127.0.0.1:99/", "http://127.0.0.1:99/acme/shop.git", "http://127.0.0.1:99/graphql"},
	} {
		a, err := New(Config{AppID: 1, PrivateKey: testPEM(), BaseURL: c.base,
			Secrets: &secret.Masker{}, Writes: Uncounted{}})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Repo(1, shop).Remote().URL; got != c.clone || a.graphql != c.graphql {
			t.Errorf("%q: clone %s, graphql %s", c.base, got, a.graphql)
		}
	}
}

// TestAddressesOfEachGitHub covers the web addresses and the API addresses.
func TestAddressesOfEachGitHub(t *testing.T) {
	for _, c := range []struct {
		web, api, graphql, clone string
		kept                     time.Duration // how long deliveries are kept
	}{
		{"https://github.com", "https://api.github.com/", "https://api.github.com/graphql", "https://github.com/",
			72 * time.Hour},
		{"https://GitHub.com/", "https://api.github.com/", "https://api.github.com/graphql", "https://github.com/",
			72 * time.Hour},
		{"https://acme.ghe.com", "https://api.acme.ghe.com/", "https://api.acme.ghe.com/graphql", "https://acme.ghe.com/",
			72 * time.Hour},
		{"https://api.acme.ghe.com", "https://api.acme.ghe.com/", "https://api.acme.ghe.com/graphql", "https://acme.ghe.com/",
			72 * time.Hour},
		{"https://git.corp", "https://git.corp/api/v3/", "https://git.corp/api/graphql", "https://git.corp/",
			168 * time.Hour},
		{"https://git.corp:8443/", "https://git.corp:8443/api/v3/", "https://git.corp:8443/api/graphql",
			"https://git.corp:8443/", 168 * time.Hour},
		{"https://notghe.com", "https://notghe.com/api/v3/", "https://notghe.com/api/graphql", "https://notghe.com/",
			168 * time.Hour},
		{"https://ghe.com.evil.example", "https://ghe.com.evil.example/api/v3/", "https://ghe.com.evil.example/api/graphql",
			"https://ghe.com.evil.example/", 168 * time.Hour},
	} {
		api := APIAddress(c.web)
		a := must[*App](t)(New(Config{AppID: 1, PrivateKey: testPEM(), BaseURL: api, Secrets: &secret.Masker{},
			Writes: Uncounted{}}))
		if api != c.api || a.graphql != c.graphql || a.web.String() != c.clone || a.DeliveryRetention() != c.kept {
			t.Errorf("%s: api %s, graphql %s, clone %s, deliveries %s", c.web, api, a.graphql, a.web, a.DeliveryRetention())
		}
	}
}

func TestNamesThatAreNotRepositories(t *testing.T) {
	w := start(t, "/")
	for _, r := range []sia.Repo{{Owner: "..", Name: "app"}, {Owner: "acme", Name: "a/b"}, {Owner: "acme", Name: "x?y"},
		{Owner: "", Name: "x"}, {}, {ID: 42}} {
		if _, err := w.app.Repo(1, r).Issue(context.Background(), 1); !sia.IsPermanent(err) {
			t.Errorf("%v: got %v", r, err)
		}
		if _, err := w.app.Repo(1, r).Remote().Token(context.Background()); !sia.IsPermanent(err) {
			t.Errorf("%v: got %v", r, err)
		}
	}
	if got := w.got(""); len(got) != 0 {
		t.Errorf("requests went out: %v", got)
	}
}
