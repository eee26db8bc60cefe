package github

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

// testKey is generated once, and short: generating and signing take time.
var testKey = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		panic(err)
	}
	return k
})

func testPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(testKey())})
}

// clock is a clock that only sleeping advances.
type clock struct {
	mu    sync.Mutex
	t     time.Time
	slept []time.Duration
}

func newClock() *clock { return &clock{t: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
	c.slept = append(c.slept, d)
	return ctx.Err()
}

func (c *clock) naps() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]time.Duration(nil), c.slept...)
}

// seen is a received request.
type seen struct {
	method, path, query, auth, body string
	header                          http.Header
}

// wire is a server with GitHub's wire format. Its authentication is real, and tests mount the rest.
type wire struct {
	*http.ServeMux
	t     *testing.T
	srv   *httptest.Server
	base  string // of the REST API
	app   *App
	clock *clock
	logs  *syncBuffer

	mu     sync.Mutex
	seen   []seen
	tokens []tokenRequest
	good   map[string]bool // accepted tokens
}

type tokenRequest struct {
	Installation  string
	RepositoryIDs []int64           `json:"repository_ids"`
	Repositories  []string          `json:"repositories"`
	Permissions   map[string]string `json:"permissions"`
}

type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// start starts a server with its REST API below prefix, and an app that uses it.
func start(t *testing.T, prefix string, change ...func(*Config)) *wire {
	t.Helper()
	w := &wire{ServeMux: http.NewServeMux(), t: t, clock: newClock(), good: map[string]bool{}, logs: &syncBuffer{}}
	w.srv = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.srv.Close)
	w.base = w.srv.URL + prefix
	w.HandleFunc("POST "+prefix+"app/installations/{id}/access_tokens", w.mint)
	w.json("GET "+prefix+"app", 200, `{"id":7,"slug":"sia","name":"SIA","permissions":{"issues":"write"}}`)
	w.json("GET "+prefix+"users/{login}", 200, `{"id":77,"login":"sia[bot]","type":"Bot"}`)
	cfg := Config{
		AppID: 7, PrivateKey: testPEM(), BaseURL: w.base,
		Now: w.clock.now, Sleep: w.clock.sleep, WriteBurst: 1000, Writes: Uncounted{},
		Logger: slog.New(slog.NewTextHandler(w.logs, nil)), Secrets: &secret.Masker{},
	}
	for _, f := range change {
		f(&cfg)
	}
	var err error
	if w.app, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	return w
}

var shop = sia.Repo{ID: 42, Owner: "acme", Name: "shop"}

func (w *wire) repo() *Repo { return w.app.Repo(1, shop) }

func (w *wire) serve(rw http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	req.Body = io.NopCloser(strings.NewReader(string(body)))
	s := seen{req.Method, req.URL.Path, req.URL.RawQuery, req.Header.Get("Authorization"), string(body), req.Header}
	w.mu.Lock()
	w.seen = append(w.seen, s)
	w.mu.Unlock()
	byApp := strings.HasSuffix(req.URL.Path, "/installation")
	if !byApp && strings.Contains(req.URL.Path, "/repos/") || strings.Contains(req.URL.Path, "/installation/") ||
		strings.HasSuffix(req.URL.Path, "/graphql") {
		w.mu.Lock()
		ok := w.good[strings.TrimPrefix(s.auth, "token ")]
		w.mu.Unlock()
		if !ok {
			answer(rw, 401, `{"message":"Bad credentials"}`)
			return
		}
	}
	w.ServeMux.ServeHTTP(rw, req)
}

// mint verifies the app's signature as GitHub does, and issues a token.
func (w *wire) mint(rw http.ResponseWriter, req *http.Request) {
	claims := jwt.RegisteredClaims{}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation())
	_, err := parser.ParseWithClaims(strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer "), &claims,
		func(*jwt.Token) (any, error) {
			return &testKey().PublicKey, nil
		})
	now := w.clock.now()
	if err != nil || claims.Issuer != "7" || claims.IssuedAt.After(now) || !claims.ExpiresAt.After(now) ||
		claims.ExpiresAt.Sub(claims.IssuedAt.Time) > 10*time.Minute {
		answer(rw, 401, `{"message":"A JSON web token could not be decoded"}`)
		return
	}
	r := tokenRequest{Installation: req.PathValue("id")}
	if err := json.NewDecoder(req.Body).Decode(&r); err != nil {
		w.t.Error(err)
	}
	w.mu.Lock()
	w.tokens = append(w.tokens, r)
	token := fmt.Sprintf("ghs_secretsecret%04d", len(w.tokens))
	w.good[token] = true
	w.mu.Unlock()
	answer(rw, 201, fmt.Sprintf(`{"token":%q,"expires_at":%q}`, token,
		time.Now().Add(time.Hour).UTC().Format(time.RFC3339)))
}

func (w *wire) revoke() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.good)
}

func (w *wire) minted() []tokenRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]tokenRequest(nil), w.tokens...)
}

// json mounts a fixed response.
func (w *wire) json(pattern string, code int, body string) {
	w.HandleFunc(pattern, func(rw http.ResponseWriter, _ *http.Request) { answer(rw, code, body) })
}

// got returns the requests that begin with "METHOD /path".
func (w *wire) got(prefix string) []seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []seen
	for _, s := range w.seen {
		if strings.HasPrefix(s.method+" "+s.path, prefix) {
			out = append(out, s)
		}
	}
	return out
}

func answer(rw http.ResponseWriter, code int, body string) {
	rw.Header().Set("Content-Type", "application/json; charset=utf-8")
	rw.WriteHeader(code)
	_, _ = io.WriteString(rw, body)
}

func answerJSON(rw http.ResponseWriter, code int, v any) {
	b, _ := json.Marshal(v)
	answer(rw, code, string(b))
}

// servePages serves one page of a list, with a Link header like GitHub's.
func servePages(rw http.ResponseWriter, req *http.Request, items []any, wrap string) {
	per, page := 30, 1
	_, _ = fmt.Sscan(req.URL.Query().Get("per_page"), &per)
	_, _ = fmt.Sscan(req.URL.Query().Get("page"), &page)
	from := min((page-1)*per, len(items))
	to := min(from+per, len(items))
	if to < len(items) {
		q := req.URL.Query()
		q.Set("page", fmt.Sprint(page+1))
		rw.Header().Set("Link", fmt.Sprintf(`<http://%s%s?%s>; rel="next"`, req.Host, req.URL.Path, q.Encode()))
	}
	slice := append([]any{}, items[from:to]...)
	var v any = slice
	if wrap != "" {
		v = map[string]any{"total_count": len(items), wrap: slice}
	}
	answerJSON(rw, 200, v)
}

// decode decodes a request's body.
func decode[T any](t *testing.T, s string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Errorf("body %q: %v", s, err)
	}
	return v
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
