package replay

import (
	"io/fs"
	"maps"
	"slices"
	"testing"

	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
)

// TestLineSieve: which commits of other languages need not be run to know that they are no tasks.
func TestLineSieve(t *testing.T) {
	base := map[string]string{"calc.py": "def half(a):\n    return a / 2\n", "README.rst": "Calc.\n",
		"test_calc.py": "def test_half():\n    assert half(4) == 2\n\ndef test_none():\n    assert half(0) == 0\n"}
	for _, c := range []struct {
		name  string
		edits map[string]string
		want  string
	}{
		{"a repair", map[string]string{"calc.py": "def half(a):\n    return a // 2\n",
			"test_calc.py": base["test_calc.py"] + "\ndef test_odd():\n    assert half(3) == 1\n"}, ""},
		{"tests that went", map[string]string{"calc.py": "def half(a):\n    return a // 2\n", "README.rst": "Calculates.\n",
			"test_calc.py": "def test_half():\n    # whole numbers\n    assert half(4) == 2\n"}, sameTests},
		{"words about the code", map[string]string{"calc.py": "# Halves.\ndef half(a):\n\n    return a / 2\n",
			"test_calc.py": base["test_calc.py"] + "\ndef test_odd():\n    assert half(3) == 1.5\n"}, sameCode},
		{"data that the code reads", map[string]string{"calc.py": base["calc.py"] + "# of data\n", "data.json": "{}\n",
			"test_calc.py": base["test_calc.py"] + "\ndef test_odd():\n    assert half(3) == 1.5\n"}, ""},
		{"lines in another order", map[string]string{"calc.py": "    return a / 2\ndef half(a):\n",
			"test_calc.py": base["test_calc.py"] + "\ndef test_odd():\n    assert half(3) == 1.5\n"}, ""},
	} {
		now := maps.Clone(base)
		maps.Copy(now, c.edits)
		of := candidate{lang: testrun.Python{}}
		for _, p := range slices.Sorted(maps.Keys(now)) {
			if now[p] != base[p] {
				of.changes = append(of.changes, gitops.HistoryChange{Path: p})
			}
		}
		read := func(tree map[string]string) testrun.ReadFile {
			return func(p string) ([]byte, error) {
				if text, ok := tree[p]; ok {
					return []byte(text), nil
				}
				return nil, fs.ErrNotExist
			}
		}
		if got := sieveOf(of.lang).idle(of, split{}, read(base), nil, read(now)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
