package failure

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what the reader says as what is wanted")

// TestGolden reads logs in the formats of many tools. A file of testdata holds pairs: a log and the expected report.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata: %d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			out := &txtar.Archive{Comment: a.Comment}
			for _, f := range a.Files {
				if name, ok := strings.CutSuffix(f.Name, ".want"); ok {
					want[name] = string(f.Data)
				}
			}
			for _, f := range a.Files {
				name, ok := strings.CutSuffix(f.Name, ".log")
				if !ok {
					continue
				}
				rep, err := Read(t.Context(), strings.NewReader(string(f.Data)), Options{})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				got := shown(rep)
				if diff := cmp.Diff(want[name], got); diff != "" && !*update {
					t.Errorf("%s: -want +got\n%s", name, diff)
				}
				out.Files = append(out.Files, f, txtar.File{Name: name + ".want", Data: []byte(got)})
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// shown returns a report in the format of the golden files, without the signature: other tests check which are equal.
func shown(r Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "class %s\n", r.Class)
	for _, s := range r.Excerpt {
		fmt.Fprintf(&b, "lines %d-%d\n", s.Start, s.End)
	}
	for _, t := range r.Tests {
		fmt.Fprintf(&b, "test %q %s:%d\n", t.Name, t.File, t.Line)
	}
	for _, w := range r.Why {
		fmt.Fprintf(&b, "why %s\n", w)
	}
	if r.Text != "" {
		fmt.Fprintf(&b, "from line %d:\n", r.Line)
		for _, l := range strings.Split(r.Text, "\n") {
			fmt.Fprintf(&b, "| %s\n", l)
		}
	}
	return b.String()
}
