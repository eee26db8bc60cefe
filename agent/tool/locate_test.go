package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/agent/tool"
)

// The tool ranks the current files of the work tree, lists tests, and describes its arguments.
func TestLocate(t *testing.T) {
	env := tree(t, map[string]string{
		"go.mod": "module x\n", ".gitignore": "made/\n", "made/header.go": "package made\n\nfunc ParseHeader() {}\n",
		"http/header.go":      "package http\n\nfunc ParseHeader() {}\n",
		"http/header_test.go": "package http\n\nimport \"testing\"\n\nfunc TestParseHeader(t *testing.T) { ParseHeader() }\n",
		"http/body.go":        "package http\n\nfunc ReadBody() {}\n",
	})
	env.Past = []locate.Commit{{Paths: []string{"http/header_test.go", "http/body.go"}}}
	located := func(query string) string {
		t.Helper()
		args, err := json.Marshal(map[string]string{"query": query})
		if err != nil {
			t.Fatal(err)
		}
		r, err := tool.LocateTool().Call(t.Context(), env, args)
		if err != nil {
			t.Fatal(err)
		}
		return r.Text
	}
	got := located("--- FAIL: TestParseHeader (0.00s)\n    header_test.go:5: no\nFAIL")
	want := "1. http/header.go: "
	if !strings.HasPrefix(got, want) || !strings.Contains(got, ". Tests: http/header_test.go\n") ||
		!strings.Contains(got, "2. http/body.go: changed together with header_test.go in 1 of 1 commits") ||
		strings.Contains(got, "made/") {
		t.Errorf("%s; want it to begin with %s", got, want)
	}
	const not = "[not all files were read: others may fit as well; use search]\n"
	if strings.Contains(got, not) {
		t.Error(got)
	}
	large := "package http\n" + strings.Repeat("// Filler.\n", 60_000)
	if err := env.Root.WriteFile("http/large.go", []byte(large), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := located("ParseHeader"); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, not) {
		t.Errorf("beside a large file: %s", got)
	}
	// Tests in the query are run, and their coverage counts. If that fails, the result reports it.
	why := errors.New("no disk")
	env.Cover = func(_ context.Context, tests []locate.Test) ([]locate.Run, error) {
		if d := cmp.Diff([]locate.Test{{File: "http/header_test.go", Name: "TestParseHeader"}}, tests); d != "" {
			t.Error(d)
		}
		return []locate.Run{{Failed: true, Blocks: []locate.Block{{Path: "http/body.go", From: 3, To: 3}}}}, why
	}
	if got := located("TestParseHeader fails"); !strings.HasSuffix(got, "run is not known: no disk]\n") {
		t.Error(got)
	}
	why = nil
	if got := located("TestParseHeader fails"); !strings.Contains(got, "1 of 1 failing tests and 0 of 0 passing ones") {
		t.Error(got)
	}
	if got := located("zzz"); got != "[nothing points to any file; use search]\n" {
		t.Error(got)
	}
	if _, err := tool.LocateTool().Call(t.Context(), env, json.RawMessage(`{"query":" "}`)); err == nil ||
		!strings.Contains(err.Error(), "query must have 1 to") {
		t.Error(err)
	}
}

// BenchmarkLocate ranks a work tree of 5,000 Go files, 6 KB each, by an issue and a failing test. The goal is two
// seconds.
func BenchmarkLocate(b *testing.B) {
	dir := b.TempDir()
	for i := range 5000 {
		folder := filepath.Join(dir, fmt.Sprintf("pkg%d", i%200))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			b.Fatal(err)
		}
		var s strings.Builder
		fmt.Fprintf(&s, "package pkg%d\n\n", i%200)
		if i%4 == 0 {
			fmt.Fprintf(&s, "func TestLoad%d(t *testing.T) { Load%d(t); New() }\n", i, i+1)
		}
		for n := 0; s.Len() < 6<<10; n++ {
			fmt.Fprintf(&s, "// Load%dOf%d reads the header of a request, and parses it.\nfunc Load%dOf%d(name string) (header "+
				"map[string]string, err error) {\n\treturn parseRequest(name, %d)\n}\n\n", i, n, i, n, n)
		}
		fmt.Fprintf(&s, "func Load%d() {}\n\nfunc New() {}\n", i)
		name := fmt.Sprintf("file%d.go", i)
		if i%4 == 0 {
			name = fmt.Sprintf("file%d_test.go", i+1)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(s.String()), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	env := tool.Env{Root: root}
	for i := range 3000 {
		env.Past = append(env.Past, locate.Commit{Paths: []string{fmt.Sprintf("pkg%d/file%d.go", i%200, i),
			fmt.Sprintf("pkg%d/file%d_test.go", i%200, i)}})
	}
	q := locate.Query{Text: "Parsing a header of a request is wrong: `Load4001` returns New", Tests: []locate.Test{
		{Name: "TestLoad4000"}}}
	b.ResetTimer()
	for range b.N {
		places, _, _, err := tool.Locate(b.Context(), env, q)
		if err != nil || len(places) == 0 || places[0].Path != "pkg1/file4001.go" {
			b.Fatalf("%+v, %v", places, err)
		}
	}
}
