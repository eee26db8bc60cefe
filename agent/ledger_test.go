package agent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/sia"
)

// A coder's entries are kept if the transcript and the diff confirm them.
func TestCheckLedger(t *testing.T) {
	turns := []agent.Turn{
		{Kind: agent.TurnBrief, Text: "go test ./brief"},
		{Number: 1, Kind: agent.TurnModel, Calls: []agent.Call{
			{Name: "read", Arguments: `{"path":"cache.go"}`, Result: "1: func  Lookup(key string)\n"},
			{Name: "run", Arguments: `{"command":"go test ./cache -run TestLookup"}`,
				Result: "exit status 1\n--- FAIL: TestLookup\n    nil map in Lookup\n"},
			{Name: "edit", Arguments: `{}`, Result: "edited", Changed: []string{"undone.go"}}}},
		{Number: 2, Kind: agent.TurnModel, Calls: []agent.Call{
			{Name: "test", Arguments: `{}`, Result: "The tests fail: go test ./..., exit status 1\n\nFailed:\n- TestX\n"},
			{Name: "run", Arguments: `{"command":"go vet ./..."}`, Result: "exit status 0\n[it printed nothing]\n"},
			{Name: "run", Arguments: `{"command":"go fix ./..."}`, Result: ""},
			{Name: "finish", Arguments: `{}`, Result: "npm test passes"}}},
	}
	ran := func(s string) []sia.Trace { return []sia.Trace{{Ran: s}} }
	saw := func(s string) []sia.Trace { return []sia.Trace{{Saw: s}} }
	changed := func(s string) []sia.Trace { return []sia.Trace{{Changed: s}} }
	for name, tt := range map[string]struct {
		entry sia.LedgerEntry
		want  string // empty: dropped
	}{
		"a command that ran": {sia.LedgerEntry{Kind: "dead_end", Says: "A longer key", For: ran("go test  ./cache")},
			"Dead end: A longer key (for: ran `go test ./cache -run TestLookup`, exit status 1, turn 1)"},
		"the test tool": {sia.LedgerEntry{Kind: "hypothesis", Says: "TestX is at fault", Against: ran("go test ./...")},
			"Hypothesis: TestX is at fault (against: ran `go test ./...`, The tests fail, exit status 1, turn 2)"},
		"works, and it does": {sia.LedgerEntry{Kind: "works", Says: "Vet", For: ran("go vet ./...")},
			"Works: Vet (for: ran `go vet ./...`, exit status 0, turn 2)"},
		"words of a result": {sia.LedgerEntry{Kind: "hypothesis", Says: "The map", For: saw("func Lookup(key string)")},
			"Hypothesis: The map (for: saw “func Lookup(key string)”, turn 1)"},
		"in the diff": {sia.LedgerEntry{Kind: "works", Says: "A", For: changed("main.go")},
			"Works: A (for: changed main.go)"},
		"changed, and undone": {sia.LedgerEntry{Kind: "dead_end", Says: "B", For: changed("undone.go")},
			"Dead end: B (for: changed undone.go, turn 1)"},
		"an idea": {sia.LedgerEntry{Kind: "hypothesis", Says: "Perhaps the clock"},
			"Hypothesis, unverified: Perhaps the clock"},
		"one of two": {sia.LedgerEntry{Kind: "works", Says: "C", For: append(ran("npm test"), changed("main.go")...)},
			"Works: C (for: changed main.go)"},
		"part of a word":        {sia.LedgerEntry{Kind: "dead_end", Says: "D", For: ran("go")}, ""},
		"it never ran":          {sia.LedgerEntry{Kind: "dead_end", Says: "D", For: ran("npm test")}, ""},
		"works, and it failed":  {sia.LedgerEntry{Kind: "works", Says: "E", For: ran("go test ./cache -run TestLookup")}, ""},
		"it was told, not seen": {sia.LedgerEntry{Kind: "works", Says: "F", For: saw("npm test passes")}, ""},
		"it stands anywhere":    {sia.LedgerEntry{Kind: "works", Says: "G", For: saw("map")}, ""},
		"another file":          {sia.LedgerEntry{Kind: "works", Says: "H", For: changed("other.go")}, ""},
		"not carried out":       {sia.LedgerEntry{Kind: "dead_end", Says: "I", For: ran("go fix ./...")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := agent.CheckLedger([]sia.LedgerEntry{tt.entry}, turns, []string{"main.go"})
			l.Ran = nil
			if got := strings.Join(l.Lines(), "\n"); got != tt.want || (tt.want == "") != (l.Dropped == 1) {
				t.Errorf("%d dropped, got\n%s\nwant\n%s", l.Dropped, got, tt.want)
			}
		})
	}
	l := agent.CheckLedger(nil, turns, nil)
	want := []string{"Ran `go test ./cache -run TestLookup`: exit status 1",
		"Ran `go test ./...`: The tests fail, exit status 1", "Ran `go vet ./...`: exit status 0"}
	if d := cmp.Diff(want, l.Lines()); d != "" {
		t.Errorf("what SIA saw it run (-want +got):\n%s", d)
	}
}

// A command that only prints text has no calls: its entries are kept, and marked.
func TestCheckLedgerWithoutCalls(t *testing.T) {
	turns := []agent.Turn{{Number: 1, Kind: agent.TurnModel, Text: "I ran npm test."}}
	l := agent.CheckLedger([]sia.LedgerEntry{
		{Kind: "dead_end", Says: "Mocks", For: []sia.Trace{{Ran: "npm test"}}},
		{Kind: "works", Says: "The fix", For: []sia.Trace{{Changed: "a.js"}}},
		{Kind: "works", Says: "Lies", For: []sia.Trace{{Changed: "b.js"}}},
	}, turns, []string{"a.js"})
	want := []string{"Dead end, unverified: Mocks (for: ran `npm test`)", "Works: The fix (for: changed a.js)"}
	if d := cmp.Diff(want, l.Lines()); d != "" || l.Dropped != 1 {
		t.Errorf("%d dropped (-want +got):\n%s", l.Dropped, d)
	}
	if agent.CheckLedger(nil, turns, []string{"a.js"}) != nil {
		t.Error("there is a ledger of nothing")
	}
	secret := "ghp_0123456789abcdefghij0123456789abcdef"
	l = agent.CheckLedger([]sia.LedgerEntry{{Kind: "hypothesis", Says: "The token " + secret}}, nil, nil)
	if strings.Contains(strings.Join(l.Lines(), ""), secret) {
		t.Error("a secret is in the ledger")
	}
}
