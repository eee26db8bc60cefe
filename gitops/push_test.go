package gitops

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// change makes a commit with one changed file on top of base.
func (f *fixture) change(base, content string) string {
	f.t.Helper()
	w := must[*Workspace](f.t)(f.repo.Workspace(f.t.Context(), "", base))
	defer w.Remove()
	write(f.t, w.Dir(), map[string]string{"README.md": content})
	return must[string](f.t)(w.Commit(f.t.Context(), testSpec("change "+content)))
}

func TestLease(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	one, two := f.change(f.main, "one"), f.change(f.main, "two")
	var lease *LeaseError
	if err := f.repo.Push(ctx, "b", one, f.main); !errors.As(err, &lease) || lease.Head != "" || lease.Want != f.main {
		t.Errorf("expected a branch that is absent: %v", err)
	}
	if err := f.repo.Push(ctx, "b", one, ""); err != nil {
		t.Fatal(err)
	}
	if err := f.repo.Push(ctx, "b", two, ""); !errors.As(err, &lease) || lease.Head != one {
		t.Errorf("expected no branch: %v", err)
	}
	// Not a descendant: allowed under the lease.
	if err := f.repo.Push(ctx, "b", two, one); err != nil {
		t.Errorf("Push with the right lease: %v", err)
	}
	// Back to the base, for which there is nothing to send.
	if err := f.repo.Push(ctx, "b", f.main, two); err != nil {
		t.Errorf("Push of the base: %v", err)
	}
	if got := git(t, f.bare, "rev-parse", "b"); got != f.main {
		t.Errorf("branch at %s", got)
	}
}

// Somebody pushes between our check and our push.
func TestLeaseRace(t *testing.T) {
	f := newFixture(t)
	one, two := f.change(f.main, "one"), f.change(f.main, "two")
	if err := f.repo.Push(t.Context(), "other", two, ""); err != nil {
		t.Fatal(err)
	}
	f.on(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			git(t, f.bare, "update-ref", "refs/heads/b", two)
		}
		return false
	})
	var lease *LeaseError
	if err := f.repo.Push(t.Context(), "b", one, ""); !errors.As(err, &lease) || lease.Head != two {
		t.Errorf("race: %v", err)
	}
}

func TestRejected(t *testing.T) {
	f := newFixture(t)
	hook := filepath.Join(f.bare, "hooks", "pre-receive")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho 'GH006: Protected branch update failed.' >&2\nexit 1\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	var no *RejectedError
	err := f.repo.Push(t.Context(), "b", f.change(f.main, "x"), "")
	if !errors.As(err, &no) || !strings.Contains(no.Reason, "GH006") || !strings.Contains(no.Reason, "hook declined") {
		t.Errorf("hook: %v", err)
	}
	rule := strings.Repeat("—", 100)
	said := "error: GH013: Repository rule violations found for refs/heads/b.\n\n- GITHUB PUSH PROTECTION\n  " + rule +
		"\n    - Push cannot contain secrets\n\n     (?) Learn how to resolve a blocked push\n     https://docs.github.com/" +
		strings.Repeat("a", 300) + "\n\n      —— A Token " + rule + "\n       locations:\n         - commit: c0ffee\n" +
		"           path: .env:6\n\n       (?) To push, remove secret from commit(s)\n" +
		"       https://github.com/acme/unblock\n"
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ncat >&2 <<END\n"+said+"END\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	err = f.repo.Push(t.Context(), "b", f.change(f.main, "y"), "")
	if !errors.As(err, &no) || !strings.HasSuffix(no.Reason, "- GITHUB PUSH PROTECTION - Push cannot contain secrets "+
		"A Token locations: path: .env:6") {
		t.Errorf("secret: %v", err)
	}
}

// GitHub reports its own failures like refusals. A branch whose name is the folder of another is refused for good.
func TestServerFails(t *testing.T) {
	f := newFixture(t)
	sha := f.change(f.main, "x")
	for _, c := range []struct{ report, said string }{
		{"failure", "fatal error in commit_refs"}, {"", "Internal Server Error"},
	} {
		f.on(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
				return false
			}
			io.Copy(io.Discard, r.Body)
			var report, answer pktBuffer
			report.linef("unpack ok\n")
			if c.report != "" {
				report.linef("ng refs/heads/b %s\n", c.report)
			}
			report.flush()
			answer.linef("\x02%s\n", c.said)
			answer.linef("\x01%s", report.String())
			answer.flush()
			w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
			w.Write(answer.Bytes())
			return true
		})
		var server *ServerError
		err := f.repo.Push(t.Context(), "b", sha, "")
		if !errors.As(err, &server) || !strings.Contains(server.Detail, c.said) {
			t.Errorf("%s: %v", c.said, err)
		}
	}
	f.on(nil)
	if err := f.repo.Push(t.Context(), "a/b", sha, ""); err != nil {
		t.Fatal(err)
	}
	for _, branch := range []string{"a", "a/b/c"} {
		var no *RejectedError
		if err := f.repo.Push(t.Context(), branch, sha, ""); !errors.As(err, &no) || no.Beside != "a/b" {
			t.Errorf("%s: %v", branch, err)
		}
	}
}

// TestOnTop moves a branch forward to another line of work, as where force pushes are blocked: with a merge commit only
// on demand.
func TestOnTop(t *testing.T) {
	for _, merge := range []bool{false, true} {
		f := newFixture(t)
		ctx := t.Context()
		one, two := f.change(f.main, "one"), f.change(f.main, "two")
		if err := f.repo.Push(ctx, "b", one, ""); err != nil {
			t.Fatal(err)
		}
		git(t, f.bare, "config", "receive.denyNonFastForwards", "true")
		if err := f.repo.Push(ctx, "b", two, one); err == nil {
			t.Error("a forced push is taken")
		}
		for range 2 { // it makes the same commit again
			over := must[string](t)(f.repo.OnTop(ctx, two, one, merge, testSpec("over")))
			if err := f.repo.Push(ctx, "b", over, one); err != nil {
				t.Fatal(err)
			}
		}
		if got := git(t, f.bare, "show", "b:README.md"); got != "two" {
			t.Errorf("the branch has %q", got)
		}
		want := one
		if merge {
			want += " " + two
		}
		if got := git(t, f.bare, "log", "--format=%P", "-1", "b"); got != want {
			t.Errorf("parents %s, want %s", got, want)
		}
		if got := git(t, f.bare, "log", "--format=%s", "-1", "b"); got != "change two" {
			t.Errorf("message %q", got)
		}
	}
}

// The server fails before and after it has done the work.
func TestPushBreaksOff(t *testing.T) {
	f := newFixture(t)
	sha := f.change(f.main, "x")
	var after atomic.Bool
	f.on(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			return false
		}
		body, _ := io.ReadAll(r.Body)
		if after.Load() {
			f.on(nil)
			again, _ := http.NewRequest(r.Method, f.url+r.URL.Path, bytes.NewReader(body))
			again.Header = r.Header
			resp, err := http.DefaultClient.Do(again)
			if err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}
		panic(http.ErrAbortHandler)
	})
	var broke *NetworkError
	if err := f.repo.Push(t.Context(), "b", sha, ""); !errors.As(err, &broke) {
		t.Errorf("before: %v", err)
	}
	after.Store(true)
	if err := f.repo.Push(t.Context(), "b", sha, ""); err != nil {
		t.Errorf("after: %v", err)
	}
	if got := git(t, f.bare, "rev-parse", "b"); got != sha {
		t.Errorf("branch at %s, want %s", got, sha)
	}
}

// Many workspaces and pushes at once from one mirror, through two caches on one directory, as in two processes.
func TestConcurrency(t *testing.T) {
	f := newFixture(t)
	second := openCache(t, f.cache.dir, CacheOptions{}).Repo(f.remote("app.git"))
	var wg sync.WaitGroup
	for i := range 8 {
		r := f.repo
		if i%2 == 1 {
			r = second
		}
		wg.Go(func() {
			w, err := r.Workspace(t.Context(), "", f.main)
			if err != nil {
				t.Error(err)
				return
			}
			defer w.Remove()
			write(t, w.Dir(), map[string]string{"n": fmt.Sprint(i)})
			sha, err := w.Commit(t.Context(), testSpec("n"))
			if err == nil {
				err = r.Push(t.Context(), branchName(i), sha, "")
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	git(t, f.bare, "fsck", "--strict")
	for i := range 8 {
		if got := git(t, f.bare, "show", branchName(i)+":n"); got != fmt.Sprint(i) {
			t.Errorf("branch %d has %q", i, got)
		}
	}
	fetches := 0
	for _, req := range f.log() {
		if strings.HasPrefix(req, "POST") && strings.HasSuffix(req, "upload-pack") {
			fetches++
		}
	}
	if fetches != 1 {
		t.Errorf("the commit was fetched %d times", fetches)
	}
}

func TestPushToNonGit(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		io.WriteString(w, "<html>hello")
	}))
	defer srv.Close()
	r := openCache(t, t.TempDir(), CacheOptions{}).Repo(Remote{Key: "k", URL: srv.URL})
	var server *ServerError
	if err := r.Push(t.Context(), "b", strings.Repeat("a", 40), ""); !errors.As(err, &server) {
		t.Errorf("Push to a web page: %v", err)
	}
}
