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

// History reads the log of decisions for the evaluation of policies.
type History struct{ store HistoryStore }

// NewHistory returns the history of a database.
func NewHistory(s HistoryStore) History { return History{s} }

// maxHistory is the maximum number of decisions of a type that are read, the latest.
const maxHistory = 5000

// Record counts the results of the tasks of a repository, 0: of an installation, that a policy version decided about
// after a time.
func (h History) Record(
	ctx context.Context, installation, repo int64, policy string, after time.Time,
) (store.PolicyRecord, error) {
	return h.store.PolicyRecord(ctx, installation, repo, policy, after)
}

// Mined returns the last decisions of a type in an installation that have a result, oldest first.
func (h History) Mined(ctx context.Context, installation int64, typ policies.Type) (out []mine.Decision, err error) {
	var all []sia.Decision // of every type: some take their context from others of their task
	for _, of := range policies.Types() {
		ds, err := h.store.DecisionsIn(ctx, installation, sia.DecisionType(of), maxHistory)
		if err != nil {
			return nil, err
		}
		all = append(all, ds...)
	}
	slices.SortStableFunc(all, func(a, b sia.Decision) int { return a.At.Compare(b.At) })
	contexts, _ := Snapshots(all)
	for i, d := range all {
		if m, known := ForMining(d, contexts[i]); known && m.Type == typ {
			out = append(out, m)
		}
	}
	return out, nil
}

// ForMining converts a logged decision with its context for package mine; known is false while it has no result.
func ForMining(d sia.Decision, c policies.Context) (m mine.Decision, known bool) {
	resolved, known := Resolved(d)
	m = mine.Decision{Task: string(d.Task), Type: policies.Type(d.Type), Context: c, Choice: d.Choice, Resolved: resolved}
	for _, o := range Chances(d) {
		m.Options = append(m.Options, mine.Option(o))
	}
	return m, known
}

// Duels counts logged decisions about which two policies differ and which were randomized: won are those in favor of
// the candidate, lost those in favor of the present policy.
//
// A decision took only one of two choices, so only the result of that one is known. But if chance could have taken
// either, which one was taken is the toss of a fair coin, once enough decisions for the likelier choice are omitted to
// make both equally likely. If the candidate is no better, a resolved task is as likely to have the candidate's choice
// as the present policy's, and the same holds for a failed task. So won and lost are those of a fair coin, as
// [evolve.Gate] requires. Each task counts once, by its first such decision.
func (h History) Duels(
	ctx context.Context, installation int64, present, candidate policies.Policy,
) (won, lost int, err error) {
	ds, err := h.store.DecisionsIn(ctx, installation, sia.DecisionType(present.Decision), maxHistory)
	if err != nil {
		return 0, 0, err
	}
	again, err := NewRewind(ctx, h.store)
	if err != nil {
		return 0, 0, err
	}
	counted := map[sia.TaskID]bool{}
	for _, d := range ds {
		resolved, known := Resolved(d)
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

// randomized reports whether a decision counts as a fair choice between a and b: it is omitted with the probability by
// which its choice was likelier than the other. The draw is a hash of its id, so that the result is always the same.
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
	return uniform(d.ID) < min(pa, pb)/made
}

// uniform returns a pseudorandom number in [0, 1) that depends only on the key.
func uniform(key string) float64 {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(key)) // a hash never fails
	return float64(mixBits(sum.Sum64())>>11) / (1 << 53)
}

// mixBits spreads a hash over all bits (the finalizer of MurmurHash3).
func mixBits(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
