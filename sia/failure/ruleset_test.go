package failure

import (
	"slices"
	"strings"
	"testing"
)

// The rules have the properties that the reader relies on.
func TestRules(t *testing.T) {
	set := compiledRules()
	if len(set.rules) > maxRules {
		t.Fatalf("%d rules; there is room for %d", len(set.rules), maxRules)
	}
	t.Logf("%d rules, %d keywords", len(set.rules), len(set.byKey))
	for _, r := range set.rules {
		if r.name == "" || r.match == nil && !r.soft || r.extent == nil || len(r.keys) == 0 || r.weight <= 0 ||
			r.weight > 100 || !slices.Contains(Classes, r.class) {
			t.Errorf("rule %q is incomplete", r.name)
		}
		for _, k := range r.keys {
			if k == "" || k != strings.ToLower(k) {
				t.Errorf("rule %q: keyword %q", r.name, k)
			}
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"2031-02-03T10:00:00.1Z \x1b[31mred\x1b[0m", "a\rb\rc", "job\tstep\t2031-02-03T10:00:00Z x",
		"^[[1;31mx^[[0m", "travis_fold:start:a\r\x1b[0Kx", `{"Action":"output","Output":"a\n"}`, "##[error]x", "\u00a0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var c lineCleaner
		raw := []byte(s)
		l := c.clean(raw, 1)
		if string(raw) != s {
			t.Error("the raw line changed")
		}
		if strings.Contains(string(l.text), "\x1b") {
			t.Errorf("an escape stayed in %q", l.text)
		}
		if l.blank() != (strings.Trim(string(l.text), " \t\u00a0") == "") {
			t.Errorf("blank %t: %q", l.blank(), l.text)
		}
		_ = l.indentBytes()
	})
}
