package technique_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/invalid"
	"github.com/sia-bot/sia/sia/technique"
)

func shippedFiles(t *testing.T) *technique.Library {
	t.Helper()
	l, errs := technique.LoadLibrary(nil)
	if len(errs) > 0 {
		t.Fatalf("shipped techniques: %v", errs)
	}
	return l
}

// A technique on trial is part of the library; a replacement of a built-in one is never on trial.
func TestOnTrial(t *testing.T) {
	file := func(id, more string) []byte {
		return []byte("---\nid: " + id + "\nname: N\nwhen: it is new\npatterns: [wrong-order]\n" +
			"changes: [quote]\n" + more + "---\nDo it.\n")
	}
	l, errs := technique.LoadLibrary(map[string][]byte{
		technique.FilePath("b"): file("b", "trial: true\n"), technique.FilePath("a"): file("a", "trial: true\n"),
		technique.FilePath("c"): file("c", "trial: false\n"), technique.FilePath("d"): file("d", ""),
		technique.FilePath("fresh-start"): file("fresh-start", "trial: true\n"),
	})
	if len(errs) > 0 || !slices.Equal(l.OnTrial(), []sia.TechniqueID{"a", "b"}) {
		t.Errorf("on trial are %v (%v)", l.OnTrial(), errs)
	}
	rest := l.Without("a", "none")
	if _, ok := rest.Get("a"); ok || len(rest.All()) != len(l.All())-1 {
		t.Errorf("left are %v", rest.All())
	}
	if b, ok := rest.Get("b"); !ok || b.ID != "b" {
		t.Errorf("b became %v", b)
	}
	soon := map[string][]byte{technique.FilePath("e"): file("e", "trial: soon\n")}
	if _, errs := technique.LoadLibrary(soon); len(errs) != 1 {
		t.Errorf("trial: soon is read: %v", errs)
	}
}

func TestShipped(t *testing.T) {
	l := shippedFiles(t)
	var ids []sia.TechniqueID
	for _, x := range l.All() {
		ids = append(ids, x.ID)
		if !x.Shipped || x.Path != "library/"+string(x.ID)+".md" {
			t.Errorf("%s: shipped %v, path %q", x.ID, x.Shipped, x.Path)
		}
		if n := len(strings.Fields(x.Prompt)); n < 40 || n > 300 {
			t.Errorf("%s: its body has %d words; want an instruction of 40 to 300", x.ID, n)
		}
	}
	want := []sia.TechniqueID{
		sia.Decomposition, sia.ToolChange, sia.PromptRestructuring, sia.ContextPruning, sia.ExampleInjection,
		sia.ConstraintRelaxation, sia.DependencyReordering, sia.AbstractionLevelShift, sia.ErrorPattern, sia.FreshStart,
	}
	if d := cmp.Diff(want, ids); d != "" {
		t.Error(d)
	}
	for _, c := range technique.Changes {
		if !slices.ContainsFunc(l.All(), func(x technique.Technique) bool { return slices.Contains(x.Changes, c) }) {
			t.Errorf("no shipped technique makes the change %s", c)
		}
	}
}

// TestEveryPatternHasAFirstAnswer: there is a technique for every pattern that has not been tried.
func TestEveryPatternHasAFirstAnswer(t *testing.T) {
	l := shippedFiles(t)
	for _, p := range sia.Patterns {
		ts := l.For(p)
		if len(ts) == 0 {
			t.Errorf("nothing answers %s", p)
			continue
		}
		if !slices.IsSortedFunc(ts, func(a, b technique.Technique) int { return a.Ranks[p] - b.Ranks[p] }) {
			t.Errorf("%s: not ordered by rank", p)
		}
		if cs := l.Candidates(sia.Task{}, p); len(cs) < 2 {
			t.Errorf("%s: %d candidates", p, len(cs))
		}
	}
}

func TestLoadRepository(t *testing.T) {
	const own = "---\nid: contract-test\nname: Contract test\nwhen: both sides disagree\n" +
		"patterns: [wrong-abstraction-level]\nchanges: [examples]\n---\nWrite the contract down first.\n"
	files := map[string][]byte{
		".sia/techniques/contract-test.md": []byte(own),
		".sia/techniques/twice.md":         []byte(own),
		".sia/techniques/fresh-start.md": []byte("---\r\nid: fresh-start\r\nname: Our fresh start\r\nwhen: always\r\n" +
			"patterns:\r\n  unknown: 1\r\nchanges: [from-base]\r\n---\r\nStart again.\r\n"),
		".sia/techniques/README.md": []byte("not a technique"),
		".sia/techniques/notes.txt": []byte("not a technique"),
		".sia/techniques/broken.md": []byte("---\nid: broken\nname: Broken\nwhen: never\n" +
			"patterns: [no-such-pattern]\nchanges: [steps]\n---\nbody\n"),
	}
	l, errs := technique.LoadLibrary(files)
	var got []string
	for _, err := range errs {
		var f *invalid.File
		if !errors.As(err, &f) {
			t.Fatalf("%T: %v", err, err)
		}
		got = append(got, err.Error())
	}
	want := []string{
		`.sia/techniques/broken.md:5:12: patterns.1: want interdependent-components, ` +
			`external-dependency-blocker, wrong-tool, unclear-instructions, context-overload, missing-example, ` +
			`over-constrained, wrong-order, wrong-abstraction-level, repeated-error, accumulated-cruft, ` +
			`unclear-specification, missing-credentials, environment, flaky-check or unknown; this is "no-such-pattern"`,
		`.sia/techniques/twice.md:2:1: id: contract-test is taken by .sia/techniques/contract-test.md`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := len(l.All()); n != 11 {
		t.Errorf("%d techniques, want the ten and one", n)
	}
	fresh, _ := l.Get(sia.FreshStart)
	if fresh.Name != "Our fresh start" || fresh.Shipped || fresh.Prompt != "Start again." {
		t.Errorf("the repository's file did not replace the shipped one: %+v", fresh)
	}
	if _, ok := l.Get("no-such"); ok {
		t.Error("Get found what is not there")
	}
	all := l.All()
	all[0].ID = "changed"
	if _, ok := l.Get(sia.Decomposition); !ok || l.All()[0].ID != sia.Decomposition {
		t.Error("a caller can change the library")
	}
}

func TestParseFaults(t *testing.T) {
	with := func(old, new string) string {
		return strings.Replace("---\nid: a-b\nname: A\nwhen: w\npatterns:\n  unknown: 1\nchanges: [steps]\n---\nbody\n", old,
			new, 1)
	}
	tests := []struct {
		name, file, want string
		line             int
	}{
		{"no front matter", "body only\n", "want front matter", 1},
		{"not closed", "---\nid: x\n", "want front matter", 1},
		{"empty", "---\n# To do\n---\nbody\n", "lower-case words", 0},
		{"unknown key", with("when: w", "when: w\nwhem: x"), `whem: there is no such key (did you mean when?)`, 5},
		{"bad id", with("a-b", "A B"), "lower-case words", 2},
		{"no name", with("name: A\n", ""), "name: want", 0},
		{"no patterns", with("patterns:\n  unknown: 1\n", ""), "patterns: name", 0},
		{"rank", with("unknown: 1", "unknown: 12"), "from 1 to 9; this is 12", 6},
		{"no change", with("changes: [steps]\n", ""), "changes: name", 0},
		{"unknown change", with("[steps]", "[stepz]"), `"stepz"`, 7},
		{"unknown precondition", with("changes", "preconditions: [luck]\nchanges"), `"luck"`, 7},
		{"no body", with("body\n", "\n"), "the body has 0 bytes", 0},
		{"not text", with("body", "\xff\xfe"), "UTF-8", 0},
		{"alias", with("when: w", "when: &a w"), "an alias or anchor", 4},
		{"broken yaml", with("when: w", "when: [w"), "not readable as YAML", 0},
		{"too long", with("body", strings.Repeat("x", 9000)), "bytes", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := technique.ParseFile("p.md", []byte(tt.file))
			var f *invalid.File
			if !errors.As(err, &f) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want an error about %q", err, tt.want)
			}
			if line := f.Problems[0].Line; tt.line != 0 && line != tt.line {
				t.Errorf("line %d, want %d: %v", line, tt.line, err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\nid: a\nname: A\nwhen: w\npatterns: {unknown: 1}\nchanges: [steps]\n---\nbody")
	f.Add("---\n---\n")
	f.Add("---\nid: [\n---\n")
	f.Fuzz(func(t *testing.T, file string) {
		x, err := technique.ParseFile("p.md", []byte(file))
		if err != nil {
			var fe *invalid.File
			if !errors.As(err, &fe) {
				t.Fatalf("%T", err)
			}
			return
		}
		if x.ID == "" || x.Name == "" || x.Prompt == "" || len(x.Ranks) == 0 || len(x.Changes) == 0 {
			t.Fatalf("accepted without what it needs: %+v", x)
		}
	})
}
