package config_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/config"
	"github.com/sia-bot/sia/sia/invalid"
)

var update = flag.Bool("update", false, "write the golden files")

// example is the example of the documentation.
const example = `
label: sia
sia:      {max_approaches: 5, trigger_after: 1, reviewer: true}
agent:    {kind: builtin, timeout: 30m, max_turns: 60, setup: ["go mod download"], test: "go test ./..."}
budget:   {task: 100, repo_per_day: 1000}
checks:   {required: [], settle: 30s, wait: 15m, protected: [".github/**", "**/*_test.go"]}
memory:   {branch: sia/memory}
access:   {command_permission: write, bots: []}
learning: {lessons_in_prompt: 5, min_confidence: 0.5, share: aggregate}
`

func TestTheDocumentedExample(t *testing.T) {
	got, err := config.Parse(config.Path, []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	want := sia.DefaultSettings()
	want.Agent.Setup = []string{"go mod download"}
	want.Agent.Test = "go test ./..."
	want.Checks.Required = []string{}
	want.Checks.Protected = []string{".github/**", "**/*_test.go"}
	want.Access.Bots = []string{}
	want.Learning.Share = "aggregate"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNothingIsTheDefault(t *testing.T) {
	for _, file := range []string{"", "\n", "# only words\n", "---\n", "checks:\n", "checks:\n  # settle: 1m\n", "~\n",
		"%YAML 1.2\n---\n", "checks:\n  required:\n    # - lint\n  protected:\n"} {
		got, err := config.Parse(config.Path, []byte(file))
		if err != nil {
			t.Errorf("%q: %v", file, err)
		}
		if d := cmp.Diff(sia.DefaultSettings(), got); d != "" {
			t.Errorf("%q: %s", file, d)
		}
	}
}

func TestDirectiveIsNoDocument(t *testing.T) {
	got, err := config.Parse(config.Path, []byte("%YAML 1.2\n---\nlabel: a\n"))
	if err != nil || got.Label != "a" {
		t.Errorf("label %q, %v", got.Label, err)
	}
}

// testdata/problems.txtar contains settings files, each followed by the expected
// problems.
func TestProblems(t *testing.T) {
	name := filepath.Join("testdata", "problems.txtar")
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(archive.Files); i += 2 {
		in, want := archive.Files[i], &archive.Files[i+1]
		t.Run(in.Name, func(t *testing.T) {
			settings, err := config.Parse("config.yml", bytes.TrimSuffix(in.Data, []byte("\n")))
			var invalid *invalid.File
			if !errors.As(err, &invalid) {
				t.Fatalf("error %v, want an *invalid.File", err)
			}
			if d := cmp.Diff(sia.DefaultSettings(), settings); d != "" {
				t.Errorf("settings changed in spite of problems: %s", d)
			}
			got := err.Error() + "\n"
			if *update {
				want.Data = []byte(got)
				return
			}
			if d := cmp.Diff(string(want.Data), got); d != "" {
				t.Error(d)
			}
		})
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBounds(t *testing.T) {
	for name, file := range map[string]string{
		"large":    "label: " + strings.Repeat("x", 70_000),
		"brackets": "checks: " + strings.Repeat("[", 60_000),
		"dashes":   strings.Repeat("- ", 30_000),
		"indented": strings.Repeat(" ", 1000) + "a: b",
		"binary":   "label: \xff\xfe",
	} {
		if _, err := config.Parse("f", []byte(file)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	many := strings.Repeat("nonsense: 1\n", 200)
	_, err := config.Parse("f", []byte(many))
	var invalid *invalid.File
	if !errors.As(err, &invalid) || len(invalid.Problems) > 51 {
		t.Errorf("want at most 51 problems, got %v", err)
	}
}

func TestEveryFieldIsRead(t *testing.T) {
	// Each setting alone, at both ends of its range.
	for _, f := range config.Fields() {
		for _, v := range ends(f) {
			file, err := yaml.Marshal(whole(f.Path, nest(f.Path, v)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := config.Parse("f", file)
			if err != nil {
				t.Errorf("%s: %v\n%s", f.Path, err, file)
				continue
			}
			want := v
			if f.Form == config.Duration {
				d, _ := time.ParseDuration(v.(string))
				want = sia.Duration(d)
			}
			if d := cmp.Diff(want, f.Value(got)); d != "" {
				t.Errorf("%s: %s", f.Path, d)
			}
		}
	}
}

func ends(f config.Field) []any {
	switch f.Form {
	case config.Bool:
		return []any{true, false}
	case config.Int:
		return []any{int(f.Min), int(f.Max)}
	case config.Number:
		return []any{f.Min, f.Max}
	case config.Duration:
		return []any{time.Duration(f.Min * 1e9).String(), time.Duration(f.Max * 1e9).String()}
	case config.Word:
		var out []any
		for _, w := range f.Words {
			out = append(out, w)
		}
		return out
	case config.Texts:
		return []any{[]string{}, []string{"a", strings.Repeat("b", int(f.Max))}}
	}
	return []any{"x", strings.Repeat("y", int(f.Max))}
}

// whole adds the settings on which another one depends.
func whole(path string, file map[string]any) map[string]any {
	agent, ok := file["agent"].(map[string]any)
	switch {
	case !ok:
	case path == "agent.command", path == "agent.env":
		agent["kind"] = "command"
	}
	if ok && agent["kind"] == "command" && agent["command"] == nil {
		agent["command"] = "codex"
	}
	return file
}

func nest(path string, v any) map[string]any {
	section, name, ok := strings.Cut(path, ".")
	if !ok {
		return map[string]any{path: v}
	}
	return map[string]any{section: map[string]any{name: v}}
}

// The table and the type have the same settings.
func TestFieldsCoverSettings(t *testing.T) {
	full := sia.DefaultSettings()
	full.Agent.Plan, full.Agent.Test, full.Agent.Command, full.Agent.Env = "approve", "x", "x", []string{"x"}
	full.Agent.Setup, full.Agent.Services = []string{"x"}, []string{"x"}
	full.Checks.Required, full.Access.Bots, full.Team = []string{"x"}, []string{"x"}, "x"
	b, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	var inType, inTable []string
	for k, v := range tree {
		section, ok := v.(map[string]any)
		if !ok {
			inType = append(inType, k)
			continue
		}
		for name := range section {
			inType = append(inType, k+"."+name)
		}
	}
	for _, f := range config.Fields() {
		inTable = append(inTable, f.Path)
	}
	sorted := cmp.Transformer("sort", func(in []string) map[string]bool {
		m := map[string]bool{}
		for _, s := range in {
			m[s] = true
		}
		return m
	})
	if d := cmp.Diff(inType, inTable, sorted); d != "" {
		t.Error(d)
	}
}

// schema compiles the schema of settings.
func schema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t testing.TB, s *jsonschema.Schema, file string) error {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

func TestSchema(t *testing.T) {
	s := schema(t)
	for _, good := range []string{example, "checks:\n", "checks:\n  required:\n", "checks: {settle: 1h30m}",
		"label: help"} {
		if err := validate(t, s, good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"labels: x", "sia: {max_approaches: 0}", "sia: {max_approaches: 1.5}",
		"sia: {reviewer: 1}", "checks: {settle: 30}",
		"checks: {settle: soon}", "checks: {protected: [1]}", "agent: {kind: other}", "learning: {min_confidence: 2}",
		"label: ''"} {
		if err := validate(t, s, bad); err == nil {
			t.Errorf("%s: the schema takes it", bad)
		}
		if _, err := config.Parse("f", []byte(bad)); err == nil {
			t.Errorf("%s: Parse takes it", bad)
		}
	}
}

// Parse and the schema accept the output of Format.
func TestRoundTrip(t *testing.T) {
	s := schema(t)
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		want := map[string]any{}
		for _, f := range config.Fields() {
			if !rapid.Bool().Draw(t, f.Path) {
				continue
			}
			v := draw(t, f)
			switch f.Path { // another test covers combinations
			case "agent.kind":
				v = "builtin"
			case "agent.command", "agent.env":
				continue
			}
			want[f.Path] = v
			section, name, ok := strings.Cut(f.Path, ".")
			if !ok {
				b.WriteString(section + ": " + config.Format(v) + "\n")
				continue
			}
			if !strings.Contains(b.String(), "\n"+section+":\n") && !strings.HasPrefix(b.String(), section+":\n") {
				b.WriteString(section + ":\n")
			}
			b.WriteString("  " + name + ": " + config.Format(v) + "\n")
		}
		got, err := config.Parse("f", []byte(b.String()))
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		for _, f := range config.Fields() {
			w, ok := want[f.Path]
			if !ok {
				w = f.Value(sia.DefaultSettings())
			}
			if d := cmp.Diff(w, f.Value(got)); d != "" {
				t.Fatalf("%s: %s\n%s", f.Path, d, b.String())
			}
		}
		if json, err := yaml.YAMLToJSON([]byte(b.String())); err == nil && b.Len() > 0 {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(json))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(v); err != nil {
				t.Fatalf("the schema refuses what Parse takes: %v\n%s", err, b.String())
			}
		}
	})
}

func draw(t *rapid.T, f config.Field) any {
	word := rapid.StringMatching(`x[a-z][a-z0-9_-]{0,8}(/[a-z0-9_-]{1,8}){0,2}[a-z]`)
	switch f.Form {
	case config.Bool:
		return rapid.Bool().Draw(t, "bool")
	case config.Int:
		return rapid.IntRange(int(f.Min), int(f.Max)).Draw(t, "int")
	case config.Number:
		return float64(rapid.IntRange(0, 100).Draw(t, "hundredths")) / 100
	case config.Duration:
		return sia.Duration(time.Duration(rapid.IntRange(int(f.Min), int(f.Max)).Draw(t, "seconds")) * time.Second)
	case config.Word:
		return rapid.SampledFrom(f.Words).Draw(t, "word")
	case config.Texts:
		return rapid.SliceOfN(rapid.StringMatching(`[a-z][a-z :#'"/.]{0,10}[a-z]`), 0, 4).Draw(t, "texts")
	}
	return word.Draw(t, "text")
}

func TestResolve(t *testing.T) {
	own := &config.File{Name: "acme/shop@main:.sia/config.yml", Content: []byte("sia:\n  max_approaches: 3\n")}
	owners := &config.File{Name: "acme/.github@main:.sia/config.yml",
		Content: []byte("label: help\nsia: {max_approaches: 9}\n")}
	for _, c := range []struct {
		name   string
		files  []*config.File
		max    int
		label  string
		source string
	}{
		{"own", []*config.File{own, owners}, 3, "sia", "acme/shop@main:.sia/config.yml:2"},
		{"owner's", []*config.File{nil, owners}, 9, "help", "acme/.github@main:.sia/config.yml:2"},
		{"neither", []*config.File{nil, nil}, 5, "sia", "default"},
	} {
		e, err := config.Resolve(c.files...)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if e.Settings.SIA.MaxApproaches != c.max || e.Settings.Label != c.label ||
			e.Source("sia.max_approaches") != c.source {
			t.Errorf("%s: %+v from %s", c.name, e.Settings.SIA, e.Source("sia.max_approaches"))
		}
	}
	e, _ := config.Resolve(own)
	golden(t, "explain.txt", e.Explain())
	if _, err := config.Resolve(nil, &config.File{Name: "f", Content: []byte("x: 1")}); err == nil {
		t.Error("a broken file is not reported")
	}
}

func TestSchemaGolden(t *testing.T) { golden(t, "schema.json", string(config.Schema())) }

// docs/configuration.md is up to date with the table.
func TestReference(t *testing.T) {
	const begin, end = "<!-- begin: written by go test ./sia/config -update -->\n", "<!-- end -->\n"
	name := filepath.Join("..", "..", "docs", "configuration.md")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(b), begin)
	got, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the reference", name)
	}
	if *update {
		if err := os.WriteFile(name, []byte(head+begin+config.Reference()+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(config.Reference(), got); d != "" {
		t.Errorf("%s is out of date; run go test ./sia/config -update\n%s", name, d)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	for _, s := range []string{"a: &x [*x]", "checks: {<<: *a}", "? a\n: b", "label: |\n  x\n", "- - - a", "a: !!binary x",
		"{", "---\n---\na", "sia: {max_approaches: 99999999999999999999}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := config.Parse("f", b)
		if err == nil {
			for _, field := range config.Fields() {
				if field.Value(s) == nil {
					t.Fatalf("%s has no value", field.Path)
				}
			}
			return
		}
		var invalid *invalid.File
		if !errors.As(err, &invalid) || len(invalid.Problems) == 0 {
			t.Fatalf("%T %v, want an *invalid.File with problems", err, err)
		}
		for _, p := range invalid.Problems {
			if p.Message == "" || p.Line < 0 || (p.Line == 0) != (p.Column == 0) {
				t.Fatalf("bad problem %+v", p)
			}
		}
	})
}

// Combinations of settings are checked.
func TestTogether(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"a byte-order mark", "\ufefflabel: help\n", ""},
		{"an agent", "agent: {kind: command, command: codex, env: [API_KEY, _x1]}", ""},
		{"a command without its kind", "agent:\n  command: codex\n",
			"f:2:3: agent.command: it counts only with `agent.kind: command`; write that, too, or leave the command out"},
		{"a kind without its command", "agent:\n  kind: command\n",
			"f:2:3: agent.kind: the kind `command` needs agent.command: the name of an agent, or a shell command line"},
		{"an empty command", "agent: {kind: command, command: ' '}",
			"f:1:9: agent.kind: the kind `command` needs agent.command: the name of an agent, or a shell command line"},
		{"names for no command", "agent: {env: [API_KEY]}",
			"f:1:9: agent.env: it counts only with `agent.kind: command`; write that, too, or leave the names out"},
		{"a name that is none", "agent: {kind: command, command: codex, env: [API-KEY]}",
			"f:1:40: agent.env: \"API-KEY\" is no name of an environment variable: want letters, digits and underscores, " +
				"such as API_KEY"},
		{"a label of a state", "label: SIA:Working",
			"f:1:1: label: labels that begin with sia: show the state of an issue; choose another name, such as sia"},
		{"memory where people work", "memory: {branch: main}",
			"f:1:10: memory.branch: `main` is a branch that people work on; memory needs one of its own, such as sia/memory"},
		{"memory where SIA works", "memory: {branch: sia/issue-1-x}", "f:1:10: memory.branch: branches of that name hold " +
			"the work on issues; memory needs one of its own, such as sia/memory"},
		{"a branch for memory", "memory: {branch: bots/memory.v2}", ""},
	} {
		_, err := config.Parse("f", []byte(c.file))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: -want +got\n%s", c.name, d)
		}
	}
}
