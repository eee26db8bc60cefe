package tamper

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the golden results anew")

// TestCases runs the archives of testdata. One archive has many cases; the sections of one are
//
//	<case>/old/<path>   a file on the base
//	<case>/new/<path>   a file on the head
//	<case>/protected    globs that the settings name, one a line
//	<case>/want         what is found: golden
//
// A section old/<path> with "=> <path>" as its first line has no file of its own:
// the rest is renamed from there. In a case with a name that begins with "ok-" nothing
// may be found, in one that begins with "bad-" something must be, and in one that
// begins with "review-" what asks the reviewer alone.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { playArchive(t, file) })
	}
}

func playArchive(t *testing.T, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := &txtar.Archive{Comment: a.Comment}
	good, bad := 0, 0
	for _, c := range readCases(a) {
		t.Run(c.name, func(t *testing.T) {
			got := Find(c.changes(true), c.protected, everywhere...)
			var b strings.Builder
			for _, f := range got {
				b.WriteString(string(f.Kind) + " " + f.String() + "\n")
			}
			switch {
			case strings.HasPrefix(c.name, "ok-"):
				good++
				if len(got) > 0 {
					t.Errorf("nothing is wrong here, but:\n%s", b.String())
				}
			case strings.HasPrefix(c.name, "bad-"):
				bad++
				if len(got) == 0 {
					t.Errorf("nothing was found")
				}
			case strings.HasPrefix(c.name, "review-"):
				good++
				if i := slices.IndexFunc(got, func(f Finding) bool { return f.Asks() == Person }); i >= 0 || len(got) == 0 {
					t.Errorf("the reviewer alone was to be asked, but:\n%s", b.String())
				}
			default:
				t.Errorf("the name begins with none of ok-, bad- and review-")
			}
			if !*update {
				if diff := cmp.Diff(c.want, b.String()); diff != "" {
					t.Errorf("found (-want +got):\n%s", diff)
				}
			}
			Find(c.changes(false), c.protected, everywhere...) // hunks alone: fewer are found, but none breaks it
			c.want = b.String()
		})
		out.Files = append(out.Files, c.files...)
		out.Files = append(out.Files, txtar.File{Name: c.name + "/want", Data: []byte(c.want)})
	}
	if good < 5 || bad < 5 {
		t.Errorf("%d cases that ask no person and %d that ask; at least 5 of each", good, bad)
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// everywhere are two of the globs that are protected in every repository.
var everywhere = []string{".github/**", "**/.pre-commit-config.yaml"}

type testCase struct {
	name      string
	old, new  map[string]string
	renames   map[string]string // new path → old
	protected []string
	want      string
	files     []txtar.File
}

func readCases(a *txtar.Archive) []*testCase {
	var all []*testCase
	for _, f := range a.Files {
		name, section, _ := strings.Cut(f.Name, "/")
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, &testCase{name: name, old: map[string]string{}, new: map[string]string{},
				renames: map[string]string{}})
		}
		c := all[len(all)-1]
		kind, path, _ := strings.Cut(section, "/")
		text := string(f.Data)
		switch kind {
		case "old":
			if to, ok := strings.CutPrefix(text, "=> "); ok {
				first, rest, _ := strings.Cut(to, "\n")
				c.renames[first] = path
				text = rest
			}
			c.old[path] = text
		case "new":
			c.new[path] = text
		case "protected":
			c.protected = strings.Fields(text)
		case "want":
			c.want = text
			continue
		}
		c.files = append(c.files, f)
	}
	return all
}

// changes returns the changes of a case, as diffs with three lines of context.
func (c *testCase) changes(whole bool) []Change {
	var out []Change
	workflows := ""
	for p, text := range c.old {
		if strings.HasPrefix(p, ".github/workflows/") {
			workflows += text
		}
	}
	renamed := map[string]bool{}
	for _, from := range c.renames {
		renamed[from] = true
	}
	for p, text := range c.new {
		ch := Change{Path: p, Status: "added", Runs: RunBy(workflows, p)}
		old, was := c.old[p]
		if from, ok := c.renames[p]; ok {
			ch.Status, ch.OldPath, old = "renamed", from, c.old[from]
		} else if was {
			ch.Status = "modified"
		}
		if was && old == text {
			continue
		}
		if whole {
			ch.Old = old
		}
		ch.Hunks = diffHunks(old, text)
		out = append(out, ch)
	}
	for p, text := range c.old {
		if _, ok := c.new[p]; !ok && !renamed[p] {
			out = append(out, Change{Path: p, Status: "deleted", Runs: RunBy(workflows, p), Hunks: diffHunks(text, "")})
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// diffHunks compares two texts by their longest common subsequence of lines.
func diffHunks(old, new string) []Hunk {
	a, b := splitText(old), splitText(new)
	n, m := len(a), len(b)
	lcs := make([][]int, n+1)
	for i := range lcs {
		lcs[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if a[i] == b[j] {
				lcs[i][j] = lcs[i+1][j+1] + 1
			} else {
				lcs[i][j] = max(lcs[i+1][j], lcs[i][j+1])
			}
		}
	}
	type op struct {
		sign byte
		text string
		i, j int
	}
	var ops []op
	i, j := 0, 0
	for i < n || j < m {
		switch {
		case i < n && j < m && a[i] == b[j]:
			ops = append(ops, op{' ', a[i], i, j})
			i++
			j++
		case i < n && (j == m || lcs[i+1][j] >= lcs[i][j+1]):
			ops = append(ops, op{'-', a[i], i, j})
			i++
		default:
			ops = append(ops, op{'+', b[j], i, j})
			j++
		}
	}
	var hunks []Hunk
	last := -10
	for k, o := range ops {
		if o.sign == ' ' {
			continue
		}
		from := max(0, k-3)
		if last >= from-1 && len(hunks) > 0 {
			from = last + 1
		} else {
			hunks = append(hunks, Hunk{OldStart: ops[from].i + 1, NewStart: ops[from].j + 1})
		}
		h := &hunks[len(hunks)-1]
		end := k + 1
		for end < len(ops) && end <= k+3 && ops[end].sign == ' ' {
			end++
		}
		for x := max(from, last+1); x < end; x++ {
			h.Lines = append(h.Lines, string(ops[x].sign)+ops[x].text)
		}
		last = end - 1
	}
	for k := range hunks {
		olds := 0
		for _, l := range hunks[k].Lines {
			if l[0] != '+' {
				olds++
			}
		}
		if olds == 0 {
			hunks[k].OldStart-- // as git does
		}
	}
	return hunks
}

func splitText(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}
