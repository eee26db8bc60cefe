package gitops

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOwnRefs pushes a commit to the server without a branch, repeatedly, and deletes the ref.
func TestOwnRefs(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	const ref = "refs/sia/objects/1-2"
	one, two := f.change(f.main, "one"), f.change(f.main, "two")
	for _, sha := range []string{one, one, two} {
		if err := f.repo.PushRef(ctx, ref, sha); err != nil {
			t.Fatal(err)
		}
		if got := git(t, f.bare, "rev-parse", ref); got != sha {
			t.Errorf("%s is at %s, want %s", ref, got, sha)
		}
	}
	if got := git(t, f.bare, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main\n"+ref {
		t.Errorf("refs %q", got)
	}
	// A commit that the server made of the objects is fetched by its hash, and pushed without any object.
	signed := git(t, f.bare, "commit-tree", two+"^{tree}", "-p", f.main, "-m", "change two")
	if err := f.repo.Push(ctx, "b", signed, ""); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.repo.DropRef(ctx, ref); err != nil {
			t.Fatal(err)
		}
	}
	if got := git(t, f.bare, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/b", "refs/sia"); got !=
		"refs/heads/b "+signed {
		t.Errorf("refs %q", got)
	}
	same := must[bool](t)(f.repo.SameWork(ctx, signed, two))
	other := must[bool](t)(f.repo.SameWork(ctx, signed, one))
	if !same || other {
		t.Errorf("same work: %v, %v", same, other)
	}
	for _, name := range []string{"refs/heads/main", "refs/sia/x", "refs/sia/objects/..", "refs/sia/objects/a b"} {
		if f.repo.PushRef(ctx, name, one) == nil || f.repo.DropRef(ctx, name) == nil {
			t.Errorf("%s is taken", name)
		}
	}
	write(t, f.bare, map[string]string{"hooks/pre-receive": "#!/bin/sh\necho no refs here\nexit 1\n"})
	must0(t, os.Chmod(f.bare+"/hooks/pre-receive", 0o755))
	var refused *RejectedError
	if err := f.repo.PushRef(ctx, ref, one); !errors.As(err, &refused) {
		t.Errorf("refused: %v", err)
	}
}

// A ref that another push moves at the same time is pushed again.
func TestPushRefRaces(t *testing.T) {
	f := newFixture(t)
	const ref = "refs/sia/objects/x"
	one := f.change(f.main, "one")
	hook := filepath.Join(f.bare, "hooks", "pre-receive")
	write(t, f.bare, map[string]string{"hooks/pre-receive": "#!/bin/sh\nrm " + hook +
		"\nunset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY\ngit update-ref " + ref + " " + f.main + "\n"})
	must0(t, os.Chmod(hook, 0o755))
	must0(t, f.repo.PushRef(t.Context(), ref, one))
	if got := git(t, f.bare, "rev-parse", ref); got != one {
		t.Errorf("ref at %s, want %s", got, one)
	}
}

// TestMadeCommits lists the commits of a branch that were made here, each after its parents.
func TestMadeCommits(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	one := f.change(f.main, "one")
	two := f.change(one, "two")
	tree := func(sha string) string {
		if err := f.repo.PushRef(ctx, "refs/sia/objects/x", sha); err != nil {
			t.Fatal(err)
		}
		return git(t, f.bare, "rev-parse", sha+"^{tree}")
	}
	all := []Made{
		{SHA: one, Tree: tree(one), Parents: []string{f.main}, Message: "change one\n"},
		{SHA: two, Tree: tree(two), Parents: []string{one}, Message: "change two\n"},
	}
	for known, want := range map[string][]Made{"": all, f.main: all, one: all[1:], two: nil} {
		if d := cmp.Diff(want, must[[]Made](t)(f.repo.MadeCommits(ctx, two, known))); d != "" {
			t.Errorf("known %q: %s", known, d)
		}
	}
	if got := must[[]Made](t)(f.repo.MadeCommits(ctx, f.main)); len(got) != 0 {
		t.Errorf("what was fetched: %v", got)
	}
}
