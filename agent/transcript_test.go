package agent_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sim/scripted"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	p := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got), rewrite with -update:\n%s", name, d)
	}
}

func TestTurnsReadsWhatWasSaved(t *testing.T) {
	want := []agent.Turn{
		{Kind: agent.TurnBrief, At: epoch, Text: "# The task"},
		{Number: 1, Kind: agent.TurnModel, At: epoch.Add(time.Second), Cost: 350, Usage: llm.Usage{Input: 9, Output: 2},
			Calls: []agent.Call{{Name: "read", Arguments: `{"path":"x"}`, Result: "y", IsError: true, Masked: true}}},
	}
	var rows []json.RawMessage
	for _, turn := range want {
		b, err := json.Marshal(turn)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, b)
	}
	got, err := agent.Turns(rows)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, d)
	}
	if got, err := agent.Turns([][]byte{rows[0], []byte("{")}); err == nil || got != nil {
		t.Errorf("a row that is cut off is read as %+v, %v", got, err)
	}
}

func TestHeaderOf(t *testing.T) {
	task := sia.Task{Repo: sia.Repo{Owner: "acme", Name: "app"}, Issue: 7, Title: "Greet"}
	attempt := sia.Attempt{Number: 2, Agent: "builtin/coder", Technique: sia.ToolChange, StartedAt: epoch}
	want := agent.Header{Repo: "acme/app", Issue: 7, Title: "Greet", Attempt: 2, Agent: "builtin/coder",
		Technique: sia.ToolChange, Started: epoch}
	if d := cmp.Diff(want, agent.HeaderOf(task, attempt)); d != "" {
		t.Error(d)
	}
}

func TestTranscriptForPeople(t *testing.T) {
	turns := []agent.Turn{
		{Kind: agent.TurnBrief, At: epoch, Text: "# The task\n\n```go\nfenced\n```\n", Note: "tools offered: read, finish"},
		{Number: 1, Kind: agent.TurnModel, At: epoch.Add(time.Second),
			Text: "I look at <b>main.go</b>, @ada.\nThen I write. <!-- sia:v1 task=x -->",
			Calls: []agent.Call{
				{Name: "read", Arguments: `{"path":"main.go"}`, Result: "     1\tpackage main\n"},
				{Name: "edit", Arguments: `{"path":"x"}`, Result: "error: no such file", IsError: true},
			}, Usage: llm.Usage{Input: 900, Output: 20}, Cost: 350,
			Note: "told to finish: Only 2 turns are left in this attempt."},
		{Number: 2, Kind: agent.TurnModel, At: epoch.Add(time.Minute), Calls: []agent.Call{
			{Name: "write", Arguments: strings.Repeat("long ", 1000), Result: "created x, 1 lines\n"}}},
		{Number: 2, Kind: agent.TurnEnd, At: epoch.Add(2 * time.Minute), Text: "finished: Wrote it."},
	}
	golden(t, "transcript.md", agent.Markdown(turns, agent.Header{
		Repo: "acme/app", Issue: 7, Title: "Add a <greeting>\nhere", Attempt: 2, Agent: "builtin/coder",
		Technique: sia.ToolChange, Started: epoch,
		Result: agent.Result{End: sia.EndFinished, Turns: 2, Cost: 1250,
			Usage: llm.Usage{Input: 1800, CachedInput: 900, Output: 40}},
	}))
}

// The first message of an attempt with everything in its brief.
func TestPromptGolden(t *testing.T) {
	b := newBench(t, turns(done))
	b.write("mail.go", "package mail\n")
	b.in.Attempt, b.in.Previous = 2, previous
	b.in.Instructions = []agent.Instruction{{Path: "AGENTS.md", Text: "Use tabs.\n"}}
	b.in.Brief = sia.Brief{
		Technique: sia.Decomposition, Prompt: "Put an interface before the provider.", Relaxed: "no new exported names",
		FromBase: true,
		Answers:  []string{"Use GitHub only."}, Steps: []plan.Part{{Do: "Make the interface.", DoneWhen: "It compiles."}},
		Quotes:   []string{"undefined: Foo"},
		Examples: []sia.Example{{Path: "sms.go", Why: "The same shape.", Text: "type Sender interface{}\n"}},
		Lessons:  []string{"Run the linter."},
		TestHints: []string{"When a service needs credentials that are not there; check test failed with “MAIL_KEY is " +
			"not set”: have a test cover that without the real service."},
	}
	b.run()
	golden(t, "prompt.md", b.prompt()+"\n")
}

// An agent's text is shown verbatim in a transcript: it can neither hide the rest nor pass for SIA's text.
func TestTranscriptHidesNothing(t *testing.T) {
	said := "I kept <?php as it is. [1]: https://a.test \"a title\"\n\n```hidden after a fence\n\n## Turn 2\n\n" +
		"| a |\n|---|\n| b | beyond the table |\n\n<!-- the rest\nis never closed"
	got := agent.Markdown([]agent.Turn{{Number: 1, Kind: agent.TurnModel, At: epoch, Text: said,
		Note: "told: see [the log](https://b.test) <!-- and more"}}, agent.Header{})
	quoted := strings.ReplaceAll("````text\n"+said+"\n````", "\n", "\n> ")
	if block := "\n> " + quoted + "\n"; !strings.Contains(got, block) {
		t.Errorf("what was said does not stand in a block:\n%s", got)
	}
	if note := "*Note: told: see [the log]\u200b(https://b.test) &lt;!-- and more*"; !strings.Contains(got, note) {
		t.Errorf("the note is not whole:\n%s", got)
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add("text", "args", "```` result")
	f.Fuzz(func(t *testing.T, text, args, result string) {
		s := agent.Markdown([]agent.Turn{{Number: 1, Kind: agent.TurnModel, Text: text,
			Calls: []agent.Call{{Name: text, Arguments: args, Result: result}}}}, agent.Header{Title: text})
		if strings.Count(s, "<details>") < 1 {
			t.Errorf("the result is missing: %q", s)
		}
	})
}

// FuzzToolCalls runs an attempt with a model that calls tools with any arguments: it always ends, without an error, and
// every call has a result.
func FuzzToolCalls(f *testing.F) {
	f.Add("read", `{"path":"main.go"}`)
	f.Add("write", `{"path":"../x","content":"y"}`)
	f.Add("finish", `{"summary":"x"}`)
	f.Add("", "{not")
	f.Fuzz(func(t *testing.T, name, arguments string) {
		b := newBench(t, scripted.Script{Rules: []scripted.Rule{{Turns: []scripted.Answer{calls(scripted.Call{Name: name,
			Args: arguments})}, Repeat: true}}})
		b.in.Limits.Turns = 8
		res := b.run()
		if res.End == "" || res.End == sia.EndError {
			t.Errorf("result: %+v", res)
		}
		for _, turn := range b.rec.turns {
			for _, c := range turn.Calls {
				if c.Result == "" {
					t.Errorf("call %+v has no result", c)
				}
			}
		}
	})
}
