package learn

import (
	"context"
	"hash/fnv"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/mine"
	"github.com/sia-bot/sia/sia"
)

// History reads the log of decisions for those who judge policies.
type History struct{ store HistoryStore }

// NewHistory returns the history of a database.
func NewHistory(s HistoryStore) History { return History{s} }

// remembered is how many of the last decisions of a type are read.
const remembered = 5000

// Record counts the result of the tasks of a repository, 0: of an installation, that a version of a policy
// decided about after a time.
func (h History) Record(
	ctx context.Context, installation, repo int64, policy string, after time.Time,
) (store.PolicyRecord, error) {
	return h.store.PolicyRecord(ctx, installation, repo, policy, after)
}

// Mined are the last decisions of a type in an installation that have a result,
// oldest first.
func (h History) Mined(ctx context.Context, installation int64, typ policies.Type) (out []mine.Decision, err error) {
	var all []sia.Decision // of every type: some have their context from others of their task
	for _, of := range policies.Types() {
		ds, err := h.store.DecisionsIn(ctx, installation, sia.DecisionType(of), remembered)
		if err != nil {
			return nil, err
		}
		all = append(all, ds...)
	}
	slices.SortStableFunc(all, func(a, b sia.Decision) int { return a.At.Compare(b.At) })
	contexts, _ := Snapshots(all)
	for i, d := range all {
		if m, known := Mined(d, contexts[i]); known && m.Type == typ {
			out = append(out, m)
		}
	}
	return out, nil
}

// Mined is a decision of the log as it is mined, with its context; known is false while it has
// no result.
func Mined(d sia.Decision, c policies.Context) (m mine.Decision, known bool) {
	resolved, known := Came(d)
	m = mine.Decision{Task: string(d.Task), Type: policies.Type(d.Type), Context: c, Choice: d.Choice, Resolved: resolved}
	for _, o := range Chances(d) {
		m.Options = append(m.Options, mine.Option(o))
	}
	return m, known
}

// Duels counts the decisions of the log about which two policies differ and chance had the say: won
// are those that speak for the candidate, lost those that speak for the present one.
//
// A decision made only one of two choices, so only the result of that one is known. But where chance could
// have made either, which one was made is the toss of a fair coin, once enough of the likelier choice's decisions
// are left out to make both equally likely. If the candidate is no better, a resolved task is as likely to have
// the candidate's choice as the present policy's, and the same holds for a failed task. So won and lost are
// a fair coin's, which is what [evolve.Gate] asks for. A task counts once, by its first such decision.
func (h History) Duels(
	ctx context.Context, installation int64, present, candidate policies.Policy,
) (won, lost int, err error) {
	ds, err := h.store.DecisionsIn(ctx, installation, sia.DecisionType(present.Decision), remembered)
	if err != nil {
		return 0, 0, err
	}
	again, err := NewRewind(ctx, h.store)
	if err != nil {
		return 0, 0, err
	}
	counted := map[sia.TaskID]bool{}
	for _, d := range ds {
		resolved, known := Came(d)
		if !known || counted[d.Task] {
			continue
		}
		was, why, err := again.Decide(present, d)
		if err != nil {
			return 0, 0, err
		}
		if why != "" {
			continue
		}
		now, why, err := again.Decide(candidate, d)
		if err != nil {
			return 0, 0, err
		}
		if why != "" || was.Choice == now.Choice || !randomized(d, was.Choice, now.Choice) {
			continue
		}
		counted[d.Task] = true
		if resolved == (d.Choice == now.Choice) {
			won++
		} else {
			lost++
		}
	}
	return won, lost, nil
}

// randomized reports whether a decision made one of two choices as a fair coin would have: it is left out
// with the probability by which its choice was likelier than the other. That is drawn by a hash of its
// id, so that it is left out always or never.
func randomized(d sia.Decision, a, b string) bool {
	chance := func(choice string) float64 {
		all := Chances(d)
		i := slices.IndexFunc(all, func(c Chance) bool { return c.Choice == choice })
		if i < 0 {
			return 0
		}
		return all[i].Probability
	}
	pa, pb := chance(a), chance(b)
	made := pa
	switch d.Choice {
	case a:
	case b:
		made = pb
	default:
		return false
	}
	if pa <= 0 || pb <= 0 {
		return false
	}
	return drawn(d.ID) < min(pa, pb)/made
}

// drawn is a number in [0, 1), always the same for a key.
func drawn(key string) float64 {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(key)) // a hash takes everything
	return float64(mixed(sum.Sum64())>>11) / (1 << 53)
}

// mixed spreads a hash over all bits (the finaliser of MurmurHash3).
func mixed(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
