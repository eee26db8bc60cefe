package sia

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every pair of state and kind of fact is in the table: as a move, or as ignored
// with a reason, but not both.
func TestTableIsTotal(t *testing.T) {
	if got, want := len(table), len(Kinds()); got != want {
		t.Errorf("the table has %d kinds of fact, want %d", got, want)
	}
	for _, k := range Kinds() {
		if got, want := len(table[k]), len(States); got != want {
			t.Errorf("%s: %d states listed, want %d", k, got, want)
		}
		for _, s := range States {
			c, ok := table[k][s]
			if !ok {
				t.Errorf("%s while %s is not listed", k, s)
				continue
			}
			if (c.move == nil) == (c.ignored == "") {
				t.Errorf("%s while %s: want exactly one of a move and a reason", k, s)
			}
		}
	}
}

// Every fact survives a round trip through JSON, so that an event log can be replayed.
func TestEventJSON(t *testing.T) {
	for _, f := range facts {
		in := Event{ID: "x", Fact: f}
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatalf("%s: %v", f.Kind(), err)
		}
		var out Event
		if err := json.Unmarshal(b, &out); err != nil {
			t.Fatalf("%s: %v", f.Kind(), err)
		}
		if diff := cmp.Diff(in, out); diff != "" {
			t.Errorf("%s: -want +got\n%s", f.Kind(), diff)
		}
	}
	var e Event
	if err := json.Unmarshal([]byte(`{"id":"x","kind":"nonsense","fact":{}}`), &e); err == nil {
		t.Error("an unknown kind was accepted")
	}
}

// Kinds returns every kind of fact: first those caused by people and GitHub, then
// outcomes of effects.
func Kinds() []Kind {
	ks := make([]Kind, len(facts))
	for i, f := range facts {
		ks[i] = f.Kind()
	}
	return ks
}
