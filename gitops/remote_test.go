package gitops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestHeadAndFetch(t *testing.T) {
	f := newFixture(t)
	git(t, f.work, "push", "-q", "origin", "HEAD:main-2")
	ctx := t.Context()
	if got := must[string](t)(f.repo.Head(ctx, "main")); got != f.main {
		t.Errorf("Head = %s, want %s", got, f.main)
	}
	if got := must[string](t)(f.repo.Head(ctx, "mai")); got != "" {
		t.Errorf("Head of an absent branch = %q", got)
	}
	if _, err := f.repo.Fetch(ctx, "absent"); !errors.Is(err, ErrNoBranch) {
		t.Errorf("Fetch of an absent branch: %v", err)
	}
	for _, bad := range []string{"", "a..b", "-x\n", "a b", "x~1", "/x", "a.lock", "@{", "a\x00b"} {
		if _, err := f.repo.Head(ctx, bad); err == nil {
			t.Errorf("Head(%q) succeeded", bad)
		}
	}
	f.log()
	for range 3 {
		must[string](t)(f.repo.Fetch(ctx, "main"))
	}
	// The first fetch asks and transfers; the others only ask.
	if got := f.log(); len(got) != 4 {
		t.Errorf("3 fetches took %d requests: %q", len(got), got)
	}
}

// A later commit transfers only its changes, and gives a self-contained pack though the server sent a thin one.
func TestFetchIncrement(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	big := strings.Repeat(fmt.Sprint(f.main), 3000)
	write(t, f.work, map[string]string{"big": big})
	one := commitAll(t, f.work, "one")
	must[string](t)(f.repo.Fetch(ctx, "main"))
	write(t, f.work, map[string]string{"big": big + "more"})
	two := commitAll(t, f.work, "two")
	must[string](t)(f.repo.Fetch(ctx, "main"))
	// Back to the first state: its objects are only known from commit one.
	git(t, f.work, "checkout", "-q", one, "--", "big")
	three := commitAll(t, f.work, "three")
	must[string](t)(f.repo.Fetch(ctx, "main"))
	for _, sha := range []string{one, two, three} {
		want := git(t, f.work, "show", sha+":big")
		if got := must[[]byte](t)(f.repo.ReadFile(ctx, sha, "big", 1<<20)); string(got) != want {
			t.Errorf("big at %s differs", sha)
		}
	}
	m := must[generation](t)(f.repo.mirror.current(ctx))
	unchanged, times := git(t, f.work, "rev-parse", one+":README.md"), 0
	for _, p := range must[[]string](t)(filepath.Glob(filepath.Join(m.packsDir(), "*.idx"))) {
		times += strings.Count(git(t, m.dir, "verify-pack", "-v", p), unchanged+" blob")
	}
	if times != 1 {
		t.Errorf("a file that did not change was fetched %d times", times)
	}
	if _, err := f.repo.Files(ctx, git(t, f.work, "rev-parse", f.main), ""); err != nil {
		t.Errorf("an ancestor fetched by its hash: %v", err)
	}
}

func TestFetchCommitUnknown(t *testing.T) {
	f := newFixture(t)
	var missing *NotFoundError
	err := f.repo.FetchCommit(t.Context(), strings.Repeat("ab", 20))
	if !errors.As(err, &missing) || !strings.Contains(missing.What, "commit") {
		t.Errorf("unknown commit: %v", err)
	}
	if err := f.repo.FetchCommit(t.Context(), "main"); err == nil {
		t.Error("a name is no commit id")
	}
}

func TestRead(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	if got := must[[]byte](t)(f.repo.ReadFile(ctx, f.main, "wörld/ü b.txt", 100)); string(got) != "umlaut\n" {
		t.Errorf("ReadFile = %q", got)
	}
	for _, name := range []string{"nope", "src", "README.md/x", "src/nope"} {
		if _, err := f.repo.ReadFile(ctx, f.main, name, 100); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ReadFile(%q): %v", name, err)
		}
	}
	if _, err := f.repo.ReadFile(ctx, f.main, "../x", 100); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("ReadFile(../x): %v", err)
	}
	if _, err := f.repo.ReadFile(ctx, f.main, "src/lib/data.in", 10); !errors.Is(err, ErrTooLarge) {
		t.Errorf("ReadFile beyond the limit: %v", err)
	}
	files := must[[]File](t)(f.repo.Files(ctx, f.main, ""))
	var got strings.Builder
	for _, x := range files {
		fmt.Fprintf(&got, "%s %s\n", x.Mode, x.Path)
	}
	want := `-rw-r--r-- .gitignore
-rw-r--r-- README.md
-rw-r--r-- empty
Lrwxrwxrwx link
-rwxr-xr-x run.sh
-rw-r--r-- src/lib/data.in
-rw-r--r-- src/lib/lib.go
-rw-r--r-- src/main.go
-rw-r--r-- wörld/ü b.txt
`
	if got.String() != want {
		t.Errorf("Files:\n%s", got.String())
	}
	if files := must[[]File](t)(f.repo.Files(ctx, f.main, "src/lib/")); len(files) != 2 ||
		files[1].Path != "src/lib/lib.go" {
		t.Errorf("Files below src/lib = %v", files)
	}
	if files := must[[]File](t)(f.repo.Files(ctx, f.main, "absent")); len(files) != 0 {
		t.Errorf("Files below absent = %v", files)
	}
}

func TestRefusals(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	secret := "ghs_wrongToken"
	wrong := f.remote("app.git")
	wrong.Token = func(context.Context) (string, error) { return secret, nil }
	_, err := f.cache.Repo(wrong).Head(ctx, "main")
	var auth *AuthError
	if !errors.As(err, &auth) || auth.Status != 401 || strings.Contains(err.Error(), secret) {
		t.Errorf("wrong token: %v", err)
	}
	var none *NotFoundError
	if _, err := f.cache.Repo(f.remote("absent.git")).Fetch(ctx, "main"); !errors.As(err, &none) {
		t.Errorf("absent repository: %v", err)
	}
	sorry := errors.New("no token today")
	wrong.Token = func(context.Context) (string, error) { return "", sorry }
	if _, err := f.cache.Repo(wrong).Head(ctx, "main"); !errors.Is(err, sorry) {
		t.Errorf("token function fails: %v", err)
	}
	inURL := Remote{Key: "x", URL: strings.Replace(f.url, "http://", "http://x-access-token:"+secret+"@", 1) + "/app.git"}
	if _, err := f.cache.Repo(inURL).Head(ctx, "main"); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("credentials in the URL: %v", err)
	}
	for _, url := range []string{"", "ftp://x/y", "http://u:" + secret + "@%zz/", "/srv/x.git"} {
		_, err := f.cache.Repo(Remote{Key: "k", URL: url}).Head(ctx, "main")
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("URL %q: %v", url, err)
		}
	}
	for code, want := range map[int]any{403: new(*AuthError), 404: new(*NotFoundError), 500: new(*ServerError),
		429: new(*ServerError), 302: new(*ServerError), 200: new(*ServerError)} {
		f.on(func(w http.ResponseWriter, _ *http.Request) bool {
			if code == 302 {
				w.Header().Set("Location", "http://elsewhere.example/app.git/info/refs")
			}
			w.WriteHeader(code)
			io.WriteString(w, "reason "+testToken)
			return true
		})
		f.log()
		_, err := f.cache.Repo(f.remote("app.git")).Head(ctx, "main")
		if !errors.As(err, want) || strings.Contains(err.Error(), testToken) {
			t.Errorf("HTTP %d: %v", code, err)
		}
		n := 1
		if code == 500 || code == 429 {
			n = maxTries
		}
		if got := f.log(); len(got) != n {
			t.Errorf("HTTP %d: asked %d times, want %d", code, len(got), n)
		}
	}
}

func TestRetryAfterLong(t *testing.T) {
	f := newFixture(t)
	for says, want := range map[string]time.Duration{
		"120": 2 * time.Minute, "999999999": 24 * time.Hour, "Fri, 31 Dec 9999 23:59:59 GMT": 24 * time.Hour,
	} {
		f.on(func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", says)
			w.WriteHeader(403)
			return true
		})
		_, err := f.repo.Head(t.Context(), "main")
		var server *ServerError
		if !errors.As(err, &server) || server.RetryAfter != want {
			t.Errorf("rate limit, %s: %v", says, err)
		}
	}
}

// A rename of a repository is followed and remembered.
func TestRedirect(t *testing.T) {
	f := newFixture(t)
	f.on(func(w http.ResponseWriter, r *http.Request) bool {
		old, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.RequestURI(), "/"), "/")
		if _, err := os.Stat(filepath.Join(f.root, old)); err == nil {
			return false
		}
		http.Redirect(w, r, "/app.git/"+rest, http.StatusMovedPermanently)
		return true
	})
	// The rename may also happen after the first exchange.
	late := f.cache.Repo(f.remote("late.git"))
	must0(t, os.Symlink(f.bare, filepath.Join(f.root, "late.git")))
	must[string](t)(late.Head(t.Context(), "main"))
	must0(t, os.Remove(filepath.Join(f.root, "late.git")))
	r := f.cache.Repo(f.remote("old.git"))
	if got := must[string](t)(r.Fetch(t.Context(), "main")); got != f.main {
		t.Errorf("Fetch = %s", got)
	}
	if got := must[string](t)(late.Fetch(t.Context(), "main")); got != f.main {
		t.Errorf("Fetch = %s", got)
	}
	if err := r.Push(t.Context(), "copy", f.main, ""); err != nil {
		t.Errorf("Push: %v", err)
	}
	// Another repository with the old name is a different one.
	_, work := f.create("old.git")
	own := commitAll(t, work, "another")
	other := f.remote("old.git")
	other.Key = "2/old.git"
	if got := must[string](t)(f.cache.Repo(other).Head(t.Context(), "main")); got != own {
		t.Errorf("Head of another repository = %s, want %s", got, own)
	}
}

func TestTimeLimit(t *testing.T) {
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-release }))
	defer srv.Close()
	defer close(release)
	c := openCache(t, t.TempDir(), CacheOptions{})
	c.question = time.Millisecond
	_, err := c.Repo(Remote{Key: "k", URL: srv.URL}).Head(t.Context(), "main")
	var broke *NetworkError
	if !errors.As(err, &broke) || !strings.Contains(err.Error(), "no complete answer within") {
		t.Errorf("silent server: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Repo(Remote{Key: "k", URL: srv.URL}).Head(ctx, "main"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// An interrupted transfer is retried and leaves no files behind.
func TestTransferBreaksOff(t *testing.T) {
	f := newFixture(t)
	var broken atomic.Int32
	f.on(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet || broken.Load() == 2 {
			return false
		}
		b, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(b)))
		if !strings.Contains(string(b), "command=fetch") {
			return false
		}
		times := broken.Add(1)
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		io.WriteString(w, "000dpackfile\n0010\x01PACK\x00\x00\x00")
		if times == 1 {
			panic(http.ErrAbortHandler)
		}
		return true
	})
	if err := f.repo.FetchCommit(t.Context(), f.main); err != nil {
		t.Fatal(err)
	}
	if n := broken.Load(); n != 2 {
		t.Errorf("broke off %d times", n)
	}
	if left := must[[]os.DirEntry](t)(os.ReadDir(f.cache.tmp())); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestOldServer(t *testing.T) {
	f := newFixture(t)
	f.on(func(_ http.ResponseWriter, r *http.Request) bool {
		r.Header.Del("Git-Protocol")
		return false
	})
	if _, err := f.repo.Head(t.Context(), "main"); err == nil || !strings.Contains(err.Error(), "protocol version 2") {
		t.Errorf("server without version 2: %v", err)
	}
}
