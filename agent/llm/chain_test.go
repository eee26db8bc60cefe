package llm_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sim/scripted"
)

// pair returns a chain of two models, "primary" with the fault and "backup", and a function for their numbers of
// requests.
func pair(t *testing.T, fault, backup *scripted.Fault) (*llm.Chain, *clock, func() [2]int) {
	t.Helper()
	clk := &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	named := func(name string, f *scripted.Fault, price float64) (*llm.Client, *scripted.Server) {
		c, srv, _ := serve(t, say("I am "+name, f), func(c *llm.Config) {
			c.Name, c.Now, c.Sleep, c.Retries, c.Price = name, clk.now, clk.sleep, 1, llm.Price{Input: price, Output: price}
		})
		return c, srv
	}
	a, first := named("primary", fault, 1)
	b, second := named("backup", backup, 5)
	chain, err := llm.NewChain(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return chain, clk, func() [2]int { return [2]int{len(first.Requests()), len(second.Requests())} }
}

func TestChainAsksTheNextModel(t *testing.T) {
	for name, tt := range map[string]struct {
		fault  *scripted.Fault
		client string
		asked  [2]int
		passed []string
	}{
		"the first answers": {nil, "primary", [2]int{1, 0}, nil},
		"after its retries": {&scripted.Fault{Status: 503}, "backup", [2]int{2, 1}, []string{"primary: overloaded"}},
		"a retry is enough": {&scripted.Fault{Status: 503, Times: 1}, "primary", [2]int{2, 0}, nil},
		"wrong key":         {&scripted.Fault{Status: 401}, "backup", [2]int{1, 1}, []string{"primary: auth"}},
		"no money": {&scripted.Fault{Status: 429, Code: "insufficient_quota"}, "backup", [2]int{1, 1},
			[]string{"primary: quota"}},
		"no such model": {&scripted.Fault{Status: 404}, "backup", [2]int{3, 1},
			[]string{"primary: bad_request"}}, // the other dialects are tried too
		"wait too long": {&scripted.Fault{Status: 429, Header: map[string]string{"Retry-After": "900"}}, "backup",
			[2]int{1, 1}, []string{"primary: rate_limit"}},
		"no connection": {&scripted.Fault{Reset: true}, "backup", [2]int{2, 1}, []string{"primary: network"}},
		"broken answers": {&scripted.Fault{Status: 200, Body: "<html>"}, "backup", [2]int{2, 1},
			[]string{"primary: malformed"}},
		"it breaks off midway": {&scripted.Fault{Reset: true, After: 2}, "backup", [2]int{2, 1},
			[]string{"primary: network"}},
	} {
		t.Run(name, func(t *testing.T) {
			chain, _, asked := pair(t, tt.fault, nil)
			resp, err := chain.Complete(t.Context(), ask("who?"))
			if err != nil || resp.Client != tt.client || resp.Message.Content != "I am "+tt.client {
				t.Fatalf("%s answered %q, %v", resp.Client, resp.Message.Content, err)
			}
			if d := cmp.Diff(tt.passed, resp.Passed, cmpopts.EquateEmpty()); d != "" || asked() != tt.asked {
				t.Errorf("asked %v, want %v; passed (-want +got):\n%s", asked(), tt.asked, d)
			}
			price := map[string]float64{"primary": 1, "backup": 5}[tt.client]
			if want := price * float64(resp.Usage.Input+resp.Usage.Output) / 1e6; resp.Usage.USD != want {
				t.Errorf("cost %v, want %v: the price is that of the model that answered", resp.Usage.USD, want)
			}
			if broke := strings.Contains(name, "midway"); (resp.Lost.USD > 0) != broke {
				t.Errorf("lost: %+v", resp.Lost)
			}
		})
	}
}

func TestChainStaysWithOneModelWhereAnotherIsNoHelp(t *testing.T) {
	chain, _, asked := pair(t, &scripted.Fault{Status: 400, Code: "context_length_exceeded"}, nil)
	_, err := chain.Complete(t.Context(), ask("x"))
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.KindContextLength || asked() != [2]int{1, 0} {
		t.Errorf("asked %v: %v", asked(), err)
	}
	chain, _, asked = pair(t, nil, nil)
	req := ask("x")
	req.Schema = &llm.Schema{Name: "a", JSON: []byte(`{"type":"object"}`)}
	if _, err := chain.Complete(t.Context(), req); !errors.As(err, &e) || e.Kind != llm.KindMalformed ||
		asked() != [2]int{1, 0} {
		t.Errorf("asked %v: %v", asked(), err)
	}
}

// An answer without the requested JSON is charged. If it was cut off or withheld, or no other model is left, it is
// returned. Its model is not skipped afterwards.
func TestChainChargesAnAnswerWithoutJSON(t *testing.T) {
	const thought = 4000
	for name, tt := range map[string]struct {
		finish string
		others string // the second model: "up", "down" or none
		asked  [2]int // in two calls
		client string // of the returned answer
		words  string // of the error; "": there is none
	}{
		"cut while thinking":         {llm.FinishLength, "up", [2]int{2, 0}, "primary", "no complete JSON object"},
		"withheld":                   {llm.FinishContentFilter, "up", [2]int{2, 0}, "primary", "withheld the answer"},
		"empty":                      {llm.FinishStop, "up", [2]int{2, 2}, "backup", ""},
		"empty, no other model":      {llm.FinishStop, "", [2]int{2, 0}, "primary", "no complete JSON object"},
		"withheld, no other model":   {llm.FinishContentFilter, "", [2]int{2, 0}, "primary", "withheld the answer"},
		"empty, the other one fails": {llm.FinishStop, "down", [2]int{2, 2}, "", "primary: malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			second := scripted.Answer{JSON: map[string]any{"ok": true}, Usage: &scripted.Usage{Input: 10, Output: 5}}
			if tt.others == "down" {
				second = scripted.Answer{Fault: &scripted.Fault{Status: 401}}
			}
			var clients []*llm.Client
			var servers []*scripted.Server
			clk := &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
			for i, a := range []scripted.Answer{
				{Finish: tt.finish, Usage: &scripted.Usage{Input: 1000, Output: thought}}, second} {
				c, srv, _ := serve(t, one(a), func(c *llm.Config) {
					c.Name, c.Now, c.Sleep, c.Price = []string{"primary", "backup"}[i], clk.now, clk.sleep,
						llm.Price{Input: 1, Output: 10}
				})
				clients, servers = append(clients, c), append(servers, srv)
			}
			chain, err := llm.NewChain(clients[:1+min(1, len(tt.others))]...)
			if err != nil {
				t.Fatal(err)
			}
			req := ask("x")
			req.Schema = &llm.Schema{Name: "a", JSON: []byte(`{"type":"object"}`)}
			for range 2 {
				resp, err := chain.Complete(t.Context(), req)
				if spent := resp.Spent(); resp.Client != tt.client || spent.Output < thought || spent.USD < 0.041 {
					t.Errorf("answer of %q (%v), spent %+v", resp.Client, err, spent)
				}
				if tt.words == "" && err != nil || tt.words != "" && (err == nil || !strings.Contains(err.Error(), tt.words)) {
					t.Errorf("error %v, want %q", err, tt.words)
				}
			}
			if got := [2]int{len(servers[0].Requests()), len(servers[1].Requests())}; got != tt.asked {
				t.Errorf("asked %v, want %v", got, tt.asked)
			}
		})
	}
}

// A model that failed is skipped for a minute; then one call without retries tests it.
func TestChainRemembersADeadModel(t *testing.T) {
	chain, clk, asked := pair(t, &scripted.Fault{Status: 503, Times: 3}, nil)
	for _, step := range []struct {
		after  time.Duration
		client string
		asked  [2]int
	}{
		{0, "backup", [2]int{2, 1}},
		{30 * time.Second, "backup", [2]int{2, 2}},
		{31 * time.Second, "backup", [2]int{3, 3}}, // one test, and it is skipped again
		{10 * time.Second, "backup", [2]int{3, 4}},
		{time.Minute, "primary", [2]int{4, 4}},
		{0, "primary", [2]int{5, 4}},
	} {
		clk.at = clk.at.Add(step.after)
		resp, err := chain.Complete(t.Context(), ask("who?"))
		if err != nil || resp.Client != step.client || asked() != step.asked {
			t.Fatalf("after %s: %s answered, asked %v, want %s, %v; %v", step.after, resp.Client, asked(), step.client,
				step.asked, err)
		}
		if step.client == "backup" && len(resp.Passed) != 1 {
			t.Errorf("passed: %v", resp.Passed)
		}
	}
}

func TestChainOfDeadModels(t *testing.T) {
	chain, clk, asked := pair(t, &scripted.Fault{Status: 401},
		&scripted.Fault{Status: 429, Header: map[string]string{"Retry-After": "120"}})
	for i := range 2 {
		_, err := chain.Complete(t.Context(), ask("x"))
		var first *llm.Error
		var all *llm.ChainError
		if !errors.As(err, &all) || len(all.Errors) != 2 || !errors.As(err, &first) || first.Client != "backup" ||
			first.RetryAfter != 2*time.Minute {
			t.Fatalf("error %v: what may pass must come first", err)
		}
		for _, name := range []string{"primary", "backup"} {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("%s is missing in %v", name, err)
			}
		}
		if want := [2]int{1 + i, 1 + i}; asked() != want {
			t.Errorf("asked %v, want %v: where all rest, each is asked once", asked(), want)
		}
		clk.at = clk.at.Add(time.Second)
	}
}

func TestChainIsAsNarrowAsItsNarrowest(t *testing.T) {
	a, _ := dial(t, "http://127.0.0.1:1", func(c *llm.Config) {
		c.Name, c.Window, c.MaxOutput, c.Price = "a", 100_000, 4000, llm.Price{Input: 1, Output: 20}
	})
	b, _ := dial(t, "http://127.0.0.1:1", func(c *llm.Config) {
		c.Name, c.Window, c.MaxOutput, c.Price = "b", 30_000, 8000, llm.Price{Input: 2, CachedInput: 0.5, Output: 10}
	})
	c, err := llm.NewChain(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if c.Window() != 30_000 || c.MaxOutput() != 4000 ||
		c.Price() != (llm.Price{Input: 2, CachedInput: 1, CacheWrite: 2, Output: 20}) {
		t.Errorf("window %d, output %d, price %+v", c.Window(), c.MaxOutput(), c.Price())
	}
	if _, err := llm.NewChain(); err == nil {
		t.Error("an empty chain was accepted")
	}
}
