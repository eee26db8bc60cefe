package ghsim_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sim/ghsim"
)

// git runs git in a directory, without user configuration.
func git(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=T", "-c", "user.email=t@example.com", "-c",
		"protocol.version=2"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s *sim) remote(token string) string {
	return strings.Replace(s.URL(), "http://", "http://x-access-token:"+token+"@", 1) + "/acme/shop.git"
}

func (s *sim) cloned(token string) string {
	s.t.Helper()
	dir := filepath.Join(s.t.TempDir(), "clone")
	if out, err := git(s.t, "/", "clone", "--quiet", s.remote(token), dir); err != nil {
		s.t.Fatalf("clone: %v\n%s", err, out)
	}
	return dir
}

// commit writes a file and commits it.
func commit(t *testing.T, dir, name, content string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	for _, args := range [][]string{{"add", "."}, {"commit", "--quiet", "-m", "Add " + name}} {
		if out, err := git(t, dir, args...); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

func TestPushThroughGit(t *testing.T) {
	s := newSim(t, nil)
	tok := s.token(nil)
	dir := s.cloned(tok)
	commit(t, dir, "new.txt", "new\n")
	if out, err := git(t, dir, "push", "origin", "HEAD:refs/heads/sia/issue-1"); err != nil {
		t.Fatalf("push: %v\n%s", err, out)
	}
	n, err := s.OpenPull(repoName, "dana", "sia/issue-1", "main", "T", "", true)
	must(t, err)
	// A body beyond http.postBuffer is sent chunked.
	commit(t, dir, "big.txt", strings.Repeat(fmt.Sprintln("a line that does not compress to nothing", os.Getpid()),
		10)+random(2<<20))
	if out, err := git(t, dir, "push", "origin", "HEAD:refs/heads/sia/issue-1"); err != nil {
		t.Fatalf("big push: %v\n%s", err, out)
	}
	p, err := s.Pull(repoName, n)
	must(t, err)
	head, err := git(t, dir, "rev-parse", "HEAD")
	must(t, err)
	if p.Head != strings.TrimSpace(head) || len(p.Commits) != 2 {
		t.Errorf("pull request at %s with %d commits, want %s and 2", p.Head, len(p.Commits), head)
	}
	if out, err := git(t, dir, "push", "origin", ":refs/heads/sia/issue-1"); err != nil {
		t.Fatalf("delete: %v\n%s", err, out)
	}
	want := []string{"create", "push", "check_suite.requested", "pull_request.opened", "push", "pull_request.synchronize",
		"check_suite.requested",
		"delete", "push", "pull_request.closed"}
	es := s.settle()[2:]
	if diff := cmp.Diff(want, names(es)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	sender := es[1].Payload["sender"].(map[string]any)
	if sender["login"] != "sia[bot]" || sender["type"] != "Bot" {
		t.Errorf("sender %v", sender)
	}
	if c := es[1].Payload["commits"].([]any); len(c) != 1 {
		t.Errorf("commits of the push: %v", c)
	}
}

// random is text without repetition.
func random(n int) string {
	var b strings.Builder
	x := uint64(88172645463325252)
	for b.Len() < n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		fmt.Fprintf(&b, "%x", x)
	}
	return b.String()
}

func TestGitPermissions(t *testing.T) {
	s := newSim(t, map[string]string{"README.md": "x",
		".github/workflows/ci.yml": "on: workflow_dispatch\njobs: {a: {steps: [{run: 'true'}]}}\n"})
	if out, err := git(t, t.TempDir(), "clone", s.URL()+"/acme/shop.git", "x"); err == nil {
		t.Errorf("cloned a private repository without credentials:\n%s", out)
	}
	read := s.token(&github.InstallationTokenOptions{Permissions: &github.InstallationPermissions{Contents: ptr("read")}})
	dir := s.cloned(read)
	commit(t, dir, "a.txt", "a")
	if out, err := git(t, dir, "push", "origin", "HEAD:refs/heads/a"); err == nil || !strings.Contains(out, "403") {
		t.Errorf("pushed with contents: read: %v\n%s", err, out)
	}
	write := s.token(
		&github.InstallationTokenOptions{Permissions: &github.InstallationPermissions{Contents: ptr("write")}})
	if out, err := git(t, dir, "push", s.remote(write), "HEAD:refs/heads/a"); err != nil {
		t.Errorf("push: %v\n%s", err, out)
	}
	must(t, s.SetBranchProtection(repoName, "main", "test"))
	if out, err := git(t, dir, "push", s.remote(write), "HEAD:refs/heads/main"); err == nil ||
		!strings.Contains(out, "GH006") {
		t.Errorf("pushed to a protected branch: %v\n%s", err, out)
	}
	commit(t, dir, ".github/workflows/ci.yml", "on: push\njobs: {a: {steps: [{run: 'true'}]}}\n")
	if out, err := git(t, dir, "push", s.remote(write), "HEAD:refs/heads/b"); err == nil ||
		!strings.Contains(out, "without `workflows` permission") {
		t.Errorf("changed a workflow without the permission: %v\n%s", err, out)
	}
	commit(t, dir, "large.txt", "hush: "+strings.Repeat("a", 95))
	for words, refuse := range map[string]ghsim.Pushes{
		"File large.txt is 101 bytes; this exceeds GitHub's file size limit of 100 bytes": {FileSize: 100},
		"path: large.txt:1": {Secret: "hush"},
	} {
		must(t, s.SetPushes(repoName, refuse))
		out, err := git(t, dir, "push", s.remote(s.token(nil)), "HEAD:refs/heads/b")
		if err == nil || !strings.Contains(out, words) {
			t.Errorf("pushed what GitHub does not take: %v\n%s", err, out)
		}
	}
	if out, err := git(t, dir, "push", s.remote("ghs_nonsense"), "HEAD:refs/heads/c"); err == nil {
		t.Errorf("pushed with bad credentials:\n%s", out)
	}
	bs, err := s.Branches(repoName)
	must(t, err)
	if len(bs) != 2 {
		t.Errorf("branches %v", bs)
	}
	s.settle()
}

func TestNonFastForwardIsRefused(t *testing.T) {
	s := newSim(t, nil)
	tok := s.token(nil)
	one, two := s.cloned(tok), s.cloned(tok)
	commit(t, one, "one.txt", "1")
	commit(t, two, "two.txt", "2")
	if out, err := git(t, one, "push", "origin", "HEAD:main"); err != nil {
		t.Fatalf("push: %v\n%s", err, out)
	}
	if out, err := git(t, two, "push", "origin", "HEAD:main"); err == nil {
		t.Errorf("overwrote:\n%s", out)
	}
	if out, err := git(t, two, "push", "--force", "origin", "HEAD:main"); err != nil {
		t.Errorf("force: %v\n%s", err, out)
	}
	commit(t, two, "three.txt", "3")
	s.FailRequests(ghsim.Once(ghsim.Fault{After: true},
		func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/git-receive-pack") }))
	if out, err := git(t, two, "push", "origin", "HEAD:refs/heads/lost"); err == nil {
		t.Errorf("a lost answer was a success:\n%s", out)
	}
	if bs, err := s.Branches(repoName); err != nil || bs["lost"] == "" {
		t.Errorf("the push whose answer was lost did not happen: %v %v", bs, err)
	}
	if es := s.Timeline("push", "push.forced"); len(es) != 2 || es[1].Kind != "push.forced" {
		t.Errorf("timeline %v", es)
	}
	for _, args := range [][]string{{"fetch", "--depth=1", "origin", "main"}, {"fetch", "--filter=blob:none", "origin"}} {
		if out, err := git(t, one, args...); err != nil {
			t.Errorf("git %v: %v\n%s", args, err, out)
		}
	}
}
