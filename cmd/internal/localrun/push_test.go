package localrun

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/cmd/internal/localgit"
)

// A pass counts as one of a second run if the check failed on the same head before.
func TestPassedLater(t *testing.T) {
	var r run
	r.failed.Store("red", false)
	r.failed.Store("later", true)
	if r.passedLater("red") || !r.passedLater("later") || r.passedLater("green") {
		t.Error("only the second head passed later")
	}
}

// TestResultBranchKeepsOthersCommits: a commit that somebody else puts on the result's branch stays there, and the run
// continues on another branch. So does a second run that began with the same name.
func TestResultBranchKeepsOthersCommits(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(t.TempDir(), "none"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	made := localgit.Own(t.TempDir())
	git := func(args ...string) string {
		t.Helper()
		out, err := made.Run(t.Context(), args...)
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
	git("clone", "--quiet", made.Dir, clone)
	one, two := commit("Attempt 1"), commit("Attempt 2")

	var out bytes.Buffer
	begin := func() *run {
		return &run{Env: &cli.Env{Ctx: t.Context(), Out: &out}, bare: made,
			job: job{git: localgit.At(clone), base: base, branch: "sia/half"}}
	}
	wantBranch := func(name, commit string) {
		t.Helper()
		got, err := localgit.At(clone).Run(t.Context(), "rev-parse", name)
		if err != nil || strings.TrimSpace(string(got)) != commit {
			t.Errorf("%s is at %s, %v; want %s", name, got, err, commit)
		}
	}
	keep := func(r *run, commit string) {
		t.Helper()
		if err := r.keep(t.Context(), commit); err != nil {
			t.Fatal(err)
		}
	}
	first, second := begin(), begin()
	keep(first, one)
	wantBranch("sia/half", one)
	keep(second, two)
	wantBranch("sia/half", one)
	wantBranch("sia/half-2", two)
	if _, err := first.job.git.Run(t.Context(), "update-ref", "refs/heads/sia/half", base); err != nil {
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
	keep(begin(), one)
	if _, err := localgit.At(clone).Run(t.Context(), "rev-list", "--objects", "sia/half"); err != nil {
		t.Error(err)
	}
}
