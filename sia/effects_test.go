package sia

import (
	"slices"
	"testing"
)

// Every kind of effect has one line in the table, and the line is consistent: each
// outcome belongs to one effect, and a failure is a move in each state that waits.
// Effects that lead to the next attempt are held while the task is paused.
func TestEffects(t *testing.T) {
	owner := map[Kind]EffectKind{}
	var kinds []EffectKind
	for _, e := range effects {
		if e.kind == "" || slices.Contains(kinds, e.kind) {
			t.Errorf("the kind %q is listed twice, or has no name", e.kind)
		}
		kinds = append(kinds, e.kind)
		for _, f := range e.outcomes {
			if owner[f] != "" || !slices.Contains(Kinds(), f) || f == KDone || f == KEffectFailed {
				t.Errorf("%s: the outcome %s is none, or that of %q", e.kind, f, owner[f])
			}
			owner[f] = e.kind
		}
		for _, s := range e.waitsIn {
			if !slices.Contains(States, s) || table[KEffectFailed][s].move == nil {
				t.Errorf("%s: nothing can fail while %q", e.kind, s)
			}
			for _, f := range e.outcomes {
				if table[f][s].move == nil {
					t.Errorf("%s: %s waits for %s and ignores it", e.kind, s, f)
				}
			}
		}
		if e.leads && !e.held {
			t.Errorf("%s leads to the next attempt, and is not held while the task is paused", e.kind)
		}
	}
	if got := EffectKinds(); !slices.Equal(got, kinds) {
		t.Errorf("got %v, want %v", got, kinds)
	}
}

// A fact is either caused by people and GitHub, or the outcome of an effect.
func TestOutcomesHaveAnEffect(t *testing.T) {
	from := slices.Index(Kinds(), KBegun) // the first kind of an outcome
	for i, k := range Kinds() {
		if k.isOutcome() != (i >= from) {
			t.Errorf("%s is the outcome of an effect: %v", k, k.isOutcome())
		}
	}
	if EffectKind("of another version").traits().canReport(KDone) {
		t.Error("an unknown effect reports")
	}
}
