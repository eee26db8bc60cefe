package tool_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/tool"
)

// callPromptly calls a tool, which must return within a time that only disproportionate work exceeds.
func callPromptly(t *testing.T, env tool.Env, c tool.Tool, args string) (string, error) {
	t.Helper()
	type answer struct {
		r   tool.Result
		err error
	}
	done := make(chan answer, 1)
	go func() {
		r, err := c.Call(t.Context(), env, []byte(args))
		done <- answer{r, err}
	}()
	select {
	case a := <-done:
		return a.r.Text, a.err
	case <-time.After(15 * time.Second):
		t.Fatalf("%s %.200s takes too long", c.Name, args)
		return "", nil
	}
}

// A glob takes time linear in the length of the path.
func TestGlobsThatMultiply(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	name := strings.Repeat("a", 80)
	for i := range 20 {
		if err := root.WriteFile(fmt.Sprint(name, i), []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := tool.Env{Root: root}
	for _, glob := range []string{strings.Repeat("{a,aa}", 30) + "z", strings.Repeat("*a", 100) + "z",
		strings.Repeat("**/", 200) + "z", strings.Repeat("{a,a*}", 100) + "z",
		strings.Repeat("{", 500) + strings.Repeat("}", 500),
		strings.Repeat("{a,", 15) + "a" + strings.Repeat("}", 15) + "z", "{" + strings.Repeat("a*,", 300) + "}z"} {
		if text, err := callPromptly(t, env, tool.SearchTool(), fmt.Sprintf(`{"pattern":"x","glob":%q}`, glob)); err == nil &&
			!strings.Contains(text, "no match") {
			t.Errorf("%.40s: %s", glob, text)
		}
	}
}

// A glob without a slash matches the base name.
func TestGlobsOfASearch(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	for _, p := range []string{"a.go", "b.ts", "src/a.go", "src/b/c.go"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755),
			os.WriteFile(filepath.Join(dir, p), []byte("x\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for glob, want := range map[string]int{"": 4, "*.go": 3, "a.*": 2, "src/*": 1, "src/**": 2, "**/*.go": 3, "/**": 0} {
		args := fmt.Appendf(nil, `{"pattern":"x","glob":%q}`, glob)
		r, err := tool.SearchTool().Call(t.Context(), tool.Env{Root: root}, args)
		if got := strings.Count(r.Text, ": x\n"); err != nil || got != want {
			t.Errorf("%s: %d paths, want %d: %v\n%s", glob, got, want, err, r.Text)
		}
	}
	for glob, want := range map[string]int{"b/*.go": 1, "src/b/*.go": 1, "*.go": 2, "src/*.go": 1} {
		args := fmt.Appendf(nil, `{"pattern":"x","path":"src","glob":%q}`, glob)
		r, err := tool.SearchTool().Call(t.Context(), tool.Env{Root: root}, args)
		if got := strings.Count(r.Text, ": x\n"); err != nil || got != want {
			t.Errorf("%s below src: %d paths, want %d: %v\n%s", glob, got, want, err, r.Text)
		}
	}
	bad := []byte(`{"pattern":"x","glob":"[a"}`)
	if _, err := tool.SearchTool().Call(t.Context(), tool.Env{Root: root}, bad); err == nil {
		t.Error("what is no glob was taken")
	}
}

// Deep folders, full ones and long ignore lists are walked within the limits.
func TestTreesThatMultiply(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	at, err := root.OpenRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	for range 190 {
		var next *os.Root
		err := errors.Join(at.Mkdir("d", 0o755), at.WriteFile("f", []byte("word\n"), 0o600))
		if err == nil {
			next, err = at.OpenRoot("d")
		}
		if err != nil {
			t.Fatal(err)
		}
		at.Close()
		at = next
	}
	for i := range 2000 {
		if err := at.WriteFile(fmt.Sprint("g", i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at.Close()
	ignore := strings.Repeat("**/a*b*c*d*e*f\n", 15_000)
	if err := root.WriteFile(".gitignore", []byte(ignore), 0o600); err != nil {
		t.Fatal(err)
	}
	env := tool.Env{Root: root}
	text, err := callPromptly(t, env, tool.SearchTool(), `{"pattern":"word"}`)
	if err != nil || !strings.Contains(text, "f:1: word") {
		t.Errorf("%v, %.300s", err, text)
	}
	_, err = callPromptly(t, env, tool.ReadTool(), fmt.Sprintf(`{"path":%q}`, strings.Repeat("d/", 150)+"f"))
	if err == nil || !strings.Contains(err.Error(), "100 deep") {
		t.Errorf("read: %v", err)
	}
	deep := strings.Repeat("e/", 1500) + "f"
	if _, err := callPromptly(t, env, tool.WriteTool(), fmt.Sprintf(`{"path":%q,"content":"x"}`, deep)); err == nil ||
		!strings.Contains(err.Error(), "100 deep") {
		t.Errorf("write: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	cancel(over)
	for _, c := range []tool.Tool{tool.SearchTool(), tool.ListTool(), tool.OutlineTool()} {
		if _, err := c.Call(ctx, env, []byte(`{"pattern":"x"}`)); c.Name == tool.NameSearch && !errors.Is(err, over) {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

// Patches are placed in time linear in the text, for any repetition in either.
func TestPatchesThatMultiply(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	blank := strings.Repeat("\n", 500_000)
	if err := root.WriteFile("blank", []byte(blank), 0o600); err != nil {
		t.Fatal(err)
	}
	env := tool.Env{Root: root}
	head := "--- a/blank\n+++ b/blank\n"
	for name, c := range map[string]struct{ patch, says string }{
		"blank lines":        {head + "@@ -1,1 +1,1 @@\n" + strings.Repeat("\n", 400_000) + "-x\n", "do not stand in"},
		"what nearly stands": {head + "@@ -9,1 +9,1 @@\n" + strings.Repeat(" \n", 200_000) + "-x\n", "do not stand in"},
		"what stands too much": {head + "@@ -600000,1 +9,1 @@\n" + strings.Repeat(" \n", 200_000) + "+x\n",
			"in 10 places or more"},
		"many": {head + strings.Repeat("@@ -600000,1 +9,1 @@\n \n+x\n", 20_000), "in 1000 places, and this changes 20000"},
	} {
		text, err := callPromptly(t, env, tool.PatchTool(), fmt.Sprintf(`{"patch":%q}`, c.patch))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %.200s, %.200v", name, text, err)
		}
	}
}
