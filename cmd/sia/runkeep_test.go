package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/cmd/internal/cli"
)

// TestResultBranchKeepsOthersCommits: a commit that somebody else puts on the result's branch stays there, and the run
// continues on another branch. So does a second run that began with the same name.
func TestResultBranchKeepsOthersCommits(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(t.TempDir(), "none"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	made := localGit{dir: t.TempDir()}
	git := func(args ...string) string {
		t.Helper()
		out, err := made.run(t.Context(), args...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet", "--initial-branch=main")
	commit := func(message string) string {
		git("-c", "user.name=ada", "-c", "user.email=ada@example.com", "commit", "--quiet", "--allow-empty", "-m", message)
		return git("rev-parse", "HEAD")
	}
	base := commit("Begin")
	clone := filepath.Join(t.TempDir(), "clone")
	git("clone", "--quiet", made.dir, clone)
	one, two := commit("Attempt 1"), commit("Attempt 2")
	git("config", "uploadpack.allowAnySHA1InWant", "true")

	var out bytes.Buffer
	run := func() *localRun {
		return &localRun{Env: &cli.Env{Ctx: t.Context(), Out: &out}, cmd: &runCmd{}, bare: made.dir,
			job: localJob{git: localGit{dir: clone}, base: base, branch: "sia/half"}}
	}
	wantBranch := func(name, commit string) {
		t.Helper()
		got, err := localGit{dir: clone}.run(t.Context(), "rev-parse", name)
		if err != nil || strings.TrimSpace(string(got)) != commit {
			t.Errorf("%s is at %s, %v; want %s", name, got, err, commit)
		}
	}
	keep := func(r *localRun, commit string) {
		t.Helper()
		if err := r.keep(t.Context(), commit); err != nil {
			t.Fatal(err)
		}
	}
	first, second := run(), run()
	keep(first, one)
	wantBranch("sia/half", one)
	keep(second, two)
	wantBranch("sia/half", one)
	wantBranch("sia/half-2", two)
	if _, err := first.job.git.run(t.Context(), "update-ref", "refs/heads/sia/half", base); err != nil {
		t.Fatal(err)
	}
	keep(first, two)
	wantBranch("sia/half", base)
	wantBranch("sia/half-3", two)
	if !strings.Contains(out.String(), "somebody else changed it") {
		t.Errorf("said: %s", out.String())
	}

	// A clone whose base was replaced and removed gets the base, too.
	clone = filepath.Join(t.TempDir(), "without")
	git("init", "--quiet", clone)
	keep(run(), one)
	if _, err := (localGit{dir: clone}).run(t.Context(), "rev-list", "--objects", "sia/half"); err != nil {
		t.Error(err)
	}
}

// TestCheckedOutIsARepository: a commit that is checked out is a repository of its own, also if no branch has it.
func TestCheckedOutIsARepository(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(t.TempDir(), "none"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	made := localGit{dir: filepath.Join(t.TempDir(), "made")}
	git := func(g localGit, args ...string) string {
		t.Helper()
		out, err := g.run(t.Context(), args...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.Mkdir(made.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git(made, "init", "--quiet")
	commit := []string{"-c", "user.name=ada", "-c", "user.email=ada@example.com", "commit", "--quiet", "--allow-empty"}
	git(made, append(commit, "-m", "Begin")...)
	sha := git(made, "rev-parse", "HEAD")
	git(made, append(commit, "--amend", "-m", "Another")...)
	dir := filepath.Join(t.TempDir(), "checked-out")
	if err := (&localRun{bare: made.dir}).checkOut(t.Context(), sha, dir); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(made.dir); err != nil {
		t.Fatal(err)
	}
	if got := git(localGit{dir: dir}, "log", "--format=%H %s"); got != sha+" Begin" {
		t.Errorf("git log prints %q", got)
	}
}
