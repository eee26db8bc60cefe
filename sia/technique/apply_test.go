package technique_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sia/technique"
)

// repository returns the file list and reader of a small Go service.
func repository() technique.Input {
	tree := fstest.MapFS{
		"cmd/server/main.go":      {Data: []byte("package main\n\nfunc main() {}\n")},
		"booking/handler.go":      {Data: []byte("package booking\n\nfunc Handle() {}\n")},
		"booking/handler_test.go": {Data: []byte("package booking\n\nfunc TestHandle() {}\n")},
		"booking/store.go": {Data: []byte("package booking\n\nimport \"context\"\n\n// Store keeps bookings.\n" +
			"type Store interface {\n\tSave(context.Context) error\n}\n")},
		"invoice/reminder_email.go":     {Data: []byte("package invoice\n\n// Reminder is an email.\nfunc Reminder() {}\n")},
		"invoice/big.go":                {Data: []byte("package invoice\n" + strings.Repeat("// line\n", 500))},
		"vendor/mail/email_booking.go":  {Data: []byte("package mail\n")},
		"assets/booking-email-logo.png": {Data: []byte{0x89, 0, 1}},
	}
	return technique.Input{
		Title: "Send a confirmation email when a booking is made",
		Body: "The guest gets an email.\n\n- add an email sender\n- call it in the booking handler\n- test it\n\n" +
			"The response must not take more than a second.\nTests must never be skipped.\n",
		Failures: []sia.CheckFailure{
			{Check: "test", Excerpt: "=== RUN TestHandle\n    handler_test.go:12: want 201, got 500\n" +
				"    MAIL_API_KEY is not set\nFAIL", Tests: []string{"TestHandle", "TestEmail"}},
			{Check: "vet", Excerpt: "booking/handler.go:3:1: undefined: mail"},
		},
		Touched: []string{"cmd/server/main.go", "booking/handler.go", "booking/mailer.go"},
		Files:   slices.Sorted(maps.Keys(tree)),
		Read:    func(p string) ([]byte, error) { return fs.ReadFile(tree, p) },
		Prompt:  "Do it like this.",
	}
}

// bugReport returns GitHub's default bug report template, filled in.
const bugReport = `**Describe the bug**
The cart is empty after paying.

**To Reproduce**
Steps to reproduce the behavior:
1. Go to '/cart'
2. Click on 'Pay'
3. Scroll down
With a full cart:
4. See error

**Expected behavior**
- The cart is kept.

**Desktop (please complete the following information):**
 - OS: macOS
 - Browser: Safari
 - Version 22

### Code of conduct

- [x] I searched the existing issues
- [ ] I would like to send a pull request
`

func dos(steps []plan.Part) (out []string) {
	for _, s := range steps {
		out = append(out, s.Do)
	}
	return out
}

func paths(exs []sia.Example) (out []string) {
	for _, e := range exs {
		out = append(out, e.Path)
	}
	return out
}

// TestMechanisms checks each technique's changes of the brief, without the prose.
func TestMechanisms(t *testing.T) {
	present := sia.Brief{
		Technique: sia.ToolChange, Prompt: "old", WithoutTools: []string{"edit"}, Relaxed: "x",
		Plan: &sia.Plan{Summary: "a queue of its own"}, Answers: []string{"B: use the local queue"},
		Lessons:   []string{"bookings are tested with a fake clock"},
		TestHints: []string{"When the clock stands still: have a test cover that case."},
		Quotes:    []string{"an older error"}, Examples: []sia.Example{{Path: "cmd/server/main.go", Text: "t"}},
	}
	integrate := "Run everything together and mend what the parts break in each other."
	tests := []struct {
		id    sia.TechniqueID
		input func(*technique.Input)
		want  sia.Brief           // without Technique, Prompt, Plan, Answers, Lessons, TestHints
		check func(sia.Brief) any // what of the brief is compared with expect; nil: all
		exp   any
	}{
		{id: sia.Decomposition, check: func(b sia.Brief) any { return dos(b.Steps) },
			exp: []string{"add an email sender", "call it in the booking handler", "test it", integrate}},
		{id: sia.Decomposition, input: func(in *technique.Input) {
			in.Steps = []plan.Part{{Do: "sender"}, {Do: "handler", DoneWhen: "TestHandle passes"}, {Do: " sender "}}
		}, check: func(b sia.Brief) any { return b.Steps[:2] },
			exp: []plan.Part{{Do: "sender",
				DoneWhen: "a test for this step passes, and every test that passed before still does"},
				{Do: "handler", DoneWhen: "TestHandle passes"}}},
		// nothing of a long list is nobody's
		{id: sia.Decomposition, input: func(in *technique.Input) {
			in.Body = ""
			for i := range 16 {
				in.Body += fmt.Sprintf("- [ ] item %d\n", i)
			}
		}, check: func(b sia.Brief) any { return dos(b.Steps) },
			exp: []string{"item 0; and: item 1", "item 2; and: item 3", "item 4; and: item 5",
				"item 6; and: item 7; and: item 8", "item 9; and: item 10", "item 11; and: item 12",
				"item 13; and: item 14; and: item 15", integrate}},
		{id: sia.Decomposition, input: func(in *technique.Input) {
			in.Steps = nil
			for i := range 14 {
				in.Steps = append(in.Steps, plan.Part{Do: fmt.Sprint("step ", i), DoneWhen: fmt.Sprint("test ", i),
					Check: "make test"})
			}
			in.Steps[13].Check = "make lint"
		}, check: func(b sia.Brief) any { return b.Steps[5:] },
			exp: []plan.Part{{Do: "step 10; and: step 11", DoneWhen: "test 10; and: test 11", Check: "make test"},
				{Do: "step 12; and: step 13", DoneWhen: "test 12; and: test 13"},
				{Do: integrate, DoneWhen: "every check passes, above all test, vet"}}},
		// what the report of a fault lists is not work, and neither is what its author ticked or says of themselves
		{id: sia.Decomposition, input: func(in *technique.Input) { in.Body, in.Touched = bugReport, nil },
			check: func(b sia.Brief) any { return dos(b.Steps) },
			exp:   []string{"Make TestHandle pass, and nothing else.", "Make TestEmail pass, and nothing else.", integrate}},
		{id: sia.PromptRestructuring, input: func(in *technique.Input) { in.Body = bugReport },
			check: func(b sia.Brief) any { return strings.Contains(b.Prompt, "Click on") }, exp: false},
		{id: sia.Decomposition, input: func(in *technique.Input) {
			in.Body = bugReport + "\n## To do\n\n- [ ] keep the cart\n- [x] find the fault\n- [ ] show the total\n\n" +
				"It reproduces as follows:\n\n1. Open it\n\nThis is wanted as well:\n\n* the cart of a guest\n"
		}, check: func(b sia.Brief) any { return dos(b.Steps) },
			exp: []string{"keep the cart", "show the total", "the cart of a guest", integrate}},
		{id: sia.Decomposition, input: func(in *technique.Input) { in.Body = "no list" },
			check: func(b sia.Brief) any { return dos(b.Steps) },
			exp: []string{"Change only what lies under booking: booking/handler.go, booking/mailer.go.",
				"Change only what lies under cmd/server: cmd/server/main.go.", integrate}},
		{id: sia.Decomposition, input: func(in *technique.Input) { in.Body, in.Touched = "", nil },
			check: func(b sia.Brief) any { return dos(b.Steps) },
			exp:   []string{"Make TestHandle pass, and nothing else.", "Make TestEmail pass, and nothing else.", integrate}},

		{id: sia.ToolChange, input: func(in *technique.Input) { in.Tools = []string{"read", "edit", "write", "run"} },
			check: func(b sia.Brief) any { return [][]string{b.Tools, b.WithoutTools} },
			exp:   [][]string{{"read", "write", "run"}, {"edit"}}},
		// the built-in agent's own tools: everything that edits in place goes, everything that reads or
		// runs stays
		{id: sia.ToolChange,
			check: func(b sia.Brief) any { return [][]string{b.Tools, b.WithoutTools} },
			exp: [][]string{{"list", "read", "outline", "search", "locate", "write", "delete", "plan", "ask", "finish", "run",
				"test"}, {"edit", "patch"}}},
		// nothing would be left to change files with
		{id: sia.ToolChange, input: func(in *technique.Input) { in.Unsuitable = []string{"edit", "patch", "write"} },
			check: func(b sia.Brief) any { return b.WithoutTools }, exp: []string{"edit", "patch"}},
		{id: sia.ToolChange, input: func(in *technique.Input) {
			in.Tools = []string{"read", "edit", "write"}
			in.Failures = []sia.CheckFailure{{Excerpt: "write: file already exists"}}
		}, check: func(b sia.Brief) any { return [][]string{b.Tools, b.WithoutTools} },
			exp: [][]string{{"read", "edit"}, {"write"}}},
		{id: sia.ToolChange, input: func(in *technique.Input) {
			in.Tools, in.Unsuitable = []string{"read", "edit", "write", "run"}, []string{"run", "read", "no-such"}
		}, check: func(b sia.Brief) any { return [][]string{b.Tools, b.WithoutTools} },
			exp: [][]string{{"read", "edit", "write"}, {"run"}}},

		{id: sia.PromptRestructuring, check: func(b sia.Brief) any {
			return []any{b.DropHistory, strings.Index(b.Prompt, "## Goal") < strings.Index(b.Prompt, "## Constraints"),
				strings.Index(b.Prompt, "## Constraints") < strings.Index(b.Prompt, "## Done when"),
				strings.Contains(b.Prompt, "B: use the local queue (a person said so)")}
		}, exp: []any{true, true, true, true}},

		{id: sia.ContextPruning, want: sia.Brief{DropHistory: true,
			OnlyFiles: []string{"booking/handler_test.go", "booking/handler.go", "cmd/server/main.go", "booking/mailer.go"}}},
		{id: sia.ContextPruning, input: func(in *technique.Input) {
			in.Context = []string{"./booking/store.go", "../../etc/passwd", "no/such.go"}
			in.Failures, in.Touched = nil, nil
		}, want: sia.Brief{DropHistory: true, OnlyFiles: []string{"booking/store.go"}}},

		{id: sia.ExampleInjection, input: func(in *technique.Input) {
			in.Examples = []string{"booking/store.go",
				"/etc/passwd", "nope.go"}
		},
			check: func(b sia.Brief) any { return []any{paths(b.Examples), b.Examples[0].Text} },
			exp: []any{[]string{"booking/store.go", "booking/handler_test.go", "invoice/reminder_email.go"},
				"package booking\n\nimport \"context\"\n\n// Store keeps bookings.\ntype Store interface {\n" +
					"\tSave(context.Context) error\n}"}},

		{id: sia.ConstraintRelaxation,
			check: func(b sia.Brief) any { return []string{b.Relaxed, b.Steps[len(b.Steps)-1].Do} },
			exp: []string{"The response must not take more than a second",
				"Put the constraint back: The response must not take more than a second"}},
		{id: sia.ConstraintRelaxation, input: func(in *technique.Input) { in.Constraint = "the tests must pass" },
			check: func(b sia.Brief) any { return b.Relaxed },
			exp:   "The response must not take more than a second"},

		{id: sia.DependencyReordering, input: func(in *technique.Input) {
			in.Touched = []string{"cmd/server/main.go", "booking/handler.go", "booking/mail/send.go"}
		},
			check: func(b sia.Brief) any {
				return len(b.Steps) == 4 && strings.Contains(b.Steps[0].Do, "booking/mail") &&
					strings.Contains(b.Steps[2].Do, "cmd/server")
			},
			exp: true},

		{id: sia.AbstractionLevelShift, check: func(b sia.Brief) any {
			return []any{len(b.Steps), paths(b.Examples), strings.HasPrefix(b.Examples[1].Text, "// Store keeps")}
		},
			exp: []any{4, []string{"cmd/server/main.go", "booking/store.go"}, true}},
		{id: sia.AbstractionLevelShift, input: func(in *technique.Input) { in.Level = "down" },
			check: func(b sia.Brief) any { return len(b.Steps) }, exp: 3},
		{id: sia.AbstractionLevelShift,
			input: func(in *technique.Input) { in.Level, in.Pattern = "down", sia.MissingCredentials },
			check: func(b sia.Brief) any { return len(b.Steps) }, exp: 4},

		{id: sia.ErrorPattern, want: sia.Brief{
			Quotes: []string{"handler_test.go:12: want 201, got 500", "MAIL_API_KEY is not set",
				"booking/handler.go:3:1: undefined: mail", "an older error"},
			Examples: []sia.Example{{Path: "cmd/server/main.go", Text: "t"}}}},
		{id: sia.FreshStart, want: sia.Brief{FromBase: true, DropHistory: true}},
	}
	l := shippedFiles(t)
	for i, tt := range tests {
		t.Run(fmt.Sprintf("%d %s", i, tt.id), func(t *testing.T) {
			in := repository()
			if tt.input != nil {
				tt.input(&in)
			}
			x, _ := l.Get(tt.id)
			before := fmt.Sprintf("%#v", present)
			got := technique.Apply(present, x, in)
			if fmt.Sprintf("%#v", present) != before {
				t.Error("the present brief was modified")
			}
			if got.Technique != tt.id || !strings.Contains(got.Prompt, "Do it like this.") ||
				!strings.Contains(got.Prompt, x.Prompt) {
				t.Errorf("technique %s, prompt %q", got.Technique, got.Prompt)
			}
			if d := cmp.Diff(present.Plan, got.Plan) + cmp.Diff(present.Answers, got.Answers) + cmp.Diff(present.Lessons,
				got.Lessons) + cmp.Diff(present.TestHints, got.TestHints); d != "" {
				t.Error("what people said and what was learned must stay: ", d)
			}
			if tt.check != nil {
				if d := cmp.Diff(tt.exp, tt.check(got)); d != "" {
					t.Errorf("%s\n%+v", d, got)
				}
				return
			}
			got.Technique, got.Prompt, got.Plan, got.Answers, got.Lessons, got.TestHints = "", "", nil, nil, nil, nil
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestReorderPresentSteps(t *testing.T) {
	x, _ := shippedFiles(t).Get(sia.DependencyReordering)
	present := sia.Brief{Steps: []plan.Part{{Do: "first"}, {Do: "second", DoneWhen: "TestEmail passes"}, {Do: "third"}}}
	for _, tt := range []struct {
		name string
		in   technique.Input
		want []string
	}{
		{"a failure names one", technique.Input{Failures: []sia.CheckFailure{{Tests: []string{"TestEmail"}}}},
			[]string{"second", "first", "third"}},
		{"nothing names one", technique.Input{}, []string{"third", "first", "second"}},
		{"the diagnosis does", technique.Input{Steps: []plan.Part{{Do: "third"}, {Do: "second"}, {Do: "first"}}},
			[]string{"third", "second", "first"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, dos(technique.Apply(present, x, tt.in).Steps)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestApplyAlwaysChangesSomething: for any input, a technique changes more of the brief than prose, within limits.
func TestApplyAlwaysChangesSomething(t *testing.T) {
	l := shippedFiles(t)
	text := rapid.OneOf(rapid.String(),
		rapid.SampledFrom([]string{"- a list item\n- another one", "must not be slow", "pkg/a.go:12: undefined: x",
			"```\ncode\n```", "FAIL", "no such file"}))
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SampledFrom(l.All()).Draw(t, "technique")
		texts := rapid.SliceOfN(text, 0, 4)
		in := technique.Input{
			Title: text.Draw(t, "title"), Body: text.Draw(t, "body"), Prompt: text.Draw(t, "prompt"),
			Touched: texts.Draw(t, "touched"), Files: texts.Draw(t, "files"), Tools: texts.Draw(t, "tools"),
			Unsuitable: texts.Draw(t, "unsuitable"), Context: texts.Draw(t, "context"), Examples: texts.Draw(t, "examples"),
			Constraint: text.Draw(t, "constraint"), Level: text.Draw(t, "level"),
			Read: func(p string) ([]byte, error) {
				if len(p)%2 == 0 {
					return nil, errors.New("gone")
				}
				return []byte(strings.Repeat(p+"\n", 300)), nil
			},
		}
		for _, e := range texts.Draw(t, "excerpts") {
			in.Failures = append(in.Failures, sia.CheckFailure{Check: "c", Excerpt: e, Tests: []string{e}})
		}
		for _, s := range texts.Draw(t, "steps") {
			in.Steps = append(in.Steps, plan.Part{Do: s})
		}
		b := technique.Apply(sia.Brief{}, x, in)
		if strings.TrimSpace(b.Prompt) == "" || len(b.Prompt) > 20_000 {
			t.Fatalf("prompt of %d bytes", len(b.Prompt))
		}
		changed := b.FromBase || b.DropHistory || len(b.Steps) >= 2 || len(b.WithoutTools)+len(b.Tools) > 0 ||
			len(b.Examples) > 0 || b.Relaxed != "" || len(b.Quotes) > 0
		// these need something to work with
		needs := slices.ContainsFunc(x.Changes, func(c technique.Change) bool {
			return c == technique.ChangeExamples || c == technique.ChangeQuote || c == technique.ChangeTools
		})
		if !changed && !needs {
			t.Fatalf("%s changed nothing: %+v", x.ID, b)
		}
		if len(b.Steps) > 9 || len(b.Examples) > 3 || len(b.OnlyFiles) > 8 || len(b.Quotes) > 6 {
			t.Fatalf("out of bounds: %+v", b)
		}
		for _, e := range b.Examples {
			if len(e.Text) > 5000 || !slices.Contains(in.Files, e.Path) {
				t.Fatalf("example %q of %d bytes", e.Path, len(e.Text))
			}
		}
		for _, s := range b.Steps {
			if s.Do == "" || s.DoneWhen == "" {
				t.Fatalf("a step without its done-when: %+v", b.Steps)
			}
		}
		if d := cmp.Diff(b, technique.Apply(sia.Brief{}, x, in)); d != "" {
			t.Fatal("not deterministic: ", d)
		}
	})
}

// Truncated instructions keep their done-when section.
func TestLongInstructionsAreRewritten(t *testing.T) {
	l, _ := technique.LoadLibrary(nil)
	restructuring, _ := l.Get(sia.PromptRestructuring)
	in := repository()
	in.Prompt = strings.Repeat("Do it. ", 2000)
	b := technique.Apply(sia.Brief{}, restructuring, in)
	for _, want := range []string{"Do it.", "## Done when", "the check vet is green", "every other check is green"} {
		if !strings.Contains(b.Prompt, want) {
			t.Errorf("%q is not in it", want)
		}
	}
}
