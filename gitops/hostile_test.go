package gitops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A repository that asks git to run something, in each way there is: none of it
// runs, at checkout, commit or push, and what is committed is what lies there.
func TestNothingOfARepositoryRuns(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	ran := filepath.Join(t.TempDir(), "ran")
	evil := "#!/bin/sh\ntouch " + ran + "\ncat\n"
	write(t, f.work, map[string]string{
		".gitattributes": "* filter=evil diff=evil merge=evil\nnote.txt text eol=crlf ident\n",
		".gitmodules": "[submodule \"a\"]\n\tpath = a\n\turl = ext::sh -c touch% " + ran + "\n\tupdate = !touch " + ran +
			"\n[submodule \"b\"]\n\tpath = ../../b\n\turl = file:///\n",
		".lfsconfig":       "[lfs]\n\turl = file:///\n",
		".githooks/commit": evil,
		"note.txt":         "one $Id$\ntwo\n",
	})
	git(t, f.work, "update-index", "--add", "--cacheinfo", "160000,"+f.main+",a")
	head := commitAll(t, f.work, "hostile")
	w := must[*Workspace](t)(f.repo.Workspace(ctx, "", head))
	if b, err := os.ReadFile(filepath.Join(w.Dir(), "note.txt")); err != nil || string(b) != "one $Id$\ntwo\n" {
		t.Errorf("checked out: %q, %v", b, err)
	}

	// What code in the work tree could have left, had .git not been read-only.
	config := "[core]\n\trepositoryformatversion = 0\n\thooksPath = .githooks\n\tfsmonitor = " + ran +
		".sh\n\tsshCommand = " + ran + ".sh\n\teditor = " + ran + ".sh\n" +
		"[filter \"evil\"]\n\tclean = " + ran + ".sh\n\tsmudge = " + ran + ".sh\n\tprocess = " + ran +
		".sh\n\trequired = true\n[diff \"evil\"]\n\tcommand = " + ran + ".sh\n\ttextconv = " + ran + ".sh\n" +
		"[credential]\n\thelper = !touch " + ran + "\n[gpg]\n\tprogram = " + ran +
		".sh\n[commit]\n\tgpgSign = true\n[url \"ext::sh -c touch% " + ran + "\"]\n\tinsteadOf = " + f.url +
		"\n[include]\n\tpath = ../.lfsconfig\n"
	files := map[string]string{".git/config": config, "new.txt": "new\n"}
	for _, hook := range []string{"pre-commit", "commit-msg", "post-commit", "pre-push", "post-checkout",
		"reference-transaction", "fsmonitor-watchman"} {
		files[".git/hooks/"+hook] = evil
	}
	write(t, w.Dir(), files)
	write(t, filepath.Dir(ran), map[string]string{"ran.sh": evil})
	for _, p := range []string{ran + ".sh", filepath.Join(w.Dir(), ".git/hooks/pre-commit"),
		filepath.Join(w.Dir(), ".git/hooks/pre-push"), filepath.Join(w.Dir(), ".githooks/commit")} {
		must0(t, os.Chmod(p, 0o755))
	}
	if d := must[Diff](t)(w.Diff(ctx)); !strings.Contains(d.Patch, "+new") {
		t.Errorf("Diff:\n%s", d.Patch)
	}
	sha := must[string](t)(w.Commit(ctx, testSpec("c")))
	must0(t, f.repo.Push(ctx, "b", sha, ""))
	if got := git(t, f.bare, "cat-file", "-p", sha+":new.txt"); got != "new" {
		t.Errorf("committed: %q", got)
	}
	must0(t, w.Remove())
	if _, err := os.Lstat(ran); err == nil {
		t.Error("something of the repository ran on this host")
	}
}
