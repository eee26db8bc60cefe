package symbol_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/tool/symbol"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each source file in testdata has an outline file next to it.
func TestOf(t *testing.T) {
	sources, err := filepath.Glob("testdata/*.src.*")
	sources = slices.DeleteFunc(sources, func(p string) bool { return strings.HasSuffix(p, ".golden") })
	if err != nil || len(sources) < 8 {
		t.Fatal("no sources", err)
	}
	for _, p := range sources {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, s := range symbol.Of(p, string(b)) {
			fmt.Fprintf(&got, "%d:%s %s | %s\n", s.Line, strings.Repeat("  ", s.Depth), s.Name, s.Text)
		}
		golden := p + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got.String()); d != "" {
			t.Errorf("%s: %s", p, d)
		}
	}
}

func TestKnows(t *testing.T) {
	for p, want := range map[string]bool{"a.go": true, "b/c.TS": true, "x.py": true, "README.md": false, "Makefile": false,
		"a.json": false} {
		if symbol.Knows(p) != want {
			t.Errorf("%s: %v", p, !want)
		}
	}
	if s := symbol.Of("a.txt", "func main() {}"); s != nil {
		t.Errorf("a language that is not known: %v", s)
	}
}

func FuzzOf(f *testing.F) {
	sources, _ := filepath.Glob("testdata/*.src.*")
	for _, p := range sources {
		if b, err := os.ReadFile(p); err == nil && !strings.HasSuffix(p, ".golden") {
			f.Add(filepath.Ext(p), string(b))
		}
	}
	f.Fuzz(func(t *testing.T, ext, text string) {
		lines := strings.Count(text, "\n") + 1
		last := 0
		for _, s := range symbol.Of("a"+ext, text) {
			if s.Line < 1 || s.Line > lines || s.Depth < 0 || s.Depth > 3 || len(s.Text) > 200 ||
				strings.Contains(s.Text, "\n") {
				t.Errorf("%+v of %d lines", s, lines)
			}
			if ext != ".go" && s.Line < last {
				t.Errorf("line %d after %d", s.Line, last)
			}
			if last = s.Line; utf8.ValidString(text) && !utf8.ValidString(s.Text) {
				t.Errorf("%q", s.Text)
			}
		}
	})
}
