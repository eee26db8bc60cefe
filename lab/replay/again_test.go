package replay_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/lab/replay"
)

// subRepaired is a repository with one task.
func subRepaired(t *testing.T) (c *clone, sha string) {
	c = newClone(t)
	c.commit("Begin", map[string]string{"go.mod": "module example.com/calc\n\ngo 1.21\n", "calc.go": goFile(subWrong)})
	return c, c.commit("Sub is the wrong way round", map[string]string{"calc.go": goFile(subRight),
		"calc_test.go": goTests("TestSub", "if Sub(9, 1) != 8 { t.Error() }")})
}

// judgedIn mines and returns how many commits were judged, and the result of one.
func judgedIn(t *testing.T, s replay.MineSpec, sha string) (int, replay.Verdict) {
	t.Helper()
	m := mine(t, s)
	kept, err := s.Folder.Candidates()
	if err != nil {
		t.Fatal(err)
	}
	return m.Judged, kept[sha].Verdict
}

// TestEndedAgain: what a limit ended is looked at again by the next two calls, and the last verdict counts.
func TestEndedAgain(t *testing.T) {
	c, sha := subRepaired(t)
	second := newFolder(t)
	short := replay.MineSpec{History: c.open(), Folder: newFolder(t), Box: newBox(t), Repo: "acme/calc",
		Within: time.Nanosecond}
	for _, want := range []int{1, 1, 1, 0} {
		if n, v := judgedIn(t, short, sha); n != want || v != replay.Ended {
			t.Errorf("judged %d, which came to %q; want %d and %q", n, v, want, replay.Ended)
		}
	}
	short.Folder = second
	long := short // the machine is not busy any more
	long.Within = 0
	for _, s := range []struct {
		replay.MineSpec
		want replay.Verdict
	}{{short, replay.Ended}, {long, replay.Verified}} {
		if n, v := judgedIn(t, s.MineSpec, sha); n != 1 || v != s.want {
			t.Errorf("judged %d, which came to %q; want 1 and %q", n, v, s.want)
		}
	}
}

// TestUnfetched: a commit that still lacks what it depends on after everything was fetched that can be is no commit
// that adds what its tests call; it is looked at again.
func TestUnfetched(t *testing.T) {
	c := newClone(t)
	c.commit("Begin", map[string]string{
		"go.mod":  "module example.com/calc\n\ngo 1.21\n\nrequire example.com/absent v1.0.0\n",
		"calc.go": "package calc\n\nimport \"example.com/absent\"\n\n" + subWrong + "\nvar _ = absent.Here\n"})
	sha := c.commit("Sub is the wrong way round", map[string]string{
		"calc.go":      "package calc\n\nimport \"example.com/absent\"\n\n" + subRight + "\nvar _ = absent.Here\n",
		"calc_test.go": goTests("TestSub", "if Sub(9, 1) != 8 { t.Error() }")})
	spec := replay.MineSpec{History: c.open(), Folder: newFolder(t), Repo: "acme/calc",
		Box: sandboxtest.New(t, sandbox.Options{})} // it has no way out
	for range 2 {
		if n, v := judgedIn(t, spec, sha); n != 1 || v != replay.Unprepared {
			t.Errorf("judged %d, which came to %q; want 1 and %q", n, v, replay.Unprepared)
		}
	}
}

// TestBuiltOnce: a repository's build caches begin with a copy of the compiled standard library.
func TestBuiltOnce(t *testing.T) {
	from, err := newBox(t).Stdlib(t.Context())
	if err != nil || from == "" {
		t.Fatalf("%q, %v", from, err)
	}
	own := t.TempDir()
	at := filepath.Join(own, filepath.Base(from))
	if err := os.CopyFS(at, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "go", "mark"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, sha := subRepaired(t)
	s := replay.MineSpec{History: c.open(), Folder: newFolder(t), Repo: "acme/calc",
		Box: sandboxtest.New(t, sandbox.Options{Stdlib: own})}
	if _, v := judgedIn(t, s, sha); v != replay.Verified {
		t.Fatalf("it gave %q", v)
	}
	if _, err := os.Stat(filepath.Join(s.Folder.Path(), "cache", "build", "go", "mark")); err != nil {
		t.Errorf("it was compiled anew: %v", err)
	}
}
