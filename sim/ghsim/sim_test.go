package ghsim_test

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
	"github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/ghsim/conformance"
)

const (
	secret   = "webhook secret"
	repoName = "acme/shop"
)

// clock is a clock that tests advance.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// sim is a simulator with one app installed on acme/shop. It records the app's webhooks. All traffic is checked against
// GitHub's descriptions.
type sim struct {
	*ghsim.Server
	t     *testing.T
	clock *clock
	valid *conformance.Validator
	app   ghsim.App
	inst  int64
	hook  *httptest.Server

	mu     sync.Mutex
	events []event
	answer func(event) int
}

type event struct {
	Name, Action, GUID string
	Payload            map[string]any
}

func newSim(t *testing.T, files map[string]string, tune ...func(*ghsim.Config)) *sim {
	t.Helper()
	s := &sim{t: t, clock: &clock{now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}, valid: conformance.New(t)}
	s.hook = httptest.NewServer(s.valid.Webhooks(http.HandlerFunc(s.receive)))
	t.Cleanup(s.hook.Close)
	cfg := ghsim.Config{Clock: s.clock.Now, Dir: t.TempDir(), AppKeyPEM: key(), WebhookURL: s.hook.URL,
		WebhookSecret: secret, Wrap: s.valid.Middleware}
	for _, f := range tune {
		f(&cfg)
	}
	srv, err := ghsim.New(cfg)
	must(t, err)
	s.Server = srv
	t.Cleanup(func() { must(t, srv.Close()) })
	_, err = srv.Start("127.0.0.1:0")
	must(t, err)
	for _, u := range []string{"acme", "dana", "mallory"} {
		srv.CreateUser(u)
	}
	if files == nil {
		files = map[string]string{"README.md": "# Shop\n", "src/a.txt": "one\ntwo\nthree\n"}
	}
	_, err = srv.CreateRepo("acme", "shop", ghsim.RepoSpec{Files: files})
	must(t, err)
	must(t, srv.SetPermission(repoName, "dana", "write"))
	s.app, err = srv.CreateApp("sia")
	must(t, err)
	s.inst, err = srv.Install(s.app.ID, "acme", "shop")
	must(t, err)
	return s
}

// key is one private key for all tests: generating one takes a while.
var key = sync.OnceValue(func() []byte {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)})
})

// must fails the test unless there is no error, or one with the given words.
func must(t testing.TB, err error, words ...string) {
	t.Helper()
	if len(words) == 0 && err != nil {
		t.Fatal(err)
	}
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Fatalf("error %v, want one with %q", err, w)
		}
	}
}

func (s *sim) receive(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	if got, want := r.Header.Get("X-Hub-Signature-256"), "sha256="+hex.EncodeToString(mac.Sum(nil)); got != want {
		s.t.Errorf("signature %q, want %q", got, want)
	}
	e := event{Name: r.Header.Get("X-GitHub-Event"), GUID: r.Header.Get("X-GitHub-Delivery")}
	if err := json.Unmarshal(body, &e.Payload); err != nil {
		s.t.Errorf("payload: %v", err)
	}
	e.Action, _ = e.Payload["action"].(string)
	if _, err := github.ParseWebHook(e.Name, body); err != nil {
		s.t.Errorf("go-github does not parse %s.%s: %v", e.Name, e.Action, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
	if s.answer != nil {
		w.WriteHeader(s.answer(e))
	}
}

// settle waits until the simulator is idle, and returns the events so far.
func (s *sim) settle() []event {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	must(s.t, s.WaitIdle(ctx))
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]event(nil), s.events...)
}

// names are the events as "name.action".
func names(es []event) []string {
	var ns []string
	for _, e := range es {
		ns = append(ns, strings.TrimSuffix(e.Name+"."+e.Action, "."))
	}
	return ns
}

// jwt signs an app token; change alters its claims.
func (s *sim) jwt(change func(*jwt.RegisteredClaims)) string {
	s.t.Helper()
	key, err := jwt.ParseRSAPrivateKeyFromPEM(s.app.PrivateKeyPEM)
	must(s.t, err)
	now := s.clock.Now()
	claims := jwt.RegisteredClaims{Issuer: fmt.Sprint(s.app.ID), IssuedAt: jwt.NewNumericDate(now.Add(-time.Minute)),
		ExpiresAt: jwt.NewNumericDate(now.Add(9 * time.Minute))}
	if change != nil {
		change(&claims)
	}
	raw, err := jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(key)
	must(s.t, err)
	return raw
}

// token makes an installation token.
func (s *sim) token(opts *github.InstallationTokenOptions) string {
	s.t.Helper()
	t, _, err := s.client(s.jwt(nil)).Apps.CreateInstallationToken(context.Background(), s.inst, opts)
	must(s.t, err)
	return t.GetToken()
}

// client is a go-github client with a bearer token.
func (s *sim) client(token string) *github.Client {
	s.t.Helper()
	c, err := github.NewClient(nil).WithAuthToken(token).WithEnterpriseURLs(s.URL(), s.URL())
	must(s.t, err)
	return c
}

// bot is a client with an installation token for everything.
func (s *sim) bot() *github.Client { return s.client(s.token(nil)) }

// do makes a raw request.
func (s *sim) do(method, path, token, body string, header ...string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequest(method, s.URL()+path, strings.NewReader(body))
	must(s.t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	must(s.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	must(s.t, err)
	return resp, string(b)
}

func ptr[T any](v T) *T { return &v }

var ctx = context.Background()
