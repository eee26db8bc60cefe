package gitops

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// gitMergeFile merges with the git command line.
func gitMergeFile(t interface{ Fatalf(string, ...any) }, dir, base, ours, theirs string) (text string, clean bool) {
	for name, content := range map[string]string{"base": base, "ours": ours, "theirs": theirs} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatalf("%v", err)
		}
	}
	cmd := exec.Command("git", "merge-file", "-p", "-q", "-L", "ours", "-L", "base", "-L", "theirs", "ours", "base",
		"theirs")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.Output()
	var conflicts *exec.ExitError
	if err != nil && (!errors.As(err, &conflicts) || conflicts.ExitCode() < 0 || conflicts.ExitCode() > 127) {
		t.Fatalf("git merge-file: %v", err)
	}
	return string(out), err == nil
}

// If no line occurs twice, there is only one way to describe a change. Then a merge equals git's to the byte, conflicts
// included.
func TestMergeTextEqualsGit(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
		n := rapid.IntRange(0, 14).Draw(t, "lines")
		text := func(lines []string, name string) string {
			s := strings.Join(lines, newline)
			if len(lines) > 0 && rapid.IntRange(0, 5).Draw(t, name) > 0 {
				s += newline
			}
			return s
		}
		change := rapid.SampledFrom([]string{"", "", "", "", "", "", "insert", "insert", "delete", "replace"})
		side := func(name string) string {
			var lines []string
			for i := range n + 1 {
				what := change.Draw(t, name)
				if what == "insert" || what == "replace" {
					for k := range rapid.IntRange(1, 2).Draw(t, name) {
						lines = append(lines, fmt.Sprint("new ", i, what, k, rapid.IntRange(0, 2).Draw(t, name)))
					}
				}
				if i < n && what != "delete" && what != "replace" {
					lines = append(lines, fmt.Sprint("line ", i))
				}
			}
			return text(lines, name+" ends")
		}
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprint("line ", i))
		}
		base, ours, theirs := text(lines, "base ends"), side("ours"), side("theirs")
		want, wantClean := gitMergeFile(t, dir, base, ours, theirs)
		got, clean := mergeText([]byte(base), []byte(ours), []byte(theirs), MergeLabels{})
		same := string(got) == want
		if !clean { // in a text with CRLF, our markers end in CRLF, git's only sometimes
			same = strings.ReplaceAll(string(got), "\r\n", "\n") == strings.ReplaceAll(want, "\r\n", "\n")
		}
		if clean != wantClean || !same {
			t.Fatalf("base %q\nours %q\ntheirs %q\nclean %v, in git %v (-git +ours):\n%s", base, ours, theirs, clean, wantClean,
				cmp.Diff(want, string(got)))
		}
	})
}

// Properties of every merge, whichever of several equal lines was changed.
func TestMergeTextProperty(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "}\n", "a\r\n"})
		return strings.Join(rapid.SliceOfN(line, 0, 20).Draw(t, "lines"), "") +
			rapid.SampledFrom([]string{"", "end"}).Draw(t, "end")
	})
	rapid.Check(t, func(t *rapid.T) {
		base, ours, theirs := text.Draw(t, "base"), text.Draw(t, "ours"), text.Draw(t, "theirs")
		merge := func(base, ours, theirs string) (string, bool) {
			b, clean := mergeText([]byte(base), []byte(ours), []byte(theirs), MergeLabels{})
			return string(b), clean
		}
		for _, c := range [][4]string{{base, ours, base, ours}, {base, base, theirs, theirs}, {base, ours, ours, ours}} {
			if got, clean := merge(c[0], c[1], c[2]); !clean || got != c[3] {
				t.Fatalf("base %q, ours %q, theirs %q: %q, clean %v", c[0], c[1], c[2], got, clean)
			}
		}
		one, clean := merge(base, ours, theirs)
		two, alsoClean := merge(base, theirs, ours)
		if clean != alsoClean || clean && one != two {
			t.Fatalf("the sides are not treated alike: %q, clean %v; %q, clean %v", one, clean, two, alsoClean)
		}
		if found := conflict.MatchString(one); found == clean {
			t.Fatalf("clean %v, and markers %v:\n%s", clean, found, one)
		}
	})
}

// Settling moves changes to other equal lines, and does not add changes.
func TestSettleSpansProperty(t *testing.T) {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 25)
	rapid.Check(t, func(t *rapid.T) {
		old, new := lines.Draw(t, "old"), lines.Draw(t, "new")
		size := func(spans []lineSpan) (n int) {
			for _, s := range spans {
				n += s.b - s.a + s.d - s.c
			}
			return n
		}
		spans := settleSpans(old, new)
		var got []string
		at := 0
		for i, s := range spans {
			if i > 0 && s.a <= spans[i-1].b {
				t.Fatalf("%v: two of them touch", spans)
			}
			got = append(append(got, old[at:s.a]...), new[s.c:s.d]...)
			at = s.b
		}
		if got = append(got, old[at:]...); !slices.Equal(got, new) || size(spans) != size(diffLines(old, new)) {
			t.Fatalf("%v gives %q", spans, got)
		}
	})
}

func TestMergeTextCases(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string][3]string{
		"far apart":                   {"1\n2\n3\n4\n5\n", "one\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n"},
		"one line between":            {"1\n2\n3\n", "one\n2\n3\n", "1\n2\nthree\n"},
		"side by side":                {"1\n2\n", "one\n2\n", "1\ntwo\n"},
		"insert beside a change":      {"1\n2\n3\n", "1\nnew\n2\n3\n", "1\n2\nthree\n"},
		"insert before a change":      {"1\n2\n3\n", "1\nnew\n2\n3\n", "1\ntwo\n3\n"},
		"insert where theirs deleted": {"1\n2\n3\n", "1\nnew\n2\n3\n", "1\n3\n"},
		"the same":                    {"1\n2\n3\n", "1\ntwo\n3\n", "1\ntwo\n3\n"},
		"the same and more":           {"1\n2\n3\n4\n5\n", "1\ntwo\n3\n4\n5\n", "1\ntwo\n3\n4\nfive\n"},
		"both append":                 {"1\n", "1\n2\n", "1\nzwei\n"},
		"both append, in part alike":  {"1\n", "1\n2\n3\n", "1\n2\ndrei\n"},
		"both delete other lines":     {"1\n2\n3\n4\n", "1\n3\n4\n", "1\n2\n4\n"},
		"no newline at any end":       {"1\n2\n3", "one\n2\n3", "1\n2\n3\n4"},
		"newline added there":         {"1\n2\n3", "one\n2\n3", "1\n2\n3\n"},
		"newline removed there":       {"1\n2\n3\n", "one\n2\n3\n", "1\n2\n3"},
		"newline and last line":       {"1\n2", "1\n2\n", "1\ntwo"},
		"newline only":                {"1\n2", "1\n2\n", "1\n2"},
		"conflict without newlines":   {"1", "one", "eins"},
		"all deleted here":            {"1\n2\n", "", "1\ntwo\n"},
		"all deleted there":           {"1\n2\n", "one\n2\n", ""},
		"from empty":                  {"", "1\n", "2\n"},
		"from empty, alike":           {"", "1\n2\n", "1\n2\n"},
		"from empty to nearly alike":  {"", "1\n2\n3\n4\n5\n6\n7\n", "1\nzwei\n3\n4\n5\n6\nsieben\n"},
		"Windows":                     {"1\r\n2\r\n3\r\n", "one\r\n2\r\n3\r\n", "1\r\n2\r\nthree\r\n"},
		"Windows, conflict":           {"1\r\n2\r\n", "1\r\ntwo\r\n", "1\r\nzwei"},
		"Windows there only":          {"1\n2\n3\n", "one\n2\n3\n", "1\r\n2\r\n3\r\n"},
		"markers in the text": {"<<<<<<< x\n=======\n>>>>>>> y\n", "<<<<<<< x\n=======\n>>>>>>> y\nz\n",
			"a\n=======\n>>>>>>> y\n"},
		"functions of the same frame": {"func a() {\n}\n", "func a() {\n}\n\nfunc b() {\n}\n",
			"func z() {\n}\n\nfunc a() {\n}\n"},
		"punctuation between":           {"1\n{\n}\n(\n)\n;\n6\n", "a\n{\n}\n(\n)\n;\nb\n", "c\n{\n}\n(\n)\n;\nd\n"},
		"conflicts with little between": {"1\n2\n3\n4\n5\n", "a\n2\n3\n4\nb\n", "c\n2\n3\n4\nd\n"},
		"conflicts with more between":   {"1\n2\n3\n4\n5\n6\n", "a\n2\n3\n4\n5\nb\n", "c\n2\n3\n4\n5\nd\n"},
		"conflict, change, conflict":    {"1\n2\n3\n4\n5\n", "a\n2\nx\n4\nb\n", "c\n2\n3\n4\nd\n"},
	} {
		t.Run(name, func(t *testing.T) {
			want, wantClean := gitMergeFile(t, dir, c[0], c[1], c[2])
			got, clean := mergeText([]byte(c[0]), []byte(c[1]), []byte(c[2]), MergeLabels{})
			if clean != wantClean || string(got) != want {
				t.Errorf("clean %v, in git %v (-git +ours):\n%s", clean, wantClean, cmp.Diff(want, string(got)))
			}
		})
	}
}

// Both sides changed very many lines alike, and others differently: a merge is fast, and no longer than both sides
// together.
//
//test:plain
func TestMergeTextBounded(t *testing.T) {
	var base, ours, theirs strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&base, "%d\n", i%7)
		switch {
		case i%2 == 0:
			ours.WriteString("x\n")
			theirs.WriteString("x\n")
		case i%5 == 0:
			ours.WriteString("o\n")
			theirs.WriteString("t\n")
		default:
			fmt.Fprintf(&ours, "%d\n", i%7)
			fmt.Fprintf(&theirs, "%d\n", i%7)
		}
	}
	text, clean := mergeText([]byte(base.String()), []byte(ours.String()), []byte(theirs.String()), MergeLabels{})
	if clean || len(text) > 3*ours.Len() {
		t.Errorf("clean %v, %d bytes", clean, len(text))
	}
}

func TestMergeLabels(t *testing.T) {
	hostile := "main\n=======\n\x1b[2J" + strings.Repeat("x", 500)
	text, _ := mergeText(nil, []byte("o\n"), []byte("t\n"), MergeLabels{"sia/issue-1", hostile})
	lines := strings.Split(string(text), "\n")
	if len(lines) != 6 || lines[0] != "<<<<<<< sia/issue-1" ||
		!strings.HasPrefix(lines[4], ">>>>>>> main ======= ") || len(lines[4]) > 220 {
		t.Errorf("%q", lines)
	}
}

func TestConflictIsFound(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for text, want := range map[string]bool{
		"":                                     false,
		"<<<<<<< a\n=======\n>>>>>>> b":        true,
		"x\n<<<<<<< a\r\n=======\r\n>>>>>>> b": true,
		"<<<<<<< a\n||||||| b\n=======\n>>>>>>> c\n":                            true,
		long + "\n<<<<<<< " + long + "\n" + long + "\n=======\n>>>>>>> " + long: true,
		long + "<<<<<<< a\n=======\n>>>>>>> b":                                  false,
		" <<<<<<< a\n =======\n >>>>>>> b\n":                                    false,
		"<<<<<<< a\n======= \n>>>>>>> b\n":                                      false,
		"<<<<<<< a\n" + strings.Repeat("=", 5000) + "\n>>>>>>> b\n":             false,
		"<<<<<<< a\n>>>>>>> b\n=======\n":                                       false,
		"=======\n<<<<<<< a\n>>>>>>> b\n":                                       false,
		"Title\n=======\n\ntext >>>>>>> b\n":                                    false,
		"<<<<<<<\n=======\n>>>>>>>\n":                                           false,
		"<<<<<<<< a\n=======\n>>>>>>> b\n":                                      false,
	} {
		if got := conflict.MatchString(text); got != want {
			t.Errorf("%.60q: a conflict: %v", text, got)
		}
	}
}

// FuzzMergeText merges arbitrary texts: both sides are treated alike.
func FuzzMergeText(f *testing.F) {
	f.Add([]byte("1\n2\n3"), []byte("one\n2\n3"), []byte("1\r\n2\n"))
	f.Add([]byte(""), []byte("<<<<<<< a\n=======\n"), []byte(">>>>>>> b\n\n\n"))
	f.Fuzz(func(t *testing.T, base, ours, theirs []byte) {
		one, clean := mergeText(base, ours, theirs, MergeLabels{})
		two, alsoClean := mergeText(base, theirs, ours, MergeLabels{})
		if clean != alsoClean || clean && string(one) != string(two) {
			t.Errorf("%q, clean %v; %q, clean %v", one, clean, two, alsoClean)
		}
		if !clean && !conflict.Match(one) {
			t.Errorf("a conflict without markers: %q", one)
		}
	})
}
