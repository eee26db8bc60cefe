package gitops

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const testToken = "ghs_testSecretTokenThatMustNotBeSeen"

// gitServer is git's own server behind basic authentication.
type gitServer struct {
	t    testing.TB
	root string // of the repositories
	url  string

	mu        sync.Mutex
	token     string
	requests  []string                                          // as "GET /a.git/info/refs?service=…"
	received  int64                                             // bytes of the last push
	intercept func(w http.ResponseWriter, r *http.Request) bool // true when it has answered
	first     func(w http.ResponseWriter, r *http.Request) bool // likewise, called before the token is checked
}

// gitPrograms is the folder of git's programs.
var gitPrograms = sync.OnceValues(func() (string, error) {
	path, err := exec.Command("git", "--exec-path").Output()
	return strings.TrimSpace(string(path)), err
})

func newGitServer(t testing.TB) *gitServer {
	t.Helper()
	path := must[string](t)(gitPrograms())
	s := &gitServer{t: t, root: t.TempDir(), token: testToken}
	backend := &cgi.Handler{
		Path: filepath.Join(path, "git-http-backend"), Root: "/", Dir: s.root,
		Env: []string{"GIT_PROJECT_ROOT=" + s.root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=x", "GIT_CONFIG_NOSYSTEM=1",
			"HOME=" + s.root},
		Stderr: io.Discard,
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
		token, first, intercept := s.token, s.first, s.intercept
		if strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			s.received = r.ContentLength
		}
		s.mu.Unlock()
		if first != nil && first(w, r) {
			return
		}
		if user, password, _ := r.BasicAuth(); user != "x-access-token" || password != token {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "bad token "+password, http.StatusUnauthorized)
			return
		}
		if intercept != nil && intercept(w, r) {
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

func (s *gitServer) on(f func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = f
}

// before makes f answer requests whatever their token.
func (s *gitServer) before(f func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first = f
}

func (s *gitServer) log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.requests
	s.requests = nil
	return out
}

// create makes a repository on the server and a clone of it to work in.
func (s *gitServer) create(name string) (bare, work string) {
	s.t.Helper()
	bare = filepath.Join(s.root, name)
	git(s.t, s.root, "init", "-q", "--bare", "-b", "main", bare)
	git(s.t, bare, "config", "http.receivepack", "true")
	work = filepath.Join(s.t.TempDir(), "work")
	git(s.t, s.root, "clone", "-q", bare, work)
	return bare, work
}

func (s *gitServer) remote(name string) Remote {
	return Remote{Key: "1/" + name, URL: s.url + "/" + name,
		Token: func(context.Context) (string, error) { return testToken, nil }}
}

// git runs the git command line with its defaults.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := gitTry(dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimRight(out, "\n")
}

func gitTry(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=1700000000 +0100",
		"GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.com", "GIT_COMMITTER_DATE=1700000001 +0000",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// commitAll commits the work folder and pushes it, and returns the commit.
func commitAll(t testing.TB, work, message string) string {
	t.Helper()
	git(t, work, "add", "-A")
	git(t, work, "commit", "-q", "--allow-empty", "-m", message)
	git(t, work, "push", "-q", "origin", "HEAD")
	return git(t, work, "rev-parse", "HEAD")
}

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// openCache opens a cache that does not wait between retries.
func openCache(t testing.TB, dir string, opts CacheOptions) *Cache {
	t.Helper()
	c, err := OpenCache(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	c.pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return c
}

// fixture is a server with one repository of a few files, and a cache.
type fixture struct {
	*gitServer
	bare, work string
	main       string // head of main
	cache      *Cache
	repo       *Repo
	logs       *bytes.Buffer
}

// template is a folder with the fixture's repository and clone, made once and copied for each fixture.
var template struct {
	once sync.Once
	dir  string
	main string
}

func makeTemplate(t testing.TB) {
	t.Helper()
	template.dir = must[string](t)(os.MkdirTemp("", "gitops-*"))
	bare, work := filepath.Join(template.dir, "app.git"), filepath.Join(template.dir, "work")
	git(t, template.dir, "init", "-q", "--bare", "-b", "main", bare)
	git(t, bare, "config", "http.receivepack", "true")
	git(t, template.dir, "clone", "-q", bare, work)
	write(t, work, map[string]string{
		"README.md":       "# App\n\nHello.\n",
		".gitignore":      "*.log\nbuild/\n",
		"src/main.go":     "package main\n\nfunc main() {\n\tprintln(1)\n}\n",
		"src/lib/lib.go":  "package lib\n",
		"src/lib/data.in": strings.Repeat("one two three\n", 200),
		"run.sh":          "#!/bin/sh\necho hi\n",
		"empty":           "",
		"wörld/ü b.txt":   "umlaut\n",
	})
	must0(t, os.Chmod(filepath.Join(work, "run.sh"), 0o755))
	must0(t, os.Symlink("src/main.go", filepath.Join(work, "link")))
	template.main = commitAll(t, work, "first")
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	template.once.Do(func() { makeTemplate(t) })
	f := &fixture{gitServer: newGitServer(t), logs: &bytes.Buffer{}, main: template.main}
	f.bare, f.work = filepath.Join(f.root, "app.git"), filepath.Join(t.TempDir(), "work")
	must0(t, os.CopyFS(f.bare, os.DirFS(filepath.Join(template.dir, "app.git"))))
	must0(t, os.CopyFS(f.work, os.DirFS(filepath.Join(template.dir, "work"))))
	config := filepath.Join(f.work, ".git", "config")
	must0(t, os.WriteFile(config, bytes.ReplaceAll(must[[]byte](t)(os.ReadFile(config)),
		[]byte(filepath.Join(template.dir, "app.git")), []byte(f.bare)), 0o600))
	f.cache = openCache(t, t.TempDir(),
		CacheOptions{Logger: slog.New(slog.NewTextHandler(f.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	f.repo = f.cache.Repo(f.remote("app.git"))
	return f
}

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))

func testSpec(message string) CommitSpec {
	return CommitSpec{Message: message, Author: Signature{"SIA", "sia@example.com", testTime}}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// branchName returns a different branch for each number.
func branchName(i int) string { return fmt.Sprintf("sia/issue-%d", i) }
