package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A walk that ended early is reported as incomplete, and its entries are used.
func TestWalksSayThatTheyStopped(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	for i := range 10 {
		if err := root.WriteFile(fmt.Sprint(i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for limit, want := range map[int]error{9: errTooMany, 10: nil} {
		met := 0
		w := treeWalker{ctx: t.Context(), limit: limit, visit: func(treeEntry) (bool, error) {
			met++
			return true, nil
		}}
		if err := w.walkDir(root, ".", 1, nil, false); !errors.Is(err, want) || met != limit {
			t.Errorf("%d of 10: %v after %d", limit, err, met)
		}
	}
	for _, why := range []error{errTooMany, errSlow} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		for args, tool := range map[string]Tool{
			`{"pattern": "a"}`: SearchTool(), `{"depth": 2}`: ListTool(), `{}`: OutlineTool(),
		} {
			got, err := tool.Call(ctx, Env{Root: root}, json.RawMessage(args))
			if err != nil || got.Text != fmt.Sprintf("[stopped: %v]\n", why) {
				t.Errorf("%s that did not see everything says %q, %v", tool.Name, got.Text, err)
			}
		}
	}
}

// If not all files were visited, only those visited twice can be reported as changed.
func TestChangesOfATreeThatIsNotSeenWhole(t *testing.T) {
	before := map[string]fileStamp{"a": {size: 1}, "b": {size: 1}, "gone": {}}
	after := map[string]fileStamp{"a": {size: 1}, "b": {size: 2}, "new": {size: 3}}
	for whole, want := range map[bool]string{true: "[b gone new]", false: "[b]"} {
		if got := fmt.Sprint(changedFiles(before, after, whole)); got != want {
			t.Errorf("whole %v: %s, want %s", whole, got, want)
		}
	}
}

// A walk ends after its timeout, for any visit function, and suggests how to narrow it.
func TestWalksEnd(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	for i := range 100 {
		if err := root.WriteFile(fmt.Sprint(i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := walkTree(t.Context(), root, ".", func(treeEntry) (bool, error) {
			<-time.After(time.Second)
			return true, nil
		})
		if took := time.Since(began); !errors.Is(err, errSlow) || took > walkTimeout+time.Second {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

// Tracked files are visible despite a .gitignore, and others next to them are not.
func TestTrackedFilesAreSeen(t *testing.T) {
	dir := t.TempDir()
	for p, text := range map[string]string{
		".gitignore":          "\ufeff*.gen.go\n!*/\nbuild/\n/top\n[!a-z].log\n",
		"build/deep/kept.txt": "needle\n", "build/made.txt": "needle\n", "1.log": "needle: made\n",
		"build/other/made.txt": "needle\n", "kept.gen.go": "package needle\n", "made.gen.go": "package needle\n",
		"sub/made.gen.go": "package needle\n",
		"top/.gitignore":  "*\n", "top/a.txt": "needle\n", "topmost": "needle\n", "excluded": "needle\n",
	} {
		full := filepath.Join(dir, p)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	seen := func() string {
		t.Helper()
		files, err := (&workTree{env: Env{Root: root}}).Files(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range files {
			all = append(all, f.Path)
		}
		return strings.Join(all, " ")
	}
	git("init", "-q")
	if err := os.WriteFile(filepath.Join(dir, ".git", "info", "exclude"), []byte("/excluded\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := seen(), ".gitignore topmost"; got != want {
		t.Errorf("tracked is nothing, and seen is %s, not %s", got, want)
	}
	git("add", "-f", ".gitignore", "build/deep/kept.txt", "kept.gen.go", "topmost")
	if got, want := seen(), ".gitignore build/deep/kept.txt kept.gen.go topmost"; got != want {
		t.Errorf("seen is %s, not %s", got, want)
	}
	list, err := ListTool().Call(t.Context(), Env{Root: root}, json.RawMessage(`{"depth": 5}`))
	if err != nil || !strings.Contains(list.Text, "build/deep/kept.txt (") ||
		!strings.Contains(list.Text, "build/other/ (ignored by git; not shown)") || strings.Contains(list.Text, "made") {
		t.Errorf("listed, %v:\n%s", err, list.Text)
	}
	found, err := SearchTool().Call(t.Context(), Env{Root: root}, json.RawMessage(`{"pattern": "needle"}`))
	if err != nil || strings.Count(found.Text, "kept") != 2 || strings.Contains(found.Text, "made") {
		t.Errorf("found, %v:\n%s", err, found.Text)
	}
	for args, want := range map[string]string{
		`{"path": "build/other"}`: "build/other/made.txt (7 bytes)\n",
		`{"path": "build"}`:       "build/deep/\nbuild/other/ (ignored by git; not shown)\n", // it contains a tracked file
		`{"path": "top"}`:         "top/.gitignore (2 bytes)\ntop/a.txt (7 bytes)\n",
	} {
		list, err := ListTool().Call(t.Context(), Env{Root: root}, json.RawMessage(args))
		if err != nil || list.Text != want {
			t.Errorf("%s of what git ignores, %v:\n%s", args, err, list.Text)
		}
	}
}
