package sia

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A ledger is bounded for any input, and an unknown kind is a hypothesis.
func TestReadLedger(t *testing.T) {
	long := strings.Repeat("long ", 1000)
	var list []map[string]any
	for i := range 30 {
		list = append(list, map[string]any{"kind": "dead_end", "says": fmt.Sprint(i, long), "turn": 7, "unverified": false,
			"for": []map[string]any{{"ran": long, "turn": 9}, {"saw": long}, {}, {"changed": long}, {"ran": "fourth"}}})
	}
	list[0]["kind"], list[1]["says"] = "fact", " \n "
	b, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := ReadLedger(b)
	if err != nil || len(entries) != MaxLedgerEntries || entries[0].Kind != LedgerHypothesis || entries[1].Says[0] != '2' {
		t.Fatalf("%d entries: %v", len(entries), err)
	}
	if f := entries[0].For; len(f) != 2 || f[0].Turn != 0 || f[1].Saw == "" {
		t.Errorf("traces: %+v", f)
	}
	l := AttemptLedger{Entries: entries}
	for i := range 20 {
		l.Ran = append(l.Ran, RanCommand{fmt.Sprint(i, long), long, i})
	}
	joined := l.Bounded().Join(l.Bounded())
	if got := strings.Join(joined.Lines(), "\n"); len(got) > MaxLedgerText || len(joined.Lines()) < 2 {
		t.Errorf("%d bytes in %d lines", len(got), len(joined.Lines()))
	}
	if joined.Version != LedgerVersion || len(joined.Ran) != maxLedgerRan || joined.Ran[2].Turn != 19 {
		t.Errorf("%+v", joined.Ran)
	}
	for _, bad := range []string{"", "{}", `"text"`, `[1]`, `[{"says":1}]`, "null"} {
		if got, err := ReadLedger([]byte(bad)); len(got) > 0 || err == nil && bad != "null" {
			t.Errorf("%q: %v %v", bad, got, err)
		}
	}
	if (AttemptLedger{}).Bounded() != nil || (*AttemptLedger)(nil).Join(nil) != nil ||
		(*AttemptLedger)(nil).Lines() != nil {
		t.Error("there is a ledger of nothing")
	}
}
