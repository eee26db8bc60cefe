package tool_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/tool"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each case is an archive: the files before below in/, the patch, the files after below out/, and the tool's result.
func TestPatchCases(t *testing.T) {
	cases, err := filepath.Glob("testdata/patch/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases", err)
	}
	for _, p := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(p), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(p)
			if err != nil {
				t.Fatal(err)
			}
			before, patch := map[string]string{}, ""
			var keep []txtar.File
			for _, f := range a.Files {
				if name, ok := strings.CutPrefix(f.Name, "in/"); ok {
					before[name] = string(f.Data)
				} else if f.Name == "patch" {
					patch = string(f.Data)
				} else {
					continue
				}
				keep = append(keep, f)
			}
			env := tree(t, before)
			args, _ := json.Marshal(map[string]string{"patch": patch})
			r, err := call(t, env, tool.PatchTool(), string(args))
			said := r.Text
			if err != nil {
				said = "error: " + err.Error() + "\n"
			}
			got := append(keep, txtar.File{Name: "said", Data: []byte(said)})
			after := files(t, env.Root.Name())
			if err == nil {
				for _, name := range slices.Sorted(mapKeys(after)) {
					got = append(got, txtar.File{Name: "out/" + name, Data: []byte(after[name])})
				}
			} else if d := cmp.Diff(before, after); d != "" {
				t.Errorf("something was changed: %s", d)
			}
			text := txtar.Format(&txtar.Archive{Comment: a.Comment, Files: got})
			if *update {
				if err := os.WriteFile(p, text, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if d := cmp.Diff(string(txtar.Format(a)), string(text)); d != "" {
				t.Error(d)
			}
		})
	}
}

func mapKeys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.Walk(dir, func(p string, st os.FileInfo, err error) error {
		if err != nil || !st.Mode().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		all[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPatchRefusesHostilePaths(t *testing.T) {
	for _, p := range hostile {
		if strings.ContainsAny(p, "\x00") || strings.TrimSpace(p) == "" {
			continue
		}
		env, outside := hostileTree(t)
		for _, patch := range []string{
			fmt.Sprintf("--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+x\n", p),
			fmt.Sprintf("--- a/%s\n+++ b/%s\n@@ -1 +1 @@\n-secret\n+x\n", p, p),
			fmt.Sprintf("--- a/%s\n+++ /dev/null\n@@ -1 +0,0 @@\n-secret\n", p),
			fmt.Sprintf("diff --git a/a.txt b/%s\nsimilarity index 100%%\nrename from a.txt\nrename to %s\n", p, p),
			fmt.Sprintf("diff --git a/new b/%s\nnew file mode 120000\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n"+
				"+/etc/passwd\n", p,
				p),
		} {
			args, _ := json.Marshal(map[string]string{"patch": patch})
			r, err := call(t, env, tool.PatchTool(), string(args))
			if err == nil && !slices.Equal(r.Changed, []string{"a.txt"}) {
				for _, c := range r.Changed {
					if !filepath.IsLocal(c) || strings.Contains(strings.ToLower(c), ".git") || strings.HasPrefix(c, "out/") {
						t.Errorf("%q was followed: %v", p, r.Changed)
					}
				}
			}
		}
		if b, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(b) != "secret\n" {
			t.Fatalf("%q: outside: %q, %v", p, b, err)
		}
		if got := content(t, env, ".git/config"); got != "[core]\n" {
			t.Fatalf("%q: .git: %q", p, got)
		}
		if in, err := os.ReadDir(filepath.Join(env.Root.Name(), ".git")); err != nil || len(in) != 1 {
			t.Fatalf("%q: .git holds %v, %v", p, in, err)
		}
	}
}

func FuzzPatch(f *testing.F) {
	cases, _ := filepath.Glob("testdata/patch/*.txtar")
	for _, p := range cases {
		if a, err := txtar.ParseFile(p); err == nil {
			for _, file := range a.Files {
				if file.Name == "patch" {
					f.Add(string(file.Data))
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, patch string) {
		before := map[string]string{"a": "1\n2\n3\n", "d/b": "x\n", "crlf": "1\r\n2\r\n"}
		env := tree(t, before)
		args, _ := json.Marshal(map[string]string{"patch": patch})
		_, err := call(t, env, tool.PatchTool(), string(args))
		if after := files(t, env.Root.Name()); err != nil && !cmp.Equal(before, after) {
			t.Errorf("an error, and a change: %v\n%s", err, cmp.Diff(before, after))
		}
	})
}
