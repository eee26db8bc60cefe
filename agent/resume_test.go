package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/scripted"
)

// errDied ends an attempt like the end of its process.
var errDied = errors.New("the process died")

// mixedAttempt is an attempt with all kinds of answers: edits, an error, a text, malformed calls, several calls at
// once.
func mixedAttempt() scripted.Script {
	usage := &scripted.Usage{Input: 1000, Cached: 200, Output: 50}
	answers := []scripted.Answer{
		calls(scripted.Call{Name: "read", Args: args{"path": "main.go"}}, scripted.Call{Name: "list", Args: args{}}),
		calls(scripted.Call{Name: "write", Args: args{"path": "greet.go", "content": "package main\n\nfunc greet() {}\n"}}),
		{Text: "I think that is all."},
		calls(scripted.Call{Name: "edit", Args: args{"path": "nope.go", "old": "a", "new": "b"}}),
		calls(scripted.Call{Name: "edit",
			Args: args{"path": "main.go", "old": "func main() {}", "new": "func main() { greet() }"}},
			scripted.Call{Name: "search", Args: args{"pattern": "greet"}}),
		calls(scripted.Call{Name: "write", Args: "{not json"}),
		calls(scripted.Call{Name: "finish", Args: args{"summary": "It greets."}}),
	}
	for i := range answers {
		answers[i].Usage = usage
	}
	return turns(answers...)
}

func mixedBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, mixedAttempt(), func(c *llm.Config) { c.Price = llm.Price{Input: 1, CachedInput: 0.1, Output: 10} })
	b.in.Limits.Credits = 100 * sia.Credit
	b.in.Brief.ToolLessons = []sia.ToolLesson{
		{Tool: "read", ID: "aaaaaaaaaaaa", Text: "Read less."}, {Tool: "edit", ID: "bbbbbbbbbbbb", Withheld: true},
		{Tool: "edit", ID: "cccccccccccc", Text: "Read what you edit."},
	}
	return b
}

// runUntil runs the attempt until its process ends: after the numbered turn, or before its calls are carried out. It
// returns the saved turns.
func (b *bench) runUntil(number int, midst bool) []agent.Turn {
	b.t.Helper()
	var left []agent.Turn
	stop := func(turn agent.Turn) error {
		b.now = b.now.Add(time.Minute)
		if left == nil && turn.Number == number {
			text, err := json.Marshal(b.rec.turns)
			if err = errors.Join(err, json.Unmarshal(text, &left)); err != nil {
				b.t.Fatal(err)
			}
		}
		if left != nil {
			return errDied
		}
		return nil
	}
	b.rec.after = stop
	if midst {
		b.rec.midst = stop
		b.rec.after = nil
	}
	if _, err := b.agent.Run(b.t.Context(), b.in, b.rec); !errors.Is(err, errDied) {
		b.t.Fatalf("it ended otherwise: %v", err)
	}
	b.rec.turns, b.rec.after, b.rec.midst = slices.Clone(left), nil, nil
	return left
}

// An attempt that resumes after an outage, even one before its first answer, pays once for the calls that broke off.
// The outage does not use up its time.
func TestResumeAfterAnOutage(t *testing.T) {
	for struck := range 2 {
		script := func(fault *scripted.Fault) scripted.Script {
			usage := &scripted.Usage{Input: 1000, Output: 50}
			look := calls(scripted.Call{Name: "list", Args: args{}})
			finish := calls(scripted.Call{Name: "finish", Args: args{"summary": "It is fine."}})
			look.Usage, finish.Usage = usage, usage
			all := []scripted.Answer{look, look, look, finish}
			all[struck].Fault = fault
			return turns(all...)
		}
		b := newBench(t, script(&scripted.Fault{Status: 503, After: 2}),
			func(c *llm.Config) { c.Price = llm.Price{Input: 1, Output: 10} })
		b.in.Limits.Credits = 100 * sia.Credit
		first, err := b.agent.Run(t.Context(), b.in, b.rec)
		var known *sia.Error
		if !errors.As(err, &known) || known.Permanent || first.Turns != struck {
			t.Fatalf("%+v, %v", first, err)
		}
		b.now = b.now.Add(24 * time.Hour)
		if err := b.model.SetScript(script(nil)); err != nil {
			t.Fatal(err)
		}
		b.in.Saved = slices.Clone(b.rec.turns)
		b.in.Saved = b.runUntil(3, false)
		answer := b.rec.turns[len(b.rec.turns)-1].Cost
		got := b.run()
		want := first.Cost + sia.Credits(4-struck)*answer
		if got.End != sia.EndFinished || got.Turns != 4 || got.Cost != want || first.Cost <= sia.Credits(struck)*answer {
			t.Errorf("answer %d struck: %+v, want a cost of %s, after %s", struck+1, got, want, first.Cost)
		}
	}
}

// After a resume at any point, the attempt has the same result: no answer is requested or paid for twice, and the model
// gets the same messages.
func TestResume(t *testing.T) {
	whole := mixedBench(t)
	want := whole.run()
	if want.End != sia.EndFinished || want.Turns != 7 {
		t.Fatalf("undisturbed: %+v", want)
	}
	undisturbed := whole.model.Requests()
	for number := 1; number <= 7; number++ {
		for _, midst := range []bool{false, true} {
			for _, rebuild := range []bool{false, true} {
				if midst && number == 3 { // a text has no calls
					continue
				}
				t.Run(fmt.Sprintf("turn %d, midst %v, rebuild %v", number, midst, rebuild), func(t *testing.T) {
					b := mixedBench(t)
					b.in.Saved = b.runUntil(number, midst)
					if b.in.Rebuild = rebuild; rebuild {
						b.in.Dir = t.TempDir()
						b.write("main.go", "package main\n\nfunc main() {}\n")
					}
					asked := len(b.model.Requests())
					if asked != number {
						t.Fatalf("asked %d times before the process ended", asked)
					}
					got := b.run()
					if d := cmp.Diff(want, got); d != "" {
						t.Errorf("result (-undisturbed +resumed):\n%s", d)
					}
					again := b.model.Requests()
					if len(again) != len(undisturbed) {
						t.Fatalf("%d answers were asked for in all, want %d", len(again), len(undisturbed))
					}
					for i := range again {
						if d := cmp.Diff(undisturbed[i].Messages, again[i].Messages); d != "" {
							t.Errorf("request %d (-undisturbed +resumed):\n%s", i+1, d)
						}
					}
					for i, turn := range b.rec.turns {
						if turn.Number != i {
							t.Errorf("turn %d has number %d", i, turn.Number)
						}
					}
					if !strings.Contains(b.rec.notes(), "resumed: ") {
						t.Errorf("notes: %s", b.rec.notes())
					}
					for file, text := range map[string]string{"main.go": "greet() }", "greet.go": "func greet"} {
						if b, err := os.ReadFile(filepath.Join(b.in.Dir, file)); err != nil || !strings.Contains(string(b), text) {
							t.Errorf("%s: %q, %v", file, b, err)
						}
					}
				})
			}
		}
	}
}

// An attempt that was told to continue when it finished continues after a restart, and is not told twice.
func TestResumeAfterAnEndThatWasRefused(t *testing.T) {
	begin := func() *bench {
		return newBench(t, turns(writeFile("greet.go", "package main\n"), done,
			writeFile("mended.go", "package main\n"), done))
	}
	t.Run("tests fail", func(t *testing.T) {
		want := resumeAnywhere(t, func() *bench {
			b := begin()
			b.in.Affected = func(context.Context) (agent.TestsRun, error) {
				if _, err := os.Stat(filepath.Join(b.in.Dir, "mended.go")); err == nil {
					return agent.TestsRun{Ran: 3}, nil
				}
				return agent.TestsRun{Ran: 2, Failed: []string{"a::TestGreet"}}, nil
			}
			return b
		})
		if !want.Affected.Saved() {
			t.Errorf("undisturbed: %+v", want)
		}
	})
	t.Run("it can't be pushed", func(t *testing.T) {
		resumeAnywhere(t, func() *bench {
			b := begin()
			b.in.PushRefusal = func(context.Context) (string, error) { return "it adds a secret", nil }
			return b
		})
	})
}

// resumeAnywhere resumes an attempt of four turns in each place after the first, compares the results and requests with
// those of an undisturbed attempt, and returns the undisturbed result.
func resumeAnywhere(t *testing.T, refused func() *bench) agent.Result {
	t.Helper()
	whole := refused()
	want := whole.run()
	if want.Turns != 4 || want.End != sia.EndFinished {
		t.Fatalf("undisturbed: %+v", want)
	}
	for number := 2; number <= 4; number++ {
		for _, midst := range []bool{false, true} {
			b := refused()
			b.in.Saved = b.runUntil(number, midst)
			if d := cmp.Diff(want, b.run()); d != "" {
				t.Errorf("turn %d, midst %v: result (-undisturbed +resumed):\n%s", number, midst, d)
			}
			said := func(b *bench) (all [][]scripted.Message) {
				for _, q := range b.model.Requests() {
					all = append(all, q.Messages)
				}
				return all
			}
			if d := cmp.Diff(said(whole), said(b)); d != "" {
				t.Errorf("turn %d, midst %v: requests (-undisturbed +resumed):\n%s", number, midst, d)
			}
		}
	}
	return want
}

func TestResumedAttemptHasWhatIsLeft(t *testing.T) {
	b := mixedBench(t)
	b.in.Saved = b.runUntil(4, false)
	b.now = b.now.Add(5 * time.Hour) // idle time
	b.in.Limits.Time = 4*time.Minute + time.Second
	b.rec.after = func(agent.Turn) error {
		b.now = b.now.Add(time.Minute)
		return nil
	}
	if res := b.run(); res.End != sia.EndTime || res.Turns != 5 {
		t.Errorf("after 4 of 4 minutes: %+v", res)
	}

	b = mixedBench(t)
	b.in.Saved = b.runUntil(4, false)
	b.in.Limits.Turns = 4
	if res := b.run(); res.End != sia.EndTurns || res.Turns != 4 || len(b.model.Requests()) != 4 {
		t.Errorf("after 4 of 4 turns: %+v", res)
	}
}

// If the work tree was rebuilt, the changes that could not be repeated are reported.
func TestRebuildSaysWhatItCantDo(t *testing.T) {
	b := newBench(t, turns(done))
	b.in.Rebuild = true
	saved := func(number int, c ...agent.Call) agent.Turn {
		return agent.Turn{Number: number, Kind: agent.TurnModel, Calls: c}
	}
	b.in.Saved = []agent.Turn{
		{Kind: agent.TurnBrief, Text: "# The task"},
		saved(1, agent.Call{ID: "a", Name: "run", Arguments: `{"command":"go generate"}`, Result: "exit status 0",
			Changed: []string{"gen.go"}},
			agent.Call{ID: "b", Name: "write", Arguments: `{"path":"key.go","content":"[masked]"}`, Result: "created",
				Masked: true, Changed: []string{"key.go"}}),
		saved(2, agent.Call{ID: "c", Name: "edit", Arguments: `{"path":"gen.go","old":"x","new":"y"}`, Result: "edited",
			Changed: []string{"gen.go"}},
			agent.Call{ID: "d", Name: "write", Arguments: `{"path":"ok.go","content":"package main\n"}`, Result: "created",
				Changed: []string{"ok.go"}},
			agent.Call{ID: "e", Name: "delete", Arguments: `{"path":"main.go"}`, Result: "error: no", IsError: true}),
	}
	if res := b.run(); res.End != sia.EndFinished || res.Turns != 3 {
		t.Fatalf("result: %+v", res)
	}
	message := b.model.Requests()[0].Last()
	for _, want := range []string{"made anew", "answer 1, run go generate → exit status 0: it changed gen.go",
		"answer 1, write key.go: its text was masked", "answer 2, edit gen.go: "} {
		if !strings.Contains(message, want) {
			t.Errorf("%q is missing in:\n%s", want, message)
		}
	}
	for file, there := range map[string]bool{"ok.go": true, "main.go": true, "key.go": false} {
		if _, err := os.Stat(filepath.Join(b.in.Dir, file)); (err == nil) != there {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// A call with masked arguments is not carried out after a restart.
func TestMaskedCallIsNotCarriedOut(t *testing.T) {
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	b := newBench(t, turns(calls(scripted.Call{Name: "write", Args: args{"path": "key.txt", "content": secret}}), done))
	b.in.Saved = b.runUntil(1, true)
	if c := b.in.Saved[1].Calls[0]; !c.Masked || strings.Contains(c.Arguments, secret) {
		t.Fatalf("saved: %+v", c)
	}
	if res := b.run(); res.End != sia.EndFinished || res.Turns != 2 {
		t.Fatalf("result: %+v", res)
	}
	if c := b.rec.turns[1].Calls[0]; !c.IsError || !strings.Contains(c.Result, "make the call again") {
		t.Errorf("call: %+v", c)
	}
	if _, err := os.Stat(filepath.Join(b.in.Dir, "key.txt")); err == nil {
		t.Error("the masked text was written")
	}
}

// If the attempt had ended when its process did, it has the same end after a restart, without a request.
func TestResumeOfAnAttemptThatHadEnded(t *testing.T) {
	question := scripted.Call{Name: "ask",
		Args: args{"question": "Which?", "why": "Unsaid.", "options": []string{"One", "Two"}}}
	read := scripted.Call{Name: "read", Args: args{"path": "main.go"}}
	for name, script := range map[string]scripted.Script{
		"finished": turns(done), "asked": turns(calls(question)), "said twice": turns(scripted.Answer{Text: "It is fine."}),
		"stuck": turns(calls(read)),
	} {
		b := newBench(t, script)
		want := b.run()
		asked := len(b.model.Requests())
		b.in.Saved = b.rec.turns
		got := b.run()
		if d := cmp.Diff(want, got); d != "" || len(b.model.Requests()) != asked {
			t.Errorf("%s: asked %d more times; result (-first +resumed):\n%s", name, len(b.model.Requests())-asked, d)
		}
	}
}
