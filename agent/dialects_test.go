package agent_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/llm/flavour"
	"github.com/sia-bot/sia/sia"
)

// clientOf is a client for a server of a flavour.
func clientOf(t *testing.T, s *flavour.Server, change ...func(*llm.Config)) *llm.Client {
	t.Helper()
	cfg := llm.Config{Model: "coder", Name: s.Name, BaseURL: s.URL, Retries: -1,
		Price:      llm.Price{Input: 3, CachedInput: 0.3, CacheWrite: 3.75, Output: 15},
		HTTPClient: &http.Client{Transport: &http.Transport{}}}
	for _, f := range change {
		f(&cfg)
	}
	c, err := llm.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// attemptOn makes an attempt with a model in a folder of its own.
func attemptOn(t *testing.T, m agent.Model) (agent.Result, *transcript) {
	t.Helper()
	a, err := agent.NewBuiltin(agent.BuiltinConfig{Model: m, Now: func() time.Time { return epoch }})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, agent: a, rec: &transcript{}, now: epoch}
	b.in = agent.Input{Title: "Add a greeting", Body: "Say hello.", AskedBy: "ada", Repo: "acme/app", Issue: 7, Attempt: 1,
		Dir: t.TempDir(), Limits: agent.Limits{Turns: 60, Credits: 10_000 * sia.Credit}}
	b.write("main.go", "package main\n\nfunc main() {}\n")
	b.write("go.mod", "module x\n")
	return b.run(), b.rec
}

// working is an attempt of n answers that change something, and then end.
func working(n int) (list []flavour.Turn) {
	for i := range n - 1 {
		list = append(list, flavour.Turn{Text: fmt.Sprintf("Step %d.", i), Calls: []flavour.Call{{Name: "write",
			Arguments: fmt.Sprintf(`{"path":"f%d.go","content":"package x // %s"}`, i, strings.Repeat("word ", 60))}}})
	}
	return append(list, flavour.Turn{Calls: []flavour.Call{{Name: "finish", Arguments: `{"summary":"Done."}`}}})
}

// A long attempt comes to its end with each flavour of server, in its dialect. At least four
// fifths of what the model reads come from the endpoint's cache, and what SIA books is what
// the endpoint bills.
func TestLongAttemptInEachDialect(t *testing.T) {
	for i, f := range slices.Concat(flavour.Stateful(), flavour.Stateful()) {
		window, shortened := 40_000, false
		if i >= len(flavour.Stateful()) { // the conversation outgrows it, and is shortened
			window, shortened = 9_000, true
		}
		t.Run(fmt.Sprintf("%s, %d", f.Name, window), func(t *testing.T) {
			f.Turns = working(40)
			if shortened {
				n := 0 // the condensed conversation carries fewer answers than were given
				f.Next = func() flavour.Turn { n++; return working(40)[min(n, 40)-1] }
			}
			s := flavour.Start(f)
			t.Cleanup(s.Close)
			res, rec := attemptOn(t, clientOf(t, s, func(c *llm.Config) { c.Window, c.MaxOutput = window, 2_000 }))
			if res.End != sia.EndFinished || res.Turns != 40 {
				t.Fatalf("ended %s after %d turns: %s", res.End, res.Turns, res.Reason)
			}
			sum, each := s.Bill()
			usd := (float64(sum.Input-sum.Cached-sum.Written)*3 + float64(sum.Cached)*0.3 + float64(sum.Written)*3.75 +
				float64(sum.Output)*15) / 1e6
			if got := float64(res.Cost) / float64(sia.Credit) / 100; math.Abs(got-usd) >= 0.01 {
				t.Errorf("booked %.4f USD, billed %.4f USD", got, usd)
			}
			input, cached := 0, 0
			for _, b := range each[3:] {
				input, cached = input+b.Input, cached+b.Cached
			}
			if cached*100 < input*80 {
				t.Errorf("%d %% of the input after turn 3 were cached, want 80", cached*100/input)
			}
			notes := ""
			for _, turn := range rec.turns {
				notes += turn.Note
			}
			if strings.Contains(notes, "left out") != shortened && strings.Contains(notes, "condensed") != shortened {
				t.Errorf("shortened: want %v, notes %q", shortened, notes)
			}
			t.Logf("%d %% cached after turn 3, billed %.4f USD, largest prompt %d tokens", cached*100/input, usd,
				each[len(each)-1].Input)
			text := agent.Markdown(rec.turns, agent.Header{})
			for _, secret := range []string{"gAAAAA", "I think 1", "sig-1", "c2ln1"} {
				if strings.Contains(text, secret) {
					t.Errorf("the transcript shows %q, which is for the model alone", secret)
				}
			}
		})
	}
}

// A coder goes on where another stopped, in another dialect: nothing of the first one's
// reasoning reaches the second, and each conversation is one that its endpoint takes.
func TestAnotherDialectGoesOn(t *testing.T) {
	all := flavour.Stateful()
	for i, f := range all {
		next := all[(i+1)%len(all)]
		t.Run(f.Name+", then "+next.Name, func(t *testing.T) {
			f.Turns, next.Turns = working(40), working(6)
			inner := f.Refuse
			f.Refuse = func(s *flavour.Server, a flavour.Ask) (int, string) {
				if a.Turn >= 3 {
					return http.StatusPaymentRequired, flavour.Say("Insufficient balance")
				}
				if inner == nil {
					return 0, ""
				}
				return inner(s, a)
			}
			first, second := flavour.Start(f), flavour.Start(next)
			t.Cleanup(first.Close)
			t.Cleanup(second.Close)
			thinks := func(c *llm.Config) { c.Reasoning = "high" }
			chain, err := llm.NewChain(clientOf(t, first), clientOf(t, second, thinks))
			if err != nil {
				t.Fatal(err)
			}
			res, _ := attemptOn(t, chain)
			if res.End != sia.EndFinished || res.Turns != 6 {
				t.Fatalf("ended %s after %d turns: %s", res.End, res.Turns, res.Reason)
			}
			asks := second.Asks()
			if len(asks) == 0 || !strings.Contains(asks[0].Raw, "Step 2.") {
				t.Fatal("the second did not go on where the first stopped")
			}
		})
	}
}

// The first request of an attempt is small: what is the same in each, prompt and tools, is
// paid for with every turn of an endpoint that does not cache.
func TestFirstRequestIsSmall(t *testing.T) {
	f := flavour.DeepSeek
	f.Turns = working(2)
	s := flavour.Start(f)
	t.Cleanup(s.Close)
	attemptOn(t, clientOf(t, s))
	if n := len(s.Asks()[0].Raw); n > 16<<10 {
		t.Errorf("%d bytes, want at most 16 KiB", n)
	} else {
		t.Logf("%d bytes", n)
	}
}
