package attempts

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/bandit"
)

// approaches is the number of attempts at a task, including the first.
const approaches = 5

// streams is the number of random orders of the cases that are played.
const streams = 5

// step is a continuation for the n-th time in a task, from 1.
type step struct {
	way string
	nth int
}

// chooser picks one of the remaining continuations.
type chooser interface {
	choose(c Case, failures []string, left []step) step
	observe(c Case, failures []string, took step, resolved bool)
}

// Play plays fixed orders of the continuations, chance, and SIA's learner of techniques without data, on the cases with
// a failed first attempt. The learner is called as in the product: its patterns are the classes of
// failures, its repositories the source's, and its table is uniform. A figure is the share of these cases that is
// resolved within five attempts; the last ones are the learner's gain over chance, and over the best of the fixed
// orders. The same source gives the same figures.
func Play(ctx context.Context, s Source) ([]Figure, error) {
	var ways []string
	for _, way := range []string{Again, Changed, Tools, Other} {
		if slices.ContainsFunc(s.Cases, func(c Case) bool { return len(c.Ways[way]) > 0 }) {
			ways = append(ways, way)
		}
	}
	players := []player{{"by chance", func(seed uint64) (chooser, error) {
		return chance{rand.New(rand.NewPCG(seed, 1))}, nil //nolint:gosec // the same in every run
	}}}
	for _, first := range ways {
		for _, then := range ways {
			players = append(players, player{fmt.Sprintf("%s, then %s", first, then),
				func(uint64) (chooser, error) { return order{first, then}, nil }})
		}
	}
	players = append(players, player{"SIA's learner", newLearner})
	shares := make([]map[int]float64, len(players)) // player → case → share of streams
	for i, p := range players {
		shares[i] = map[int]float64{}
		for stream := range uint64(streams) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := p.play(s, stream, shares[i]); err != nil {
				return nil, err
			}
		}
	}
	return figuresOf(s, players, shares), nil
}

type player struct {
	name string
	of   func(seed uint64) (chooser, error)
}

// play plays one stream.
func (p player) play(s Source, stream uint64, shares map[int]float64) error {
	c, err := p.of(stream)
	if err != nil {
		return err
	}
	for _, i := range rand.New(rand.NewPCG(stream, 2)).Perm(len(s.Cases)) { //nolint:gosec // the same in every run
		one := s.Cases[i]
		if one.First.Resolved {
			continue
		}
		shares[i] += walk(c, one) / streams
	}
	return nil
}

// walk plays one case. It returns 1 if it was resolved, else 0.
func walk(c chooser, one Case) float64 {
	used, failures := map[string]int{}, []string{one.First.Class}
	for len(failures) < approaches {
		var left []step
		for _, way := range []string{Again, Changed, Tools, Other} {
			if used[way] < len(one.Ways[way]) {
				left = append(left, step{way, used[way] + 1})
			}
		}
		if len(left) == 0 {
			return 0
		}
		took := c.choose(one, failures, left)
		t := one.Ways[took.way][used[took.way]]
		used[took.way]++
		c.observe(one, failures, took, t.Resolved)
		if t.Resolved {
			return 1
		}
		failures = append(failures, t.Class)
	}
	return 0
}

// figuresOf returns the shares of all players, and the gain of the last one.
func figuresOf(s Source, players []player, shares []map[int]float64) (out []Figure) {
	gained := func(what string, i int, over map[int]float64) Figure {
		c := counts{}
		for at, share := range shares[i] {
			c.add(s.Cases[at].Task, share-over[at])
		}
		f, _ := c.figure(what)
		return f
	}
	last, best := len(players)-1, 1
	for i, p := range players {
		f := gained(p.name, i, nil)
		out = append(out, f)
		if i > 0 && i < last && f.Value > out[best].Value {
			best = i
		}
	}
	return append(out, gained("SIA's learner, over chance", last, shares[0]),
		gained("SIA's learner, over the best fixed order: "+players[best].name, last, shares[best]))
}

type chance struct{ *rand.Rand }

func (c chance) choose(_ Case, _ []string, left []step) step { return left[c.IntN(len(left))] }

func (chance) observe(Case, []string, step, bool) {}

// order takes its first continuation once, then its second while there is one, then the rest.
type order [2]string

func (o order) choose(_ Case, failures []string, left []step) step {
	wanted := o[1]
	if len(failures) == 1 {
		wanted = o[0]
	}
	if i := slices.IndexFunc(left, func(s step) bool { return s.way == wanted }); i >= 0 {
		return left[i]
	}
	return left[0]
}

func (order) observe(Case, []string, step, bool) {}

type learner struct {
	*bandit.Learner
	seed    uint64
	decided int
}

func newLearner(seed uint64) (chooser, error) {
	policy := policies.ShippedTechnique()
	policy.Rules.Ranks = nil
	return &learner{Learner: bandit.NewLearner(policy), seed: seed}, nil
}

func (l *learner) choose(c Case, failures []string, left []step) step {
	l.decided++
	r := bandit.Request{
		Diagnosis: bandit.Diagnosis{Org: "recorded", Repo: c.Repo, Pattern: pattern(failures)}, Seed: l.seed,
		Task: fmt.Sprint(l.decided), Attempt: len(failures) - 1, Left: approaches - len(failures), Terse: true,
	}
	for _, s := range left {
		r.Candidates = append(r.Candidates, bandit.Candidate{Technique: s.technique()})
	}
	choice := l.Decide(r).Choice
	return left[slices.IndexFunc(left, func(s step) bool { return s.technique() == choice })]
}

// technique returns the learner's technique for a step. The product uses none twice in a task, so a repeated
// continuation is another one.
func (s step) technique() string { return fmt.Sprint(s.way, "-", s.nth) }

func (l *learner) observe(c Case, failures []string, took step, resolved bool) {
	l.Observe(bandit.Outcome{Org: "recorded", Repo: c.Repo, Pattern: pattern(failures), Technique: took.technique(),
		Resolved: resolved, Attempt: len(failures) - 1})
}

// pattern is the learner's diagnosis: the class of the last failure.
func pattern(failures []string) string {
	return strings.ReplaceAll(failures[len(failures)-1], " ", "-")
}
