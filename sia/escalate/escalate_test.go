package escalate_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/escalate"
	"github.com/sia-bot/sia/sia/plan"
)

// providers is the demo's second story: which providers?
func providers() []sia.Option {
	return []sia.Option{
		{Letter: "A", Text: "One provider", Fastest: true},
		{Letter: "B", Text: "Two: GitHub and Google"},
		{Letter: "C", Text: "Three"},
	}
}

func task() sia.Task {
	return sia.Task{
		Issue: 2, Title: "Let guests sign in with their social account", State: sia.Escalated, Approaches: 2,
		Branch: "sia/issue-2", Head: "abcdef123",
		AskedBy: sia.Actor{Login: "ana"}, Pull: sia.Pull{Number: 5, URL: "https://example.test/5"},
		Settings: sia.DefaultSettings(),
		Prompts:  []sia.Prompt{{Version: 1}, {Version: 2}},
		Attempts: []sia.Attempt{
			{Number: 1, Outcome: sia.AttemptFail,
				Failures: []sia.CheckFailure{{Check: "test",
					Excerpt: "=== RUN\n\n  login_test.go:9: want a list of providers, got none\n"}}},
			{Number: 2, Technique: sia.PromptRestructuring, Outcome: sia.AttemptCheckpoint},
		},
		Escalation: &sia.Escalation{Kind: sia.AskIssue, Blocker: "login_test.go:9: want a list", Question: "Which providers?",
			Options: providers()},
		Credits: sia.Ledger{Spent: 4000},
	}
}

func TestFromDiagnosis(t *testing.T) {
	e := escalate.FromDiagnosis(sia.Diagnosis{Pattern: sia.MissingCredentials}, task())
	if e.Blocker != "test: login_test.go:9: want a list of providers, got none" ||
		!strings.Contains(e.Question, "credentials") || len(e.Options) != 3 {
		t.Errorf("%+v", e)
	}
	e = escalate.FromDiagnosis(sia.Diagnosis{Blocker: "b", Question: "q\nr?", Options: []sia.Option{
		{Letter: "Z", Text: "A) one"}, {Text: "Option B: two", Fastest: true}, {Text: "One"}, {Text: " "},
		{Text: "three", Fastest: true}, {Text: "four"}, {Text: "five"},
	}}, sia.Task{})
	want := []sia.Option{{Letter: "A", Text: "one"}, {Letter: "B", Text: "two", Fastest: true},
		{Letter: "C", Text: "three"}, {Letter: "D", Text: "four"}}
	if d := cmp.Diff(want, e.Options); d != "" || e.Question != "q r?" {
		t.Error(d, e.Question)
	}
}

func TestCleanAsk(t *testing.T) {
	got := escalate.CleanAsk(sia.Ask{Question: "Which?", Options: []string{"A) x", " ", "y"}})
	want := &sia.Ask{Why: "The task can be read in more than one way.", Question: "Which?", Options: []string{"x", "y"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestCleanPlan(t *testing.T) {
	long := strings.Repeat("word ", 2000)
	p := sia.Plan{Summary: "\n Greet \xff everybody.\n", By: sia.Actor{Login: "mallory"},
		Steps: []plan.Part{{Do: " "}, {Do: "Write\nit", DoneWhen: " it\tpasses"}}}
	want := sia.Plan{Summary: "Greet \ufffd everybody.", Steps: []plan.Part{{Do: "Write it", DoneWhen: "it passes"}}}
	if d := cmp.Diff(&sia.Ask{Plan: &want}, escalate.CleanAsk(sia.Ask{Plan: &p, Why: "x"})); d != "" {
		t.Error(d)
	}
	p = sia.Plan{Summary: long, Steps: slices.Repeat([]plan.Part{{Do: long, DoneWhen: long}}, 20)}
	got := escalate.CleanAsk(sia.Ask{Plan: &p}).Plan
	length := utf8.RuneCountInString
	if length(got.Summary) > 4000 || len(got.Steps) != 12 || length(got.Steps[11].Do) > 500 ||
		length(got.Steps[11].DoneWhen) > 500 {
		t.Errorf("a summary of %d characters and %d steps", length(got.Summary), len(got.Steps))
	}
}

// For any output of a model, a person gets two to four lettered options, one of
// them the fastest.
func TestAlwaysAnswerable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"A) x", "**B.** y", "option c: z", "-", "x"}))
		var options []sia.Option
		var words []string
		for range rapid.IntRange(0, 7).Draw(t, "n") {
			o := sia.Option{Letter: text.Draw(t, "letter"), Text: text.Draw(t, "text"), Fastest: rapid.Bool().Draw(t, "fastest")}
			options, words = append(options, o), append(words, o.Text)
		}
		task := sia.Task{}
		if rapid.Bool().Draw(t, "attempted") {
			task.Attempts = []sia.Attempt{{Number: 1, Reason: text.Draw(t, "reason"),
				Failures: []sia.CheckFailure{{Check: "c", Excerpt: text.Draw(t, "excerpt")}}}}
		}
		d := sia.Diagnosis{Pattern: rapid.SampledFrom(sia.Patterns).Draw(t, "pattern"), Blocker: text.Draw(t, "blocker"),
			Question: text.Draw(t, "question"), Options: options}
		ask := escalate.CleanAsk(sia.Ask{Question: d.Question, Why: d.Blocker, Options: words})
		asked := sia.Escalation{Kind: sia.AskQuestion, Blocker: ask.Why, Question: ask.Question}
		for i, o := range ask.Options { // as sia.Step asks it
			asked.Options = append(asked.Options, sia.Option{Letter: string("ABCD"[i]), Text: o, Fastest: i == 0})
		}
		for _, e := range []sia.Escalation{escalate.FromDiagnosis(d, task), asked} {
			fastest := 0
			for i, o := range e.Options {
				if o.Letter != string("ABCD"[i]) || strings.TrimSpace(o.Text) == "" || len(o.Text) > 300 {
					t.Fatalf("option %+v", o)
				}
				if o.Fastest {
					fastest++
				}
				// Each can be answered by its letter, by its text and by its box.
				if got, ok := escalate.ParseAnswer(o.Letter, e); !ok || got.Letter != o.Letter {
					t.Fatalf("%q gave %+v", o.Letter, got)
				}
				if got := escalate.ParseBoxes(escalate.Box(o, true)); !slices.Equal(got, []string{o.Letter}) {
					t.Fatalf("%q gave %v", escalate.Box(o, true), got)
				}
				if got := escalate.ParseBoxes(escalate.Box(o, false)); got != nil {
					t.Fatalf("%q gave %v", escalate.Box(o, false), got)
				}
			}
			if len(e.Options) < 2 || fastest != 1 || strings.TrimSpace(e.Blocker) == "" || strings.TrimSpace(e.Question) == "" ||
				e.Kind == "" {
				t.Fatalf("%+v", e)
			}
		}
	})
}

func TestParseBoxes(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       []string
	}{
		{"as written", "- [ ] **A** — one *(fastest)*\n- [x] **B** — two\n- Something else\n", []string{"B"}},
		{"several", "- [x] **A** — one\r\n- [X] **C** — three\r\n", []string{"A", "C"}},
		{"edited by hand", "* [x] b) two\n1. [X] **c**\n+ [x] __A__ - one", []string{"B", "C", "A"}},
		{"of a text that is quoted", "> - [x] **A** — one\n- [✓] A: yes\n- [✔] B: no\n- [ x ] C) b\n- [] D", nil},
		{"none", "- [ ] **A** — one", nil},
		{"other lists", "- [x] Add tests\n- [x] Done\n- [x] a thing", nil},
		{"fenced", "```\n- [x] **A** — one\n```\n~~~text\n- [x] **B** — two\n```\n~~~\n- [x] **C** — three",
			[]string{"C"}},
		{"indented code", "    - [x] **A** — one\n\t- [x] **B** — two", nil},
		{"indented code with a fence's characters", "    ```\n- [x] **A** — one", []string{"A"}},
		{"commented out", "<!-- - [x] **A** — one -->\n<!--\n- [x] **B** — two\n--> \n" +
			"- [x] **C** — three", []string{"C"}},
		{"an open fence", "```\n- [x] **A** — one", nil},
		{"twice", "- [ ] **A** — one\n- [x] **A** — one\n- [x] **A** — one", []string{"A"}},
		{"no bullet", "[x] **A** — one", nil},
		{"beyond D", "- [x] **E** — five", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, escalate.ParseBoxes(tt.body)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseAnswer(t *testing.T) {
	for _, tt := range []struct {
		text, letter, rest string
		not                bool
	}{
		{text: "B", letter: "B"},
		{text: " b ", letter: "B"},
		{text: "b)", letter: "B"},
		{text: "(B).", letter: "B"},
		{text: "**B**", letter: "B"},
		{text: "option B", letter: "B"},
		{text: "Answer: b!", letter: "B"},
		{text: "Let's go with B, please", letter: "B"},
		{text: "I'd pick c", letter: "C"},
		{text: "B, but only Google", letter: "B", rest: "but only Google"},
		{text: "B but only Google", letter: "B", rest: "but only Google"},
		{text: "Option B with a flag", letter: "B", rest: "with a flag"},
		{text: "b) and keep it behind a flag", letter: "B", rest: "and keep it behind a flag"},
		{text: "B — two\nmore words", letter: "B", rest: "two\nmore words"},
		{text: "B\n\nPlease keep the old flag.", letter: "B", rest: "Please keep the old flag."},
		{text: "**b.**\nplease", letter: "B", rest: "please"},
		{text: "B because of the old flag", letter: "B", rest: "because of the old flag"},
		{text: "C.", letter: "C"},
		{text: "C, please", letter: "C"},
		{text: "C: because two is too few", letter: "C", rest: "because two is too few"},
		{text: "C\n\nTwo is too few.", letter: "C", rest: "Two is too few."},
		{text: "Option C", letter: "C"},
		{text: "Option C please, with tests", letter: "C", rest: "please, with tests"},
		{text: "B two, but keep the old flag", letter: "B", rest: "two, but keep the old flag"},
		{text: "B keep the old flag", rest: "B keep the old flag"},
		{text: "C bindings are missing", rest: "C bindings are missing"},
		{text: "A test fails", rest: "A test fails"},
		{text: "B trees would be faster", rest: "B trees would be faster"},
		{text: "C and C++ bindings are missing", rest: "C and C++ bindings are missing"},
		{text: "C, C++ and Rust bindings are missing", rest: "C, C++ and Rust bindings are missing"},
		{text: "C without bindings does not build", rest: "C without bindings does not build"},
		{text: "A for loop is enough", rest: "A for loop is enough"},
		{text: "a plus sign is missing", rest: "a plus sign is missing"},
		{text: "Option B is wrong", rest: "Option B is wrong"},
		{text: "Option C would not work", rest: "Option C would not work"},
		{text: "A, B and C fail alike", rest: "A, B and C fail alike"},
		{text: "B 👍", letter: "B", rest: "👍"},
		{text: "B is wrong", rest: "B is wrong"},
		{text: "B isn't enough", rest: "B isn't enough"},
		{text: "A, or B?"},
		{text: "option A/B"},
		{text: "(a), (b) or c."},
		{text: "D, please"},
		{text: "Option d"},
		{text: "E"},
		{text: "A or B, whichever is simpler", rest: "A or B, whichever is simpler"},
		{text: "D: ask the shop owner", rest: "D: ask the shop owner"},
		{text: "a) is wrong, b) is right", rest: "a) is wrong, b) is right"},
		{text: "D\n\nplease", rest: "D\n\nplease"},
		{text: "No, three", rest: "No, three"},
		{text: "Two: GitHub and Google", letter: "B"},
		{text: "two github and google.", letter: "B"},
		{text: "B) Two: GitHub and Google", letter: "B"},
		{text: "> Which providers?\n\nB", letter: "B"},
		{text: "<!-- A -->B", letter: "B"},
		{text: "B\n\nOn Tue, Nov 24, 2026 at 9:00 AM SIA wrote:\n\n> Which providers?\n", letter: "B"},
		{text: "B\n\n-- \nAna", letter: "B"},
		{text: "D"},
		{text: "A or B?"},
		{text: "a and c"},
		{text: "A provider that we host ourselves", rest: "A provider that we host ourselves"},
		{text: "Use OpenID Connect", rest: "Use OpenID Connect"},
		{text: "Because it depends", rest: "Because it depends"},
		{text: "Doesn't matter", rest: "Doesn't matter"},
		{text: "42", rest: "42"},
		{text: "", not: true},
		{text: " \n\u200b ", not: true},
		{text: "...", not: true},
		{text: "<!-- B -->", not: true},
		{text: "> B", not: true},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got, ok := escalate.ParseAnswer(tt.text, sia.Escalation{Kind: sia.AskQuestion, Options: providers()})
			if ok == tt.not {
				t.Fatalf("said something: %v", ok)
			}
			if d := cmp.Diff(sia.AnswerGiven{Letter: tt.letter, Text: tt.rest}, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestIsTalk(t *testing.T) {
	for said, want := range map[string]bool{
		"@ana, have a look": true, "Hi @ana, have a look": true, "What does A mean?": true, "Hm. Really? 🤔": true,
		"**Why?**\n\nI would not.": true, "    /sia answer A": true, "```\n/sia answer A\n```": true, "どうしますか？": true,
		"Use OpenID Connect": false, "Why not. Use it!": false, "Is it? Use it.": false, "Hi there, use it": false,
		"Use it.\n\nOr what?": false, "Ask @ana": false, "> Which?\n\nThe old one": false, "": false, "👍": false,
	} {
		if got := escalate.IsTalk(said); got != want {
			t.Errorf("%q is talk: %v", said, got)
		}
	}
}

// A plain yes or no is an answer to SIA's own questions whether to stop, in any wording. It is not for options that a
// model wrote.
func TestParseYesOrNo(t *testing.T) {
	anyway := sia.Escalation{Kind: sia.AskAlready, Already: &sia.Already{}, Options: []sia.Option{
		{Letter: "A", Text: "Work on it anyway"}, {Letter: "B", Text: "Stop", Fastest: true}}}
	resolved := sia.Escalation{Kind: sia.AskAlready, Already: &sia.Already{Claimed: true}, Options: []sia.Option{
		{Letter: "A", Text: "It is still broken: work on it"}, {Letter: "B", Text: "It is resolved: stop"}}}
	edited := sia.Escalation{Kind: sia.AskEdited, Options: []sia.Option{{Letter: "A", Text: "Work on it as it reads now"},
		{Letter: "B", Text: "Leave it"}}}
	onErrors := sia.Escalation{Kind: sia.AskQuestion, Question: "Shall the import stop at an error?",
		Options: []sia.Option{{Letter: "A", Text: "Go on"}, {Letter: "B", Text: "Stop"}}}
	for _, c := range []struct {
		text, letter, rest string
		asked              sia.Escalation
	}{
		{"no", "B", "", anyway},
		{"No, leave it", "B", "leave it", anyway},
		{"nope.", "B", "", anyway},
		{"Don’t!", "B", "", anyway},
		{"stop it please", "B", "it please", anyway},
		{"B stop it", "B", "stop it", anyway},
		{"B leave it", "", "", anyway},
		{"B leave it", "", "B leave it", onErrors},
		{"Yes", "A", "", anyway},
		{"yes, behind a flag", "A", "behind a flag", anyway},
		{"No problem, go ahead", "", "No problem, go ahead", anyway},
		{"Not before noon", "", "Not before noon", anyway},
		{"Nobody else does", "", "Nobody else does", anyway},
		{"no", "A", "", resolved},
		{"yes it is", "B", "it is", resolved},
		{"no", "B", "", edited},
		{"Yes, do", "A", "do", edited},
		{"No, three", "", "No, three", sia.Escalation{Kind: sia.AskIssue, Options: providers()}},
		{"No, skip the line", "", "No, skip the line", onErrors},
		{"stop", "B", "", onErrors},
	} {
		got, ok := escalate.ParseAnswer(c.text, c.asked)
		if d := cmp.Diff(sia.AnswerGiven{Letter: c.letter, Text: c.rest}, got); d != "" || !ok {
			t.Errorf("%q: %v\n%s", c.text, ok, d)
		}
	}
}

func FuzzParseAnswer(f *testing.F) {
	for _, s := range []string{"B, but …", "option a", "<!-- <!-- x --> B", "> q\nA", "A/B", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := escalate.ParseAnswer(text, sia.Escalation{Options: providers()})
		if !ok && got != (sia.AnswerGiven{}) {
			t.Fatalf("%v, %+v", ok, got)
		}
		if got.Letter != "" && !slices.Contains([]string{"A", "B", "C"}, got.Letter) {
			t.Fatalf("letter %q", got.Letter)
		}
		if len(got.Text) > 4000 {
			t.Fatalf("%d bytes", len(got.Text))
		}
	})
}

func FuzzParseBoxes(f *testing.F) {
	f.Add("- [x] **A** — one\n```\n- [x] **B**\n```")
	f.Add("<!-- - [x] **A** — one")
	f.Fuzz(func(t *testing.T, body string) {
		got := escalate.ParseBoxes(body)
		if len(got) > 4 {
			t.Fatalf("%v", got)
		}
		for i, l := range got {
			if !slices.Contains([]string{"A", "B", "C", "D"}, l) || slices.Contains(got[:i], l) {
				t.Fatalf("%v", got)
			}
		}
		// A ticked box after a closed block is parsed.
		if !strings.Contains(body, "```") && !strings.Contains(body, "~~~") && !strings.Contains(body, "<!--") {
			if again := escalate.ParseBoxes(body + "\n\n" +
				escalate.Box(sia.Option{Letter: "D", Text: "four"}, true)); !slices.Contains(again, "D") {
				t.Fatalf("%v", again)
			}
		}
	})
}
