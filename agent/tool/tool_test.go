package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
)

// tree creates a work tree with the given files and returns its Env.
func tree(t testing.TB, files map[string]string) tool.Env {
	t.Helper()
	dir := t.TempDir()
	for p, text := range files {
		full := filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return tool.Env{Root: root, CanAsk: true}
}

func call(t testing.TB, env tool.Env, tl tool.Tool, args string) (tool.Result, error) {
	t.Helper()
	r, err := tl.Call(context.Background(), env, json.RawMessage(args))
	if len(r.Text) > tool.MaxResult {
		t.Errorf("%s: result of %d bytes", tl.Name, len(r.Text))
	}
	if err != nil && strings.Contains(err.Error(), env.Root.Name()) {
		t.Errorf("%s: the error tells where the work tree is: %v", tl.Name, err)
	}
	return r, err
}

func ok(t testing.TB, env tool.Env, tl tool.Tool, args string) tool.Result {
	t.Helper()
	r, err := call(t, env, tl, args)
	if err != nil {
		t.Fatalf("%s %s: %v", tl.Name, args, err)
	}
	return r
}

func refused(t testing.TB, env tool.Env, tl tool.Tool, args, want string) {
	t.Helper()
	_, err := call(t, env, tl, args)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s %s: error %v, want %q", tl.Name, args, err, want)
	}
}

func content(t testing.TB, env tool.Env, p string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(env.Root.Name(), p))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSchemasAreValidAndSaidInWords(t *testing.T) {
	for _, tl := range append(tool.DefaultTools(), tool.ProposeTool()) {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(tl.Schema)))
		if err != nil {
			t.Fatalf("%s: %v", tl.Name, err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("s.json", doc); err != nil {
			t.Fatalf("%s: %v", tl.Name, err)
		}
		if _, err := c.Compile("s.json"); err != nil {
			t.Errorf("%s: %v", tl.Name, err)
		}
		if len(tl.Description) < 20 {
			t.Errorf("%s has no description", tl.Name)
		}
		// The error about an unknown argument lists all names in the schema.
		_, err = call(t, tree(t, nil), tl, `{"no_such":1}`)
		for name := range doc.(map[string]any)["properties"].(map[string]any) {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: the error does not name %s: %v", tl.Name, name, err)
			}
		}
	}
}

func TestArgumentsAreStrict(t *testing.T) {
	env := tree(t, map[string]string{"a": "x\n"})
	for args, want := range map[string]string{
		`{"path":"a"} {}`:          "something after",
		`{"path":"a","start":"1"}`: `"start" must be a whole number`,
		`{"path":"a"`:              "not valid JSON",
		`null`:                     "one JSON object",
		`["a"]`:                    "one JSON object",
		`{"path":"a","start":0}`:   "start must be",
		`{"path":"a","line":1}`:    `no argument "line"`,
		``:                         "empty",
	} {
		refused(t, env, tool.ReadTool(), args, want)
	}
}

// hostile are paths that all tools must refuse.
var hostile = []string{
	"..", "../x", "a/../../x", "a/../b", "/etc/passwd", "//etc/passwd", ".git", ".git/config", "sub/.git/hooks/x",
	".GIT/config",
	".git./config", ".git /config", "git~1/config", ".g\u200cit/config", ".git::$INDEX_ALLOCATION/x", "a\x00b", "", "  ",
	"out", "out/secret", "in/up", "inside", "gitlink/config", "gitlink/new", "pipe", "null",
}

func hostileTree(t testing.TB) (tool.Env, string) {
	env := tree(t, map[string]string{"a.txt": "a\n", "in/b.txt": "b\n", ".git/config": "[core]\n"})
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"out": outside, "in/up": "../../" + filepath.Base(outside), "inside": "a.txt",
		"gitlink": ".git", "null": "/dev/null"} {
		if err := os.Symlink(to, filepath.Join(env.Root.Name(), from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(env.Root.Name(), "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	return env, outside
}

func TestHostilePathsAreRefused(t *testing.T) {
	env, outside := hostileTree(t)
	for _, p := range hostile {
		q, _ := json.Marshal(p)
		for _, c := range []struct {
			tool tool.Tool
			args string
		}{
			{tool.ReadTool(), fmt.Sprintf(`{"path":%s}`, q)},
			{tool.WriteTool(), fmt.Sprintf(`{"path":%s,"content":"x"}`, q)},
			{tool.EditTool(), fmt.Sprintf(`{"path":%s,"old":"secret","new":"x"}`, q)},
			{tool.DeleteTool(), fmt.Sprintf(`{"path":%s}`, q)},
			{tool.ListTool(), fmt.Sprintf(`{"path":%s}`, q)},
			{tool.SearchTool(), fmt.Sprintf(`{"pattern":"e","path":%s}`, q)},
		} {
			if p == "" && (c.tool.Name == tool.NameList || c.tool.Name == tool.NameSearch) {
				continue // the default is the root
			}
			if p == "pipe" && c.tool.Name == tool.NameDelete {
				continue // deleting a pipe is harmless
			}
			if r, err := call(t, env, c.tool, c.args); err == nil {
				t.Errorf("%s %s was carried out: %q", c.tool.Name, c.args, r.Text)
			}
		}
	}
	if b, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(b) != "secret\n" {
		t.Errorf("outside: %q, %v", b, err)
	}
	for _, args := range []string{`{"path":".","depth":6}`, `{}`} {
		text := ok(t, env, tool.ListTool(), args).Text
		if strings.Contains(text, "config") || strings.Contains(text, "secret") {
			t.Errorf("list shows too much:\n%s", text)
		}
	}
	if text := ok(t, env, tool.SearchTool(), `{"pattern":"core|secret"}`).Text; text != "[no match]\n" {
		t.Errorf("search finds too much:\n%s", text)
	}
}

func TestWriteEditDelete(t *testing.T) {
	env := tree(t, map[string]string{"run.sh": "#!/bin/sh\necho one\necho two\necho one\n", "dos.txt": "one\r\ntwo\r\n",
		"zw.txt": "a\u200bb\n"})
	os.Chmod(filepath.Join(env.Root.Name(), "run.sh"), 0o755)

	r := ok(t, env, tool.WriteTool(), `{"path":"new/deep/x.go","content":"package x\n"}`)
	if d := cmp.Diff([]string{"new/deep/x.go"}, r.Changed); d != "" || content(t, env, "new/deep/x.go") != "package x\n" {
		t.Error(d, r.Text)
	}
	refused(t, env, tool.WriteTool(), `{"path":"new"}`, "content is missing")
	refused(t, env, tool.WriteTool(), `{"path":"new","content":""}`, "directory")
	refused(t, env, tool.WriteTool(), `{"path":"run.sh/x","content":""}`, "run.sh/x")
	refused(t, env, tool.WriteTool(), `{"path":"big","content":"`+strings.Repeat("x", tool.MaxFile+1)+`"}`, "larger")

	ok(t, env, tool.EditTool(), `{"path":"run.sh","old":"echo two","new":"echo 2"}`)
	refused(t, env, tool.EditTool(), `{"path":"run.sh","old":"echo one","new":"x"}`, "2 times, at lines 2, 4")
	ok(t, env, tool.EditTool(), `{"path":"run.sh","old":"echo one","new":"echo 1","all":true}`)
	if got := content(t, env, "run.sh"); got != "#!/bin/sh\necho 1\necho 2\necho 1\n" {
		t.Errorf("run.sh: %q", got)
	}
	if st, _ := os.Stat(filepath.Join(env.Root.Name(), "run.sh")); st.Mode().Perm() != 0o755 {
		t.Errorf("mode %v", st.Mode())
	}
	ok(t, env, tool.EditTool(), `{"path":"dos.txt","old":"one\ntwo\n","new":"1\n2\n"}`)
	if got := content(t, env, "dos.txt"); got != "1\r\n2\r\n" {
		t.Errorf("line ends: %q", got)
	}
	ok(t, env, tool.EditTool(), `{"path":"zw.txt","old":"a⟦U+200B⟧b","new":"ab"}`)
	if got := content(t, env, "zw.txt"); got != "ab\n" {
		t.Errorf("hidden: %q", got)
	}
	refused(t, env, tool.EditTool(), `{"path":"run.sh","old":"","new":"x"}`, "use write")
	refused(t, env, tool.EditTool(), `{"path":"run.sh","old":"x","new":"x"}`, "the same")
	refused(t, env, tool.EditTool(), `{"path":"nope.txt","old":"x","new":"y"}`, "no such file")

	ok(t, env, tool.DeleteTool(), `{"path":"dos.txt"}`)
	refused(t, env, tool.DeleteTool(), `{"path":"dos.txt"}`, "no such file")
	refused(t, env, tool.DeleteTool(), `{"path":"new"}`, "not empty")
	refused(t, env, tool.DeleteTool(), `{"path":"."}`, "root")
	left, _ := filepath.Glob(filepath.Join(env.Root.Name(), ".sia-write*"))
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestHardLinksKeepTheirContent(t *testing.T) {
	env := tree(t, map[string]string{"a": "old\n"})
	other := filepath.Join(t.TempDir(), "other")
	if err := os.Link(filepath.Join(env.Root.Name(), "a"), other); err != nil {
		t.Fatal(err)
	}
	ok(t, env, tool.WriteTool(), `{"path":"a","content":"new\n"}`)
	if b, _ := os.ReadFile(other); string(b) != "old\n" {
		t.Errorf("the other name now has %q", b)
	}
}

func TestEditShowsTheNearestText(t *testing.T) {
	env := tree(t, map[string]string{"a.go": "package a\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n"})
	refused(t, env, tool.EditTool(), `{"path":"a.go","old":"func Add(a, b int) int {\n    return a + b\n}","new":"x"}`,
		"lines 3–5:\n     3\tfunc Add")
	refused(t, env, tool.EditTool(), `{"path":"a.go","old":"    return a + b","new":"x"}`, "only in white space")
	refused(t, env, tool.EditTool(), `{"path":"a.go","old":"func Add(x, y int) int {","new":"x"}`, "nearest are "+
		"lines 3–3")
	refused(t, env, tool.EditTool(), `{"path":"a.go","old":"quite something else","new":"x"}`, "read the file again")

	lines := strings.Repeat("same\n", 20)
	env = tree(t, map[string]string{"long": lines + "here\n"})
	refused(t, env, tool.EditTool(), fmt.Sprintf(`{"path":"long","old":%q,"new":"x"}`, lines+"there\n"),
		"Copy the text exactly as it stands")
}

// Edits keep a file's line ends, its byte order mark, and the hidden characters that read showed as marks.
func TestChangesKeepAFilesForm(t *testing.T) {
	const emoji = "⚠\ufe0f"
	for _, c := range []struct {
		name, was string
		tool      tool.Tool
		args      map[string]string
		want      string
	}{
		{"edit within a line of CRLF", "a()\r\nb()\r\n", tool.EditTool(), map[string]string{"old": "a()", "new": "a()\nc()"},
			"a()\r\nc()\r\nb()\r\n"},
		{"edit where line ends differ", "a()\r\nb()\n", tool.EditTool(), map[string]string{"old": "b()", "new": "b()\nc()"},
			"a()\r\nb()\nc()\n"},
		{"edit with a mark in new alone", emoji + " one\ntwo\n", tool.EditTool(),
			map[string]string{"old": "two", "new": "⚠⟦U+FE0F⟧ two"}, emoji + " one\n" + emoji + " two\n"},
		{"edit of a file about marks", "⟦U+FE0F⟧ " + emoji + "\ntwo\n", tool.EditTool(),
			map[string]string{"old": "two", "new": "⟦U+200B⟧"}, "⟦U+FE0F⟧ " + emoji + "\n⟦U+200B⟧\n"},
		{"write over CRLF", "a\r\nb\r\n", tool.WriteTool(), map[string]string{"content": "a\nc\n"}, "a\r\nc\r\n"},
		{"write over a byte order mark", "\ufeffusing A;\r\n", tool.WriteTool(), map[string]string{"content": "using B;\n"},
			"\ufeffusing B;\r\n"},
		{"write a byte order mark as it was shown", "\ufeffusing A;\n", tool.WriteTool(),
			map[string]string{"content": "⟦U+FEFF⟧using B;\n"}, "\ufeffusing B;\n"},
		{"write what was shown", emoji + " one\n", tool.WriteTool(), map[string]string{"content": "⚠⟦U+FE0F⟧ two\n"},
			emoji + " two\n"},
		{"write a file that had no such characters", "one\n", tool.WriteTool(), map[string]string{"content": "⟦U+FE0F⟧\n"},
			"⟦U+FE0F⟧\n"},
		{"write over what is no text", "a\x00b\r\n", tool.WriteTool(), map[string]string{"content": "a\n"}, "a\n"},
		{"patch a byte order mark's line", "\ufeffusing A;\r\nusing B;\r\n", tool.PatchTool(),
			map[string]string{"patch": "--- a/f\n+++ b/f\n@@ -1 +1 @@\n ⟦U+FEFF⟧using A;\n+using C;\n using B;\n"},
			"\ufeffusing A;\r\nusing C;\r\nusing B;\r\n"},
		{"patch where line ends differ", "a\nb\r\nc\nd\n", tool.PatchTool(),
			map[string]string{"patch": "--- a/f\n+++ b/f\n@@ -1,4 +1,5 @@\n a\n b\n-c\n+C\n+C\n d\n"},
			"a\nb\r\nC\nC\nd\n"},
		{"patch that comes with CRLF", "a\nb\n", tool.PatchTool(),
			map[string]string{"patch": "--- a/f\r\n+++ b/f\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n"}, "a\nc\n"},
		{"patch of a last line without an end", "a\r\nb", tool.PatchTool(),
			map[string]string{"patch": "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"}, "a\r\nc\r\nd"},
		{"patch behind a last line without an end", "a\r\nb", tool.PatchTool(),
			map[string]string{"patch": "--- a/f\n+++ b/f\n@@ -2 +2,2 @@\n b\n+c\n"}, "a\r\nb\r\nc"},
		{"patch that ends the last line", "a\nb", tool.PatchTool(),
			map[string]string{"patch": "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+b\n"}, "a\nb\n"},
		{"patch that says wrongly that the last line has no end", "a\nb\n", tool.PatchTool(),
			map[string]string{"patch": "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n" +
				"\\ No newline at end of file\n"}, "a\nc\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := tree(t, map[string]string{"f": c.was})
			if c.tool.Name != tool.NamePatch {
				c.args["path"] = "f"
			}
			args, err := json.Marshal(c.args)
			if err != nil {
				t.Fatal(err)
			}
			ok(t, env, c.tool, string(args))
			if got := content(t, env, "f"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestReadPages(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	env := tree(t, map[string]string{"long": b.String(), "wide": strings.Repeat("x", 1<<20), "none": "", "bin": "a\x00b",
		"last": "a\nb",
		"odd":  "a\u202eb\x1b[0m\xff\n"})
	text := ok(t, env, tool.ReadTool(), `{"path":"long"}`).Text
	if !strings.HasPrefix(text, "     1\tline 1\n") ||
		!strings.HasSuffix(text, "   400\tline 400\n[more lines; go on with start 401]\n") {
		t.Errorf("first page:\n%.200s…", text)
	}
	if text := ok(t, env, tool.ReadTool(),
		`{"path":"long","start":999}`).Text; text != "   999\tline 999\n  1000\tline 1000\n" {
		t.Errorf("last page: %q", text)
	}
	if text := ok(t, env, tool.ReadTool(), `{"path":"last"}`).Text; text != "     1\ta\n     2\tb\n" {
		t.Errorf("no newline at the end: %q", text)
	}
	if text := ok(t, env, tool.ReadTool(), `{"path":"wide"}`).Text; len(text) > 2100 || !strings.Contains(text, "[…]") {
		t.Errorf("%d bytes", len(text))
	}
	text = ok(t, env, tool.ReadTool(), `{"path":"odd"}`).Text
	if !strings.Contains(text, "a⟦U+202E⟧b⟦U+001B⟧[0m\uFFFD") {
		t.Errorf("hidden: %q", text)
	}
	if text := ok(t, env, tool.ReadTool(), `{"path":"none"}`).Text; !strings.Contains(text, "empty") {
		t.Errorf("empty: %q", text)
	}
	refused(t, env, tool.ReadTool(), `{"path":"long","start":1001}`, "has 1000 lines")
	refused(t, env, tool.ReadTool(), `{"path":"bin"}`, "binary")
	refused(t, env, tool.ReadTool(), `{"path":"."}`, "directory")
}

// Pages end between lines, even if visible marks make lines much longer.
func TestPagesOfHiddenCharacters(t *testing.T) {
	text := strings.Repeat(strings.Repeat("\u200c", 300)+"\n", 40)
	env := tree(t, map[string]string{"f": text})
	env.Failures = []tool.FailedCheck{{Name: "test", Text: text}}
	for tl, args := range map[string]string{tool.NameRead: `{"path":"f","start":%d}`, tool.NameFailure: `{"start":%d}`} {
		c := map[string]tool.Tool{tool.NameRead: tool.ReadTool(), tool.NameFailure: tool.FailureTool()}[tl]
		seen, start := 0, 1
		for start > 0 {
			page := ok(t, env, c, fmt.Sprintf(args, start)).Text
			if strings.Contains(page, "cut here") {
				t.Fatalf("%s: a page was cut", tl)
			}
			seen += strings.Count(page, "\t⟦U+200C⟧")
			_, after, _ := strings.Cut(page, "go on with start ")
			start = 0
			_, _ = fmt.Sscanf(after, "%d]", &start)
		}
		if seen != 40 {
			t.Errorf("%s: %d of 40 lines seen", tl, seen)
		}
	}
}

// A search of one file that is too large reports that it is incomplete.
func TestSearchOfALargeFile(t *testing.T) {
	env := tree(t, map[string]string{"large": "first\n" + strings.Repeat("x\n", tool.MaxFile/2) + "last\n"})
	for pattern, want := range map[string]string{"first": "large:1: first\n", "last": "[no match]\n"} {
		want += "[only the file's first MiB was searched]\n"
		if got := ok(t, env, tool.SearchTool(), fmt.Sprintf(`{"pattern":%q,"path":"large"}`, pattern)).Text; got != want {
			t.Errorf("%s: %q", pattern, got)
		}
	}
}

func TestListAndSearch(t *testing.T) {
	env := tree(t, map[string]string{
		".gitignore": "*.log\n/build/\n", "a.go": "package a\n// TODO one\n", "b/b.go": "package b\n// todo two\n",
		"b/.gitignore": "gen.go\n",
		"b/gen.go":     "// TODO generated\n", "x.log": "TODO\n", "build/out.go": "TODO\n", "c/d/e.txt": "TODO three\n",
		"bin": "TODO\x00",
	})
	want := ".gitignore (14 bytes)\na.go (22 bytes)\nb/\nb/.gitignore (7 bytes)\nb/b.go (22 bytes)\nbin (5 bytes)\n" +
		"build/ (ignored by git; not shown)\nc/\nc/d/\n"
	if d := cmp.Diff(want, ok(t, env, tool.ListTool(), `{"depth":2}`).Text); d != "" {
		t.Errorf("list (-want +got):\n%s", d)
	}
	for args, want := range map[string]string{
		`{"pattern":"TODO"}`:                     "a.go:2: // TODO one\nc/d/e.txt:1: TODO three\n",
		`{"pattern":"(?i)todo","glob":"*.go"}`:   "a.go:2: // TODO one\nb/b.go:2: // todo two\n",
		`{"pattern":"TODO","glob":"c/**/*.txt"}`: "c/d/e.txt:1: TODO three\n",
		`{"pattern":"TODO","path":"c"}`:          "c/d/e.txt:1: TODO three\n",
		`{"pattern":"^package","path":"b/b.go"}`: "b/b.go:1: package b\n",
		`{"pattern":"TODO","path":"b"}`:          "[no match]\n",
		`{"pattern":"TODO","skip":1}`:            "c/d/e.txt:1: TODO three\n",
		`{"pattern":"TODO","skip":5}`:            "[no more matches]\n",
	} {
		if d := cmp.Diff(want, ok(t, env, tool.SearchTool(), args).Text); d != "" {
			t.Errorf("search %s (-want +got):\n%s", args, d)
		}
	}
	refused(t, env, tool.SearchTool(), `{"pattern":"("}`, "put \\ before")
	refused(t, env, tool.SearchTool(), `{"pattern":"x","glob":"["}`, "glob")
	refused(t, env, tool.SearchTool(), `{"pattern":""}`, "pattern")
	refused(t, env, tool.ListTool(), `{"path":"a.go"}`, "use read")
}

func TestSearchShowsLinesAround(t *testing.T) {
	env := tree(t, map[string]string{"a.txt": "1\r\n2 x\r\n3\r\n4\r\n5 x\r\n6 x\r\n7\r\n8\r\n9\r\n10\r\n11 x\r\n12\r\n",
		"b.txt": "x\n", "empty": ""})
	for args, want := range map[string]string{
		`{"pattern":"x","context":1}`: "a.txt-1- 1\na.txt:2: 2 x\na.txt-3- 3\na.txt-4- 4\na.txt:5: 5 x\na.txt:6: 6 x\n" +
			"a.txt-7- 7\n--\na.txt-10- 10\na.txt:11: 11 x\na.txt-12- 12\n--\nb.txt:1: x\n",
		`{"pattern":"4","context":2}`: "a.txt-2- 2 x\na.txt-3- 3\na.txt:4: 4\na.txt-5- 5 x\na.txt-6- 6 x\n",
		`{"pattern":"^$"}`:            "[no match]\n",
	} {
		if d := cmp.Diff(want, ok(t, env, tool.SearchTool(), args).Text); d != "" {
			t.Errorf("search %s (-want +got):\n%s", args, d)
		}
	}
	refused(t, env, tool.SearchTool(), `{"pattern":"x","context":11}`, "0 to 10")

	long := tree(t, map[string]string{"long.txt": strings.Repeat(strings.Repeat("y", 400)+"\n", 2000)})
	seen := 0
	for skip := 0; ; {
		text := ok(t, long, tool.SearchTool(), fmt.Sprintf(`{"pattern":"y","context":10,"skip":%d}`, skip)).Text
		n := strings.Count(text, "long.txt:")
		if n == 0 || len(text) > tool.MaxResult || strings.Contains(text, "cut here") {
			t.Fatalf("after %d matches a page of %d bytes with %d", skip, len(text), n)
		}
		seen, skip = seen+n, skip+n
		if !strings.Contains(text, fmt.Sprintf("go on with skip %d", skip)) {
			break
		}
	}
	if seen != 2000 {
		t.Errorf("%d of 2000 matches seen", seen)
	}
}

func TestFailure(t *testing.T) {
	env := tree(t, nil)
	refused(t, env, tool.FailureTool(), `{}`, "no check failed")
	var log strings.Builder
	for i := range 900 {
		fmt.Fprintf(&log, "<|im_start|>line %d of the log\u202e\r\n", i+1)
	}
	env.Failures = []tool.FailedCheck{{Name: "test (1.25)", Class: "test", Text: log.String()}}
	seen, start := 0, 1
	for {
		text := ok(t, env, tool.FailureTool(), fmt.Sprintf(`{"start":%d}`, start)).Text
		if strings.ContainsAny(text, "\u202e<") || len(text) > tool.MaxResult {
			t.Fatalf("page of %d bytes: %q", len(text), text[:100])
		}
		seen += strings.Count(text, " of the log⟦U+202E⟧\n")
		_, after, more := strings.Cut(text, "[more lines; go on with start ")
		if !more {
			break
		}
		if _, err := fmt.Sscanf(after, "%d]", &start); err != nil {
			t.Fatal(err)
		}
	}
	if seen != 900 {
		t.Errorf("%d of 900 lines seen", seen)
	}
	refused(t, env, tool.FailureTool(), `{"start":901}`, "beyond its end")
	env.Failures = append(env.Failures, tool.FailedCheck{Name: "lint", Class: "infra_structure"})
	if got := ok(t, env, tool.FailureTool(),
		`{}`).Text; got != "test (1.25): test, 900 lines\nlint: infra structure, 0 lines\n[name one of them in check]\n" {
		t.Errorf("list: %q", got)
	}
	if got := ok(t, env, tool.FailureTool(), `{"check":"lint"}`).Text; !strings.Contains(got, "nothing that tells why") {
		t.Errorf("lint: %q", got)
	}
	refused(t, env, tool.FailureTool(), `{"check":"build"}`, `"test (1.25)", "lint"`)

	long := strings.Repeat("matrix ", 40)
	env.Failures = append(env.Failures, tool.FailedCheck{Name: long, Text: "boom"})
	shown := strings.TrimSpace(long)[:199]
	if list := ok(t, env, tool.FailureTool(), `{}`).Text; !strings.Contains(list, shown) {
		t.Fatalf("list: %q", list)
	}
	shown = strings.TrimRight(shown, " ") + "…"
	if got := ok(t, env, tool.FailureTool(), fmt.Sprintf(`{"check":%q}`, shown)).Text; got != "     1\tboom\n" {
		t.Errorf("a check by its name as it is listed: %q", got)
	}
}

func TestPagesOfListAndSearchAddUp(t *testing.T) {
	files := map[string]string{}
	for i := range 700 {
		files[fmt.Sprintf("f%04d.txt", i)] = "needle\n"
	}
	env := tree(t, files)
	for _, c := range []struct {
		tool tool.Tool
		args string
		page int
	}{{tool.ListTool(), `{"skip":%d}`, 300}, {tool.SearchTool(), `{"pattern":"needle","skip":%d}`, 100}} {
		seen := map[string]bool{}
		for skip := 0; skip < 700; skip += c.page {
			for line := range strings.Lines(ok(t, env, c.tool, fmt.Sprintf(c.args, skip)).Text) {
				if !strings.HasPrefix(line, "[") {
					seen[line] = true
				}
			}
		}
		if len(seen) != 700 {
			t.Errorf("%s: %d of 700 seen", c.tool.Name, len(seen))
		}
	}
}

func TestPlanAskFinish(t *testing.T) {
	env := tree(t, nil)
	r := ok(t, env, tool.PlanTool(), `{"steps":[{"do":"look","status":"done"},{"do":"write","status":"doing"}]}`)
	if r.Text != "plan noted: 1 of 2 steps done\n" {
		t.Errorf("%+v", r)
	}
	refused(t, env, tool.PlanTool(), `{"steps":[]}`, "1 to 30")
	refused(t, env, tool.PlanTool(), `{"steps":[{"do":"x","status":"started"}]}`, "pending, doing or done")

	const q = `{"question":"Which?","why":"It says not.","options":["One"," two  words "]}`
	if r := ok(t, env, tool.AskTool(), q); r.Ask == nil || cmp.Diff([]string{"One", "two words"}, r.Ask.Options) != "" {
		t.Errorf("%+v", r)
	}
	refused(t, env, tool.AskTool(), `{"question":"Which?","why":"x","options":["One"]}`, "2 to 4")
	refused(t, env, tool.AskTool(), `{"question":"Which?","why":"x","options":["One","one"]}`, "differ")
	env.Changed = true
	refused(t, env, tool.AskTool(), q, "before the first change")
	env.Changed, env.CanAsk = false, false
	refused(t, env, tool.AskTool(), q, "no question can be asked")

	if r := ok(t, env, tool.FinishTool(), `{"summary":"Done."}`); r.Finish == nil || r.Finish.Summary != "Done." {
		t.Errorf("%+v", r)
	}
	refused(t, env, tool.FinishTool(), `{"summary":" "}`, "summary is empty")
}

func TestPropose(t *testing.T) {
	env := tree(t, nil)
	want := &sia.Plan{Summary: "Greet.", Steps: []plan.Part{{Do: "write it", DoneWhen: "it is there"}}}
	r := ok(t, env, tool.ProposeTool(), `{"summary":" Greet. ","steps":[{"do":"write it","done_when":"it is there"}]}`)
	if d := cmp.Diff(want, r.Proposal); d != "" {
		t.Error(d)
	}
	refused(t, env, tool.ProposeTool(), `{"summary":" ","steps":[{"do":"x","done_when":"y"}]}`, "summary is empty")
	refused(t, env, tool.ProposeTool(), `{"summary":"x","steps":[]}`, "1 to 12")
	refused(t, env, tool.ProposeTool(), `{"summary":"x","steps":[{"do":"x","done_when":""}]}`, "step 1")
	many := strings.Repeat(`{"do":"x","done_when":"y"},`, 12)
	refused(t, env, tool.ProposeTool(), `{"summary":"x","steps":[`+many+`{"do":"x","done_when":"y"}]}`, "1 to 12, not 13")
}

// Every property of a schema has a type, even with an enum: Gemini refuses tools otherwise
// (https://github.com/decolua/9router/issues/359).
func TestSchemasNameTypes(t *testing.T) {
	var look func(where string, schema map[string]any)
	look = func(where string, schema map[string]any) {
		if _, is := schema["type"].(string); !is {
			t.Errorf("%s has no type", where)
		}
		properties, _ := schema["properties"].(map[string]any)
		for name, of := range properties {
			look(where+"."+name, of.(map[string]any))
		}
		if items, is := schema["items"].(map[string]any); is {
			look(where+"[]", items)
		}
	}
	for _, tl := range append(append(tool.DefaultTools(), tool.SandboxTools()...), tool.FinishTestTool(),
		tool.ProposeTool(), tool.DivideTool(4)) {
		var schema map[string]any
		if err := json.Unmarshal(tl.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		look(tl.Name, schema)
	}
}

func TestCancelledWalkStops(t *testing.T) {
	env := tree(t, map[string]string{"a": "x\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tool.SearchTool().Call(ctx, env, json.RawMessage(`{"pattern":"x"}`)); err == nil {
		t.Error("a cancelled search was carried out")
	}
}

func FuzzArguments(f *testing.F) {
	env, outside := hostileTree(f)
	for i, tl := range append(tool.DefaultTools(), tool.ProposeTool()) {
		f.Add(uint8(i), []byte(`{"path":"a.txt","old":"a","new":"b","content":"x","pattern":"a","summary":"s"}`))
		f.Add(uint8(i), []byte(`{"path":"a.txt"}`))
		f.Add(uint8(i), []byte(`{"path":"in/../.git/config","content":"x"}`))
		f.Add(uint8(i), []byte(tl.Schema))
	}
	for _, p := range hostile {
		q, _ := json.Marshal(map[string]string{"path": p, "content": "x"})
		f.Add(uint8(4), q)
	}
	f.Fuzz(func(t *testing.T, which uint8, args []byte) {
		tools := append(tool.DefaultTools(), tool.ProposeTool())
		r, err := call(t, env, tools[int(which)%len(tools)], string(args))
		if err == nil && !utf8.ValidString(r.Text) {
			t.Errorf("result is not UTF-8: %q", r.Text)
		}
		for _, p := range r.Changed {
			if !filepath.IsLocal(p) || strings.HasPrefix(strings.ToLower(p), ".git/") {
				t.Errorf("changed %q", p)
			}
		}
		if b, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(b) != "secret\n" {
			t.Fatalf("outside: %q, %v", b, err)
		}
		if b, err := os.ReadFile(filepath.Join(env.Root.Name(), ".git/config")); err != nil || string(b) != "[core]\n" {
			t.Fatalf(".git: %q, %v", b, err)
		}
	})
}
