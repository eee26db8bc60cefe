package diagnose_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
)

// TestRules: each pattern is recognised from its evidence without a model, and the instructions are specific to it.
func TestRules(t *testing.T) {
	log := func(lines string) func(*sia.Task, *diagnose.Input) {
		return func(t *sia.Task, _ *diagnose.Input) {
			t.Attempts[0].Failures = []sia.CheckFailure{{Check: "ci", Signature: "s", Excerpt: lines}}
		}
	}
	second := func(change func(first, second *sia.Attempt)) func(*sia.Task, *diagnose.Input) {
		return func(t *sia.Task, _ *diagnose.Input) {
			a := t.Attempts[0]
			a.Failures = []sia.CheckFailure{{Check: "ci", Signature: "s", Excerpt: "FAIL: x_test.go:3: boom"}}
			b := a
			b.Number = 2
			b.Failures = []sia.CheckFailure{{Check: "ci", Signature: "other", Excerpt: "FAIL: x_test.go:4: bang"}}
			change(&a, &b)
			t.Attempts = []sia.Attempt{a, b}
		}
	}
	recognised := map[sia.Pattern]bool{}
	for _, tt := range []struct {
		name string
		set  func(*sia.Task, *diagnose.Input)
		want sia.Pattern
		says string // within the instructions
	}{
		{"Go, a key", log("panic: STRIPE_SECRET_KEY must be set"), sia.MissingCredentials,
			"`STRIPE_SECRET_KEY` is not there"},
		{"Python, a key", log("    raise KeyError(key)\nKeyError: 'SENDGRID_API_KEY'"), sia.MissingCredentials,
			"> KeyError: 'SENDGRID_API_KEY'"},
		{"AWS", log("NoCredentialProviders: no valid providers in chain"), sia.MissingCredentials,
			"credentials are not there"},
		{"HTTP 401", log("mail: 401 Unauthorized"), sia.MissingCredentials, "local double"},
		{"a test about passwords", log("login_test.go:9: expected password error but got nil"), sia.UnknownPattern,
			"login_test.go:9"},
		{"refused", log("dial tcp 127.0.0.1:5432: connect: connection refused"), sia.ExternalDependencyBlocker,
			"`127.0.0.1:5432` can't be reached"},
		{"DNS", log("Error: getaddrinfo ENOTFOUND api.mail.example.com"), sia.ExternalDependencyBlocker,
			"`api.mail.example.com` can't be reached"},
		{"a command", log("sh: 1: protoc: not found\nmake: protoc: command not found"), sia.Environment,
			"`protoc` is not available"},
		{"a module", log("ModuleNotFoundError: No module named 'yaml'"), sia.Environment, "`yaml` is not available"},
		{"import cycle", log("package a\n\timports b\n\timports a: import cycle not allowed"), sia.WrongOrder,
			"nothing else rests on"},
		{"a table", log("pq: relation \"bookings\" does not exist"), sia.WrongOrder, "`bookings` is used before"},
		{"redeclared", log("a.go:3:6: send redeclared in this block"), sia.AccumulatedCruft, "`send` exists twice"},
		{"an interface", log("*T does not implement Sender (missing method Close)"), sia.WrongAbstractionLevel,
			"border at `Sender`"},
		{"a snapshot", log("Snapshot name: `renders 1`\n- Expected\n+ Received"), sia.MissingExample, "same kind"},
		{"JSON that breaks off", log("SyntaxError: Unexpected end of JSON input"), sia.MissingExample, "same kind"},
		{"a script that breaks off", log("SyntaxError: Unexpected end of input"), sia.UnknownPattern,
			"Unexpected end of input"},
		{"coverage", log("coverage: 61% is below the threshold of 80%"), sia.OverConstrained,
			"smallest change that meets the other"},
		{"undefined in two files", log("a/x.go:3:5: undefined: Foo\nb/y.go:9:1: undefined: Foo"),
			sia.InterdependentComponents, "a/x.go, b/y.go"},
		{"undefined in one file", log("a/x.go:3:5: undefined: Foo"), sia.UnknownPattern, "a/x.go:3:5"},
		{"mending one breaks another",
			second(func(a, b *sia.Attempt) { a.Passing = []string{"lint", "ci"}; a.Failures[0].Check = "x" }),
			sia.InterdependentComponents, "`ci`"},
		{"the same error", second(func(a, b *sia.Attempt) { b.Failures = a.Failures }), sia.RepeatedError,
			"same error has come back"},
		{"about to stick", second(func(a, b *sia.Attempt) {
			b.Signals = []sia.Signal{{Name: sia.AboutToStick, Evidence: "5 times the same call"}}
		}), sia.RepeatedError, "same error"},
		{"same change, other failure", second(func(a, b *sia.Attempt) { a.Hunks, b.Hunks = []uint64{1, 2}, []uint64{1, 2} }),
			sia.FlakyCheck, "inject the clock"},
		{"a race", log("WARNING: DATA RACE"), sia.FlakyCheck, "wait for events"},
		{"edits that miss", func(t *sia.Task, in *diagnose.Input) {
			log("nothing in particular")(t, in)
			in.Transcript = "call edit mail/send.go\nerror: mail/send.go: no such file or directory\ncall edit mail/send.go\n" +
				"error: mail/send.go: no such file or directory\n"
		}, sia.WrongTool, "`mail/send.go`"},
		{"calls of edits that miss", func(t *sia.Task, in *diagnose.Input) {
			log("nothing in particular")(t, in)
			in.Transcript = strings.Repeat("**`edit`** → error\n\n```text\n{\"path\":\"mail/send.go\"}\n```\n\n```text\n"+
				"error: edit \"mail/send.go\": old does not occur in the file; nearest are lines 1–2:\n```\n\n", 2)
		}, sia.WrongTool, "`mail/send.go`"},
		{"calls that speak of what does not exist", func(t *sia.Task, in *diagnose.Input) {
			log("boom")(t, in)
			in.Transcript = "> I will edit the sender, and apply what is wanted.\n\n" +
				strings.Repeat("**`run`** → error\n\n```text\nls x\n```\n\n```text\nls: cannot access 'x': "+
					"No such file or directory\n```\n\n**`edit`**\n\n```text\n{\"new\":\"the booking does not exist\"}\n```\n\n", 3)
		}, sia.UnknownPattern, "> boom"},
		{"words about edits, and much later of what does not exist", func(t *sia.Task, in *diagnose.Input) {
			log("boom")(t, in)
			in.Transcript = "I will edit the sender.\n" + strings.Repeat("some output\n", 20) +
				strings.Repeat("cat: x: No such file or directory\n", 4)
		}, sia.UnknownPattern, "> boom"},
		{"the window is full", func(t *sia.Task, _ *diagnose.Input) {
			t.Attempts[0].Failures, t.Attempts[0].Reason = nil, "the context window is full"
		}, sia.ContextOverload, "one test at a time"},
		{"turns", func(t *sia.Task, _ *diagnose.Input) {
			t.Attempts[0].Failures, t.Attempts[0].Reason = nil, "the limit of 60 turns was reached"
		}, sia.ContextOverload, "one test at a time"},
		{"limits in a row", func(t *sia.Task, _ *diagnose.Input) {
			t.Attempts[0].Failures, t.Attempts[0].Reason = nil, "3 limits reached in a row without finishing"
		}, sia.ContextOverload, "one test at a time"},
		{"the window", func(t *sia.Task, _ *diagnose.Input) {
			t.Attempts[0].Failures, t.Attempts[0].Reason = nil, "the conversation no longer fits the model's window"
		}, sia.ContextOverload, "one test at a time"},
		{"it has grown", func(t *sia.Task, in *diagnose.Input) {
			log("nothing in particular")(t, in)
			last := t.Attempts[0]
			last.Number, last.Diff.Added = 3, 900
			t.Attempts = append(t.Attempts, last)
			t.Attempts[0].Failures = nil
		}, sia.AccumulatedCruft, "one version"},
		{"nothing was changed", func(t *sia.Task, _ *diagnose.Input) {
			t.Body = strings.Repeat("The handler returns the booking it made. ", 10)
			t.Attempts[0] = sia.Attempt{Number: 1, Reason: "finished without a change"}
		}, sia.UnclearInstructions, "smallest reading"},
		{"an open question", func(t *sia.Task, in *diagnose.Input) {
			log("nothing in particular")(t, in)
			t.Title, t.Body = "Let guests sign in with some social account", ""
			t.Attempts[0].Summary = "It is unclear which providers are meant; I assumed one."
		}, sia.UnclearSpecification, "which reading you took"},
		{"no rule", log("boom"), sia.UnknownPattern, "> boom"},
	} {
		recognised[tt.want] = true
		t.Run(tt.name, func(t *testing.T) {
			task := failed()
			in := diagnose.Input{}
			tt.set(&task, &in)
			in.Task = task
			got, _ := run(t, nil, in)
			if got.Pattern != tt.want || got.Technique == "" {
				t.Fatalf("%s, %s: %s", got.Pattern, got.Technique, got.Summary)
			}
			if !strings.Contains(got.Prompt+got.Summary, tt.says) {
				t.Errorf("want %q in:\n%s\n%s", tt.says, got.Summary, got.Prompt)
			}
			final := in
			final.Final = true
			run(t, nil, final)
		})
	}
	for _, p := range sia.Patterns {
		if !recognised[p] {
			t.Errorf("no case leads to %s", p)
		}
	}
}

// TestRulesGoOn: when all techniques for the first pattern are used, the next indicated pattern is chosen.
func TestRulesGoOn(t *testing.T) {
	task := failed()
	second := task.Attempts[0]
	second.Number = 2
	task.Attempts = append(task.Attempts, second)
	for _, id := range []sia.TechniqueID{sia.AbstractionLevelShift, sia.ConstraintRelaxation} {
		task.Interventions = append(task.Interventions,
			sia.Intervention{After: 1, Diagnosis: sia.Diagnosis{Pattern: sia.MissingCredentials, Technique: id}})
	}
	got, _ := run(t, nil, diagnose.Input{Task: task})
	if got.Pattern != sia.RepeatedError || got.Technique != sia.ErrorPattern ||
		!strings.Contains(got.Answers.SeenBefore, "attempt 1 failed in the same way") {
		t.Errorf("%+v", got)
	}
}
