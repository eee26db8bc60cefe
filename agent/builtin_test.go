package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/scripted"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// transcript is a recorder that keeps the turns as the store does: a turn replaces those with its number or a higher
// one.
type transcript struct {
	turns []agent.Turn
	after func(agent.Turn) error // called after each completed turn; may be nil
	midst func(agent.Turn) error // called before a turn's calls are carried out; may be nil
}

func (t *transcript) Turn(ctx context.Context, turn agent.Turn) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.turns = slices.DeleteFunc(t.turns, func(old agent.Turn) bool { return old.Number >= turn.Number })
	t.turns = append(t.turns, turn)
	if slices.ContainsFunc(turn.Calls, func(c agent.Call) bool { return c.Result == "" }) {
		if t.midst != nil {
			return t.midst(turn)
		}
		return nil
	}
	if t.after != nil {
		return t.after(turn)
	}
	return nil
}

func (t *transcript) notes() string {
	var s []string
	for _, turn := range t.turns {
		if turn.Note != "" {
			s = append(s, turn.Note)
		}
	}
	return strings.Join(s, "\n")
}

// bench is an agent, its scripted model and a directory.
type bench struct {
	t     *testing.T
	agent *agent.BuiltinAgent
	model *scripted.Server
	rec   *transcript
	in    agent.Input
	now   time.Time
	slept []time.Duration
}

func newBench(t *testing.T, script scripted.Script, change ...func(*llm.Config)) *bench {
	t.Helper()
	srv, err := scripted.Start(script, scripted.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	b := &bench{t: t, model: srv, rec: &transcript{}, now: epoch}
	cfg := llm.Config{Model: "coder", BaseURL: srv.URL, Now: func() time.Time { return b.now },
		HTTPClient: &http.Client{Transport: &http.Transport{}},
		Sleep: func(_ context.Context, d time.Duration) error {
			b.slept = append(b.slept, d)
			return nil
		}}
	for _, f := range change {
		f(&cfg)
	}
	client, err := llm.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.agent, err = agent.NewBuiltin(agent.BuiltinConfig{Model: client, Now: cfg.Now, Logger: noLog})
	if err != nil {
		t.Fatal(err)
	}
	b.in = agent.Input{Title: "Add a greeting", Body: "Say hello.", AskedBy: "ada", Repo: "acme/app", Issue: 7, Attempt: 1,
		Dir: t.TempDir(), CanAsk: true}
	b.write("main.go", "package main\n\nfunc main() {}\n")
	return b
}

func (b *bench) write(p, text string) {
	b.t.Helper()
	full := filepath.Join(b.in.Dir, p)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) run() agent.Result {
	b.t.Helper()
	res, err := b.agent.Run(b.t.Context(), b.in, b.rec)
	if err != nil {
		b.t.Fatal(err)
	}
	return res
}

// prompt returns the first message to the model.
func (b *bench) prompt() string {
	b.t.Helper()
	q := b.model.Requests()
	if len(q) == 0 {
		b.t.Fatal("the model was not asked")
	}
	return q[0].User()
}

func turns(answers ...scripted.Answer) scripted.Script {
	return scripted.Script{Rules: []scripted.Rule{{Name: "all", Turns: answers, Repeat: true}}}
}

func calls(calls ...scripted.Call) scripted.Answer { return scripted.Answer{Calls: calls} }

type args = map[string]any

var done = calls(scripted.Call{Name: "finish", Args: args{"summary": "Done."}})

func TestAttempt(t *testing.T) {
	b := newBench(t, turns(
		scripted.Answer{Text: "I look first.",
			Calls: []scripted.Call{{Name: "list", Args: args{}}, {Name: "read", Args: args{"path": "main.go"}}}},
		calls(scripted.Call{Name: "edit",
			Args: args{"path": "main.go", "old": "func main() {}", "new": "func main() { println(\"hello\") }"}},
			scripted.Call{Name: "write", Args: args{"path": "NOTES", "content": "hi\n"}}),
		calls(scripted.Call{Name: "finish", Args: args{"summary": "Prints hello."}},
			scripted.Call{Name: "delete", Args: args{"path": "main.go"}}),
	), func(c *llm.Config) { c.Price = llm.Price{Input: 1, Output: 10} })
	b.in.Limits.Credits = 100 * sia.Credit
	res := b.run()
	if res.End != sia.EndFinished || res.Summary != "Prints hello." || res.Turns != 3 || res.Reason != "" {
		t.Errorf("result: %+v", res)
	}
	if text, err := os.ReadFile(filepath.Join(b.in.Dir, "main.go")); err != nil ||
		!strings.Contains(string(text), "hello") {
		t.Errorf("main.go: %q, %v", text, err)
	}
	var cost sia.Credits
	for i, turn := range b.rec.turns {
		cost += turn.Cost
		if turn.Number != i {
			t.Errorf("turn %d has number %d", i, turn.Number)
		}
	}
	if cost == 0 || cost != res.Cost {
		t.Errorf("turns cost %d, the attempt %d", cost, res.Cost)
	}
	if d := cmp.Diff([]agent.TurnKind{"brief", "model", "model", "model", "end"}, kinds(b.rec.turns)); d != "" {
		t.Error(d)
	}
	last := b.rec.turns[3].Calls
	if len(last) != 2 || !last[1].IsError || !strings.Contains(last[1].Result, "not carried out") {
		t.Errorf("a call after finish: %+v", last)
	}
	if b.agent.Name() != "builtin/coder" {
		t.Errorf("name %q", b.agent.Name())
	}
}

func kinds(turns []agent.Turn) (k []agent.TurnKind) {
	for _, t := range turns {
		k = append(k, t.Kind)
	}
	return k
}

// The first finish without a ledger is answered once with a request for one, unless the attempt is about to end.
func TestFinishWithoutALedger(t *testing.T) {
	without := calls(scripted.Call{Name: "finish", Args: `{"summary":"Without."}`})
	for name, c := range map[string]struct {
		answers []scripted.Answer
		limit   int // turns
		turns   int
		summary string
	}{
		"given when asked": {[]scripted.Answer{without, done}, 0, 2, "Done."},
		"never given":      {[]scripted.Answer{without, without}, 0, 2, "Without."},
		"an empty one":     {[]scripted.Answer{done}, 0, 1, "Done."},
		"few turns are left": {[]scripted.Answer{writeFile("a", "a"), writeFile("b", "b"), writeFile("c", "c"), without}, 5,
			4, "Without."},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, turns(c.answers...))
			b.in.Limits.Turns = c.limit
			if res := b.run(); res.End != sia.EndFinished || res.Turns != c.turns || res.Summary != c.summary {
				t.Errorf("%+v", res)
			}
			q := b.model.Requests()
			if c.limit == 0 && len(q) == 2 && !strings.Contains(q[1].Last(), "`finish` takes a `ledger`, too") {
				t.Errorf("told: %s", q[1].Last())
			}
		})
	}
}

// The agent gets the reason why its change would be refused at the push, once, at its first finish.
func TestFinishWithAChangeThatCantBePushed(t *testing.T) {
	for name, c := range map[string]struct {
		refusals []string // one a call; "unknown": an error
		turns    int
	}{
		"nothing is refused": {[]string{""}, 2},
		"taken back":         {[]string{"it adds a secret in <b>"}, 3},
		"unknown":            {[]string{"unknown"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, turns(writeFile("greet.go", "package main\n"), done, done))
			asked := 0
			b.in.PushRefusal = func(context.Context) (string, error) {
				asked++
				if why := c.refusals[asked-1]; why != "unknown" {
					return why, nil
				}
				return "", errors.New("the disk is full")
			}
			if res := b.run(); res.End != sia.EndFinished || res.Turns != c.turns || asked != 1 {
				t.Errorf("asked %d times: %+v", asked, res)
			}
			q := b.model.Requests()
			told := strings.Contains(q[len(q)-1].Last(),
				"Nothing is pushed yet. With the change as it is, the attempt fails: it adds a secret")
			unknown := strings.Contains(b.rec.notes(), "is not known: the disk is full")
			if told != (c.turns == 3) || unknown != (name == "unknown") {
				t.Errorf("told %v: %s\n%s", told, q[len(q)-1].Last(), b.rec.notes())
			}
		})
	}
}

func TestTextWithoutCallsIsNudgedOnce(t *testing.T) {
	b := newBench(t, turns(scripted.Answer{Text: "I think it is fine."}))
	res := b.run()
	if res.End != sia.EndFinished || res.Summary != "I think it is fine." || res.Turns != 2 {
		t.Errorf("result: %+v", res)
	}
	if q := b.model.Requests(); len(q) != 2 || !strings.Contains(q[1].Last(), "called no tool") {
		t.Errorf("%d requests, last message %q", len(q), q[len(q)-1].Last())
	}
}

func TestAsking(t *testing.T) {
	question := scripted.Call{Name: "ask",
		Args: args{"question": "Which?", "why": "Unsaid.", "options": []string{"One", "Two"}}}
	b := newBench(t, turns(calls(question)))
	res := b.run()
	if d := cmp.Diff(&sia.Ask{Question: "Which?", Why: "Unsaid.", Options: []string{"One", "Two"}}, res.Ask); d != "" ||
		res.End != sia.EndAsked {
		t.Errorf("%s: %s", res.End, d)
	}

	b = newBench(t, turns(calls(scripted.Call{Name: "write", Args: args{"path": "a", "content": ""}}, question), done))
	if res := b.run(); res.End != sia.EndFinished || res.Ask != nil {
		t.Errorf("asked after a change: %+v", res)
	}

	b = newBench(t, turns(done))
	b.in.CanAsk = false
	b.run()
	if names := b.model.Requests()[0].ToolNames(); slices.Contains(names, "ask") {
		t.Errorf("tools: %v", names)
	}
}

func TestMalformedCallsAreAnswered(t *testing.T) {
	b := newBench(t, turns(
		calls(scripted.Call{Name: "run", Args: args{"command": "ls"}}),
		calls(scripted.Call{Name: "read", Args: "{not json"}),
		scripted.Answer{Finish: "length", Calls: []scripted.Call{{Name: "write", Args: `{"path":"a","content":"xxx`}}},
		done))
	if res := b.run(); res.End != sia.EndFinished || res.Turns != 4 {
		t.Fatalf("result: %+v", res)
	}
	for i, want := range []string{`no tool "run"`, "not valid JSON", "cut at the output limit"} {
		if c := b.rec.turns[i+1].Calls[0]; !c.IsError || !strings.Contains(c.Result, want) {
			t.Errorf("answer %d: %+v, want %q", i+1, c, want)
		}
	}
}

func TestLimits(t *testing.T) {
	look := func(n int) scripted.Answer {
		return calls(scripted.Call{Name: "write",
			Args: args{"path": fmt.Sprintf("f%d", n), "content": strings.Repeat("word ", 400)}})
	}
	var many []scripted.Answer
	for n := range 40 {
		many = append(many, look(n))
	}
	tests := []struct {
		name    string
		limit   agent.Limits
		price   llm.Price
		end     sia.AttemptEnd
		turns   int
		message string
	}{
		{"turns", agent.Limits{Turns: 10}, llm.Price{}, sia.EndTurns, 10, "Only 2 turns are left"},
		{"time", agent.Limits{Time: 10 * time.Minute}, llm.Price{}, sia.EndTime, 10, "Only 2m0s are left"},
		{"no credits at all", agent.Limits{}, llm.Price{Input: 1, Output: 5}, sia.EndCredits, 0, ""},
		{"credits", agent.Limits{Credits: 6 * sia.Credit}, llm.Price{Input: 1, Output: 5}, sia.EndCredits, -1,
			"credits are left"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, turns(many...), func(c *llm.Config) { c.Price = tt.price })
			b.in.Limits = tt.limit
			b.rec.after = func(turn agent.Turn) error {
				if turn.Kind == agent.TurnModel {
					b.now = b.now.Add(time.Minute)
				}
				return nil
			}
			res := b.run()
			if res.End != tt.end || res.Reason == "" || tt.turns >= 0 && res.Turns != tt.turns {
				t.Errorf("result: %+v", res)
			}
			if tt.limit.Credits > 0 && (res.Cost > tt.limit.Credits || res.Cost < tt.limit.Credits/2 || res.Turns < 3) {
				t.Errorf("cost %s of %s in %d turns", res.Cost, tt.limit.Credits, res.Turns)
			}
			if !strings.Contains(b.rec.notes(), tt.message) {
				t.Errorf("notes %q, want %q", b.rec.notes(), tt.message)
			}
			least := 1 << 30
			for _, q := range b.model.Requests() {
				least = min(least, q.MaxTokens)
			}
			if tt.limit.Credits > 0 && (least >= llm.DefaultMaxOutput || least < 512) {
				t.Errorf("the output limit never shrank, or too far: %d", least)
			}
		})
	}
}

func TestStuckIsInterrupted(t *testing.T) {
	read := scripted.Call{Name: "read", Args: args{"path": "main.go"}}
	list := scripted.Call{Name: "list", Args: args{}}
	tests := []struct {
		name    string
		script  scripted.Script
		turns   int
		evident string
	}{
		{"same result", turns(calls(read)), 4, "gave the same result 4 times"},
		{"same error", turns(calls(scripted.Call{Name: "read", Args: args{"path": "nope"}})), 3, "error 3 times in a row"},
		{"alternating", turns(calls(read), calls(list), calls(read), calls(list), calls(read), calls(list)), 6, "took turns"},
		{"all in one answer", turns(calls(read, read, read, read, read)), 1, "4 times"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.script)
			res := b.run()
			if res.End != sia.EndStuck || res.Turns != tt.turns || len(res.Signals) != 1 ||
				res.Signals[0].Name != sia.AboutToStick || !strings.Contains(res.Signals[0].Evidence, tt.evident) {
				t.Errorf("result: %+v", res)
			}
		})
	}
	// Many reads before the first change don't end an attempt. The agent is reminded, and the hazard decides.
	t.Run("no new change", func(t *testing.T) {
		var script []scripted.Answer
		for n := range 40 {
			script = append(script, calls(scripted.Call{Name: "search", Args: args{"pattern": fmt.Sprintf("x%d", n)}}))
		}
		b := newBench(t, turns(append(script, done)...))
		b.in.Hazard = shippedHazard(1)
		if res := b.run(); res.End != sia.EndFinished || !strings.Contains(b.rec.notes(), "told that nothing changes") ||
			res.Risk == nil || res.Risk.Idle != 1 {
			t.Errorf("result: %+v", res)
		}
	})
}

func TestCancelReturnsWhatWasDone(t *testing.T) {
	b := newBench(t, turns(
		calls(scripted.Call{Name: "write", Args: args{"path": "half.txt", "content": "half\n"}}),
		scripted.Answer{Text: "never said", Delay: time.Hour}))
	ctx, cancel := context.WithCancelCause(t.Context())
	b.rec.after = func(turn agent.Turn) error {
		if turn.Number == 1 && turn.Kind == agent.TurnModel {
			cancel(errors.New("/sia stop by @ada"))
		}
		return nil
	}
	res, err := b.agent.Run(ctx, b.in, b.rec)
	if err != nil || res.End != sia.EndCancelled || res.Reason != "/sia stop by @ada" || res.Turns != 1 {
		t.Errorf("got %+v, %v", res, err)
	}
	if _, err := os.Stat(filepath.Join(b.in.Dir, "half.txt")); err != nil {
		t.Error(err)
	}
	if k := kinds(b.rec.turns); k[len(k)-1] != agent.TurnEnd {
		t.Errorf("turns: %v", k)
	}
}

func TestCancelInTheMidstOfACall(t *testing.T) {
	b := newBench(t, turns(scripted.Answer{Text: "never said", Delay: time.Hour}))
	ctx, cancel := context.WithCancelCause(t.Context())
	go cancel(nil)
	if res, err := b.agent.Run(ctx, b.in, b.rec); err != nil || res.End != sia.EndCancelled {
		t.Errorf("got %+v, %v", res, err)
	}
	b.in.Limits.Time = 30 * time.Millisecond // on the real clock: the model never answers
	if res, err := b.agent.Run(t.Context(), b.in, b.rec); err != nil || res.End != sia.EndTime {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestFaultsOfTheModel(t *testing.T) {
	with := func(f *scripted.Fault) scripted.Script {
		a := done
		a.Fault = f
		return turns(a)
	}
	for _, tt := range []struct {
		name      string
		fault     *scripted.Fault
		ok        bool
		permanent bool
		wait      time.Duration
		says      string
	}{
		{"rate limit passes", &scripted.Fault{Status: 429, Times: 2, Header: map[string]string{"Retry-After": "3"}}, true,
			false, 0, ""},
		{"reset passes", &scripted.Fault{Reset: true, Times: 1}, true, false, 0, ""},
		{"malformed passes", &scripted.Fault{Status: 200, Body: "{", Times: 1}, true, false, 0, ""},
		{"down", &scripted.Fault{Status: 500}, false, false, 0, "its endpoint has trouble, HTTP 500"},
		{"rate limit stays", &scripted.Fault{Status: 429, Header: map[string]string{"Retry-After": "600"}}, false, false,
			10 * time.Minute, "it is asked too often, HTTP 429"},
		{"wrong key", &scripted.Fault{Status: 401}, false, true, 0, "Check the API key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, with(tt.fault))
			res, err := b.agent.Run(t.Context(), b.in, b.rec)
			if tt.ok {
				if err != nil || res.End != sia.EndFinished || len(b.slept) == 0 {
					t.Errorf("got %+v, %v after %v", res, err, b.slept)
				}
				return
			}
			var e *sia.Error
			if !errors.As(err, &e) || sia.IsPermanent(err) != tt.permanent || sia.RetryAfter(err) != tt.wait ||
				!strings.Contains(e.Message, tt.says) {
				t.Errorf("error: %v", err)
			}
			if res.End != sia.EndError || res.Reason == "" {
				t.Errorf("result: %+v", res)
			}
		})
	}
}

//test:race
func TestLongConversationIsShortened(t *testing.T) {
	var script []scripted.Answer
	for n := range 12 {
		script = append(script, calls(scripted.Call{Name: "read", Args: args{"path": fmt.Sprintf("big%d.txt", n)}}))
	}
	b := newBench(t, turns(append(script, done)...), func(c *llm.Config) { c.Window, c.MaxOutput = 16_000, 1_000 })
	for n := range 12 {
		b.write(fmt.Sprintf("big%d.txt", n), strings.Repeat("some words on a line\n", 390))
	}
	if res := b.run(); res.End != sia.EndFinished {
		t.Fatalf("result: %+v", res)
	}
	if !strings.Contains(b.rec.notes(), "left out of the conversation") {
		t.Errorf("notes: %s", b.rec.notes())
	}
	for i, q := range b.model.Requests() {
		if q.Turn() != i {
			t.Errorf("request %d has %d assistant messages: none may be removed", i, q.Turn())
		}
	}
}

func TestContextLengthRefusedByTheEndpoint(t *testing.T) {
	big := calls(scripted.Call{Name: "read", Args: args{"path": "big.txt"}})
	finish := done
	finish.Fault = &scripted.Fault{Status: 400, Code: "context_length_exceeded", Times: 1}
	b := newBench(t, turns(big, calls(scripted.Call{Name: "list", Args: args{}}),
		calls(scripted.Call{Name: "search", Args: args{"pattern": "a"}}),
		calls(scripted.Call{Name: "search", Args: args{"pattern": "b"}}), finish))
	b.write("big.txt", strings.Repeat("some words on a line\n", 390))
	if res := b.run(); res.End != sia.EndFinished {
		t.Errorf("result: %+v", res)
	}

	finish.Fault = &scripted.Fault{Status: 400, Code: "context_length_exceeded"}
	b = newBench(t, turns(finish))
	if res := b.run(); res.End != sia.EndError || !strings.Contains(res.Reason, "window") {
		t.Errorf("result: %+v", res)
	}
}

func TestRecorderErrorEndsTheAttempt(t *testing.T) {
	b := newBench(t, turns(done))
	full := errors.New("disk full")
	b.rec.after = func(agent.Turn) error { return full }
	if res, err := b.agent.Run(t.Context(), b.in, b.rec); !errors.Is(err, full) || res.End != sia.EndError {
		t.Errorf("got %+v, %v", res, err)
	}
}

// An attempt ends when its tree was discarded, by any tool.
func TestDiscardedTreeEndsTheAttempt(t *testing.T) {
	b := newBench(t, turns(calls(scripted.Call{Name: "lose", Args: args{}}, scripted.Call{Name: "finish",
		Args: args{"summary": "Done."}})))
	client, err := llm.New(llm.Config{Model: "coder", BaseURL: b.model.URL})
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.NewBuiltin(agent.BuiltinConfig{Model: client, Tools: []tool.Tool{loses}, Now: time.Now, Logger: noLog})
	if err != nil {
		t.Fatal(err)
	}
	res, err := a.Run(t.Context(), b.in, b.rec)
	if !errors.Is(err, sandbox.ErrDiscarded) || res.End != sia.EndError || res.Turns != 1 ||
		!strings.Contains(res.Reason, "discarded") {
		t.Errorf("got %+v, %v", res, err)
	}
	if n := len(b.model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

// loses is a tool that discards the work tree.
var loses = tool.Tool{Name: "lose", Description: "loses it", Schema: json.RawMessage(`{"type":"object"}`),
	Call: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		return tool.Result{}, fmt.Errorf("run: %w", sandbox.ErrDiscarded)
	}}

func TestSecretsStayOutOfTheTranscript(t *testing.T) {
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
	b := newBench(t, turns(
		scripted.Answer{Text: "The token is " + token, Calls: []scripted.Call{{Name: "read", Args: args{"path": ".env"}},
			{Name: "write", Args: args{"path": "x", "content": token}}}},
		calls(scripted.Call{Name: "finish", Args: args{"summary": "Used " + token}})))
	b.write(".env", "TOKEN="+token+"\n")
	res := b.run()
	text := agent.Markdown(b.rec.turns, agent.Header{Result: res}) + fmt.Sprint(b.rec.turns) + res.Summary
	if strings.Contains(text, token) || !strings.Contains(text, "[secret: github-pat]") {
		t.Errorf("transcript:\n%s", text)
	}
}

func TestNewBuiltinRefuses(t *testing.T) {
	if _, err := agent.NewBuiltin(agent.BuiltinConfig{}); err == nil {
		t.Error("no model was accepted")
	}
	m, err := llm.New(llm.Config{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agent.NewBuiltin(agent.BuiltinConfig{Model: m,
		Tools: []tool.Tool{tool.ReadTool(), tool.ReadTool()}}); err == nil {
		t.Error("two tools of one name were accepted")
	}
	b := newBench(t, turns(done))
	b.in.Dir = filepath.Join(b.in.Dir, "nowhere")
	if _, err := b.agent.Run(t.Context(), b.in, b.rec); err == nil {
		t.Error("a missing directory was accepted")
	}
}

// A model that fails is replaced during an attempt, and the transcript names the other one and the reason.
func TestFallbackToAnotherModel(t *testing.T) {
	b := newBench(t, turns(calls(scripted.Call{Name: "write", Args: args{"path": "a", "content": "x"}}), done))
	dead, err := scripted.Start(scripted.Script{Rules: []scripted.Rule{{Turns: []scripted.Answer{
		calls(scripted.Call{Name: "list", Args: args{}}),
		{Fault: &scripted.Fault{Status: 429, Code: "insufficient_quota"}},
	}, Repeat: true}}}, scripted.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dead.Close() })
	var clients []*llm.Client
	for _, m := range []struct {
		name, url string
		price     float64
	}{{"primary", dead.URL, 1}, {"backup", b.model.URL, 7}} {
		c, err := llm.New(llm.Config{Name: m.name, Model: m.name + "-model", BaseURL: m.url,
			Price: llm.Price{Input: m.price, Output: m.price}, Now: func() time.Time { return b.now }})
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, c)
	}
	chain, err := llm.NewChain(clients...)
	if err != nil {
		t.Fatal(err)
	}
	if b.agent, err = agent.NewBuiltin(agent.BuiltinConfig{Model: chain,
		Now: func() time.Time { return b.now }, Logger: noLog}); err != nil {
		t.Fatal(err)
	}
	b.in.Limits.Credits = 1000 * sia.Credit
	res := b.run()
	if res.End != sia.EndFinished || res.Agent != "builtin/primary-model+backup-model" ||
		b.agent.Name() != "builtin/primary-model" {
		t.Errorf("result: %+v of %s", res, b.agent.Name())
	}
	var models, notes []string
	var usd float64
	for _, turn := range b.rec.turns {
		if turn.Kind != agent.TurnModel {
			continue
		}
		models, notes = append(models, turn.Model), append(notes, turn.Note)
		price := map[string]float64{"primary-model": 1, "backup-model": 7}[turn.Model]
		usd += price * float64(turn.Usage.Input+turn.Usage.Output) / 1e6
	}
	if d := cmp.Diff([]string{"primary-model", "backup-model"}, models); d != "" {
		t.Error(d)
	}
	if notes[0] != "" || notes[1] != "answered by the model backup, because others could not be asked (primary: quota)" {
		t.Errorf("notes: %q", notes)
	}
	if got := res.Usage.USD; got < usd-1e-12 || got > usd+1e-12 {
		t.Errorf("cost %v USD, want %v: each turn at the price of the model that answered", got, usd)
	}
}

// An endpoint that accepts calls and breaks them off is paid for the prompts, so that retries end at the budget.
func TestOutageEndsAtTheBudget(t *testing.T) {
	broken := done
	broken.Fault = &scripted.Fault{Reset: true, After: 1}
	b := newBench(t, turns(broken), func(c *llm.Config) { c.Price = llm.Price{Input: 10, Output: 10} })
	b.in.Limits.Credits = 50 * sia.Credit
	for runs := 1; ; runs++ {
		res, err := b.agent.Run(t.Context(), b.in, b.rec)
		if res.End == sia.EndCredits {
			if res.Cost < 40*sia.Credit || res.Usage.Input == 0 || res.Turns != 0 {
				t.Errorf("after %d runs: %+v", runs, res)
			}
			return
		}
		if !sia.IsOutage(err) || runs > 20 {
			t.Fatalf("run %d: %+v, %v", runs, res, err)
		}
		b.in.Saved = slices.Clone(b.rec.turns)
	}
}
