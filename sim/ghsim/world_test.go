package ghsim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sim/ghsim"
)

// A repository made from a local one keeps its history and branches, and its Go workflow really runs go.
func TestRepositoryFromALocalOne(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "--quiet", "--initial-branch=trunk"}} {
		if out, err := git(t, dir, args...); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	commit(t, dir, "go.mod", "module example.com/m\n\ngo 1.26\n")
	commit(t, dir, "m_test.go",
		"package m\n\nimport \"testing\"\n\nfunc TestBooking(t *testing.T) { t.Error(\"no confirmation was sent\") }\n")
	commit(t, dir, ".github/workflows/ci.yml",
		"on: [push, pull_request]\njobs:\n  test:\n    steps:\n      - uses: actions/checkout@v4\n"+
			"      - uses: actions/setup-go@v5\n      - run: go test ./...\n")
	s := newSim(t, nil)
	r, err := s.CreateRepo("acme", "local", ghsim.RepoSpec{From: dir})
	must(t, err)
	head, err := git(t, dir, "rev-parse", "HEAD")
	must(t, err)
	if r.Head != strings.TrimSpace(head) {
		t.Errorf("head %s, want %s", r.Head, head)
	}
	must(t, s.SetPermission("acme/local", "dana", "write"))
	must(t, s.RunWorkflows("acme/local", "trunk", "dana"))
	must(t, s.RunWorkflows("acme/local", "none", "dana"), "no branch")
	if ks, err := s.CheckRuns("acme/local", r.Head); err != nil || len(ks) != 1 {
		t.Errorf("check runs of the base: %v %v", ks, err)
	}
	sha, err := s.PushFiles("acme/local", "topic", "dana", "x", map[string]string{"x.txt": "x"})
	must(t, err)
	s.settle()
	ks, err := s.CheckRuns("acme/local", sha)
	must(t, err)
	if len(ks) != 1 || ks[0].Conclusion != "failure" || !strings.Contains(ks[0].Log, "no confirmation was sent") {
		t.Errorf("check runs %+v", ks)
	}
}

func TestMistakesAreExplained(t *testing.T) {
	s := newSim(t, nil)
	for want, err := range map[string]error{
		"it exists":         second(s.CreateRepo("acme", "shop", ghsim.RepoSpec{})),
		"names are made of": second(s.CreateRepo("acme", "../x", ghsim.RepoSpec{})),
		"CreateRepo":        second(s.OpenIssue("acme/none", "dana", "T", "")),
		"CreateUser":        second(s.OpenIssue(repoName, "nobody", "T", "")),
		"want one of":       s.SetPermission(repoName, "dana", "king"),
		"no app 7":          s.SetWebhook(7, "", ""),
		"no installation 7": s.Uninstall(7),
		"has no issue 9":    s.CloseIssue(repoName, 9, "dana"),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestCloseRemovesItsOwnDirectory(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := ghsim.New(ghsim.Config{})
	must(t, err)
	_, err = s.CreateRepo("a", "b", ghsim.RepoSpec{Files: map[string]string{"x": "x"}})
	must(t, err)
	must(t, s.Close())
	must(t, s.Close())
	if left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "ghsim-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
