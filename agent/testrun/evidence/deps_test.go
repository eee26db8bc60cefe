package evidence_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/gitops"
)

// Code of a head that runs while dependencies are set up can't change what other trees use, whether its manifests are
// those of the base or not. It gets dependencies all the same.
func TestHeadCannotSpoilDependencies(t *testing.T) {
	const begin = `
-- base/pyproject.toml --
[project]
name = "calc"
version = "1"
-- base/calc.py --
def half(a):
    return a // 2
-- base/test_calc.py --
import os, unittest
from importlib.metadata import version
from calc import half

class Halves(unittest.TestCase):
    def test_half(self):
        self.assertEqual(half(4), 2)
        self.assertTrue(version("calc"))

    def test_clean(self):
        self.assertFalse(os.path.exists("/cache/deps/spoiled"))
-- head/tomllib.py --
import sys
try:
    open("/cache/deps/spoiled", "w").close()
except OSError: # tests run
    pass
del sys.modules["tomllib"] # the real one follows
sys.path = [p for p in sys.path if p.startswith("/usr")]
import tomllib
-- head/calc.py --
def half(a):
    return a >> 1
-- manifests/pyproject.toml --
[project]
name = "calc"
version = "2"
-- honest/tomllib.py --
-- honest/pyproject.toml --
[project]
name = "calc"
version = "1"
-- honest/calc.py --
def half(a):
    return int(a / 2)
`
	r, box, dir := newClone(t), newBox(t), filepath.Join(caches, "spoiled")
	a := txtar.Parse([]byte(begin))
	base := r.commit(a, "base/")
	hostile, manifests, honest := r.commit(a, "head/"), r.commit(a, "manifests/"), r.commit(a, "honest/")
	l := evidence.NewLooker(box, dir, nil, time.Now)
	wanted := func(head string) evidence.Wanted {
		return evidence.Wanted{Repository: "3/7", Base: base, Head: head,
			Open: func(context.Context, ...string) (*gitops.History, error) { return gitops.OpenHistory(r.dir) }}
	}
	for _, head := range []string{hostile, manifests} { // before the push the head is first
		got, err := l.Affected(t.Context(), wanted(head))
		own := len(got.Failed) == 1 && got.Failed[0] == "test_calc.py::test_calc.Halves.test_clean"
		if err != nil || got.Ran != 2 || (len(got.Failed) > 0) != (head == manifests) || head == manifests && !own {
			t.Errorf("before the push: %+v, %v", got, err)
		}
	}
	e, err := l.Look(t.Context(), wanted(honest))
	if err != nil || e.NotRun != "" || e.Tests != 2 || len(e.Red)+len(e.Failing) > 0 {
		t.Errorf("of another head: %+v, %v", e, err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*", "deps", "*", "spoiled"))
	if err != nil || len(found) != 1 || strings.Count(filepath.Base(filepath.Dir(found[0])), "-") != 2 {
		t.Errorf("spoiled: %q, %v", found, err)
	}
	if err := sandbox.RemoveAll(dir); err != nil {
		t.Error(err)
	}
}
