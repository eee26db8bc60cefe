package synthetic

import (
	"context"
	"fmt"
	"strconv"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/mine"
)

// The world that candidates are ranked in.
const (
	rankedKinds      = 4
	rankedOptions    = 3
	rankedCandidates = 5
	rankedSd         = 0.8 // of a chance, in log odds
	rankedLess       = 5   // divisor of the number of worlds: they are slow
)

// table is a policy: its option for each kind of task.
type table [rankedKinds]int

// rankedLog is a kind of log.
type rankedLog struct {
	name, world string
	decisions   int
	explore     float64 // share of decisions drawn uniformly from all options
}

var rankedLogs = []rankedLog{
	{"shipped-1000", "1,000 decisions, one in twenty left to chance", 1000, 0.05},
	{"shipped-5000", "5,000 decisions, one in twenty left to chance", 5000, 0.05},
	{"even-1000", "1,000 decisions, all left to chance", 1000, 1},
}

// ranked is the result of ranking in one world.
type ranked struct {
	refused       []bool // by candidate
	unseen        []bool // by estimated candidate: its different choice was drawn at most once
	snips, doubly estimator
}

// estimator is the result of one estimator in one world.
type estimator struct {
	squares []float64 // by estimated candidate: squared error
	covered []bool    // likewise: the interval contains the truth
	first   bool      // the best one is ranked first; false unless all were estimated
}

// ranking measures how well candidates with a known truth are ranked. Each changes
// the option of one kind of task, like a proposal.
func (m measure) ranking(ctx context.Context) (out []Figure, err error) {
	for _, l := range rankedLogs {
		worlds, err := inWorlds(ctx, max(1, m.worlds/rankedLess), func(i int) (ranked, error) {
			return l.rank(m.dice("ranking."+l.name, i)), nil
		})
		if err != nil {
			return nil, err
		}
		out = append(out, m.rankedFigures(l, worlds)...)
	}
	return out, nil
}

func (m measure) rankedFigures(l rankedLog, worlds []ranked) []Figure {
	var complete []ranked // worlds in which every candidate was estimated
	estimated := false
	for _, w := range worlds {
		estimated = estimated || len(w.snips.squares) > 0
		if len(w.snips.squares) == rankedCandidates {
			complete = append(complete, w)
		}
	}
	key := "ranking." + l.name
	out := []Figure{m.figure(key+".refused", l.world, "candidates not estimated: worth less than 100 decisions", "").
		grouped(column(worlds, func(w ranked) []bool { return w.refused }))}
	if !estimated {
		return out
	}
	out = append(out, m.figure(key+".unseen", l.world, "of those estimated: chance did what they change once at most", "").
		grouped(column(worlds, func(w ranked) []bool { return w.unseen })))
	for _, e := range []struct {
		key, name string
		of        func(ranked) estimator
	}{
		{"snips", "SNIPS", func(w ranked) estimator { return w.snips }},
		{"doubly", "doubly robust", func(w ranked) estimator { return w.doubly }},
	} {
		var squares []float64 // means of logs
		for _, w := range worlds {
			if xs := e.of(w).squares; len(xs) > 0 {
				mean, _ := meanOf(xs)
				squares = append(squares, mean)
			}
		}
		if len(complete) > 0 {
			out = append(out, m.figure(key+"."+e.key+".first", l.world,
				fmt.Sprintf("%s: the best of %d first, where all are estimated", e.name, rankedCandidates), "").
				share(column(complete, func(w ranked) bool { return e.of(w).first })))
		}
		out = append(out,
			m.figure(key+"."+e.key+".error", l.world, e.name+": root mean square error", "").rootMean(squares),
			m.figure(key+"."+e.key+".covered", l.world, e.name+": 95 % intervals that hold the truth", "95 %").
				grouped(column(worlds, func(w ranked) []bool { return e.of(w).covered })))
	}
	return out
}

// rank draws a world, a log and candidates, and ranks them.
func (l rankedLog) rank(r random) (w ranked) {
	var truth [rankedKinds][rankedOptions]float64
	var present table
	for kind := range truth {
		believed := [rankedOptions]float64{}
		for o := range truth[kind] {
			odds := rankedSd * r.NormFloat64()
			truth[kind][o], believed[o] = sigmoid(odds), odds+rankedSd*r.NormFloat64()
			if believed[o] > believed[present[kind]] {
				present[kind] = o
			}
		}
	}
	ds := l.draw(r, truth, present)
	snips, doubly, values := []float64{}, []float64{}, []float64{}
	for _, c := range candidates(r, present) {
		value := 0.0
		for kind, o := range c {
			value += truth[kind][o] / rankedKinds
		}
		values = append(values, value)
		e := mine.Rank(ds, c.decide(ds))
		w.refused = append(w.refused, !e.Enough)
		if e.Enough {
			snips, doubly = append(snips, e.SNIPS.Mean), append(doubly, e.Doubly.Mean)
			w.unseen = append(w.unseen, c.done(ds, present) <= 1)
			w.snips.add(e.SNIPS, value)
			w.doubly.add(e.Doubly, value)
		}
	}
	if len(snips) == len(values) {
		w.snips.first, w.doubly.first = best(snips) == best(values), best(doubly) == best(values)
	}
	return w
}

func (e *estimator) add(got mine.Estimate, truth float64) {
	e.squares = append(e.squares, (got.Mean-truth)*(got.Mean-truth))
	e.covered = append(e.covered, got.Low <= truth && truth <= got.High)
}

// draw generates a log: the present policy decides, or chance.
func (l rankedLog) draw(r random, truth [rankedKinds][rankedOptions]float64, present table) []mine.Decision {
	ds := make([]mine.Decision, l.decisions)
	for i := range ds {
		kind := r.IntN(rankedKinds)
		o := present[kind]
		if r.Float64() < l.explore {
			o = r.IntN(rankedOptions)
		}
		options := make([]mine.Option, rankedOptions)
		for k := range options {
			options[k] = mine.Option{Choice: techniques[k], Probability: l.explore / rankedOptions}
		}
		options[present[kind]].Probability += 1 - l.explore
		ds[i] = mine.Decision{Task: strconv.Itoa(i), Type: policies.TypeTechnique, Choice: techniques[o], Options: options,
			Context:  policies.Context{Task: policies.Features{Kind: policies.Kinds()[kind]}},
			Resolved: r.Float64() < truth[kind][o]}
	}
	return ds
}

// candidates returns different policies that change the present one for one kind each.
func candidates(r random, present table) (out []table) {
	for _, n := range r.Perm(rankedKinds * (rankedOptions - 1))[:rankedCandidates] {
		c := present
		c[n%rankedKinds] = (c[n%rankedKinds] + 1 + n/rankedKinds) % rankedOptions
		out = append(out, c)
	}
	return out
}

// decide returns the policy's choice in each decision of a log.
func (t table) decide(ds []mine.Decision) [][]mine.Option {
	of := map[policies.Kind][]mine.Option{}
	for kind, o := range t {
		of[policies.Kinds()[kind]] = []mine.Option{{Choice: techniques[o], Probability: 1}}
	}
	return column(ds, func(d mine.Decision) []mine.Option { return of[d.Context.Task.Kind] })
}

// done returns the number of decisions in which chance made the policy's choice and the present policy would not.
func (t table) done(ds []mine.Decision, present table) (n int) {
	other, now := t.decide(ds), present.decide(ds)
	for i, d := range ds {
		if c := other[i][0].Choice; c != now[i][0].Choice && c == d.Choice {
			n++
		}
	}
	return n
}

// best returns the index of the largest.
func best(xs []float64) (at int) {
	for i, x := range xs {
		if x > xs[at] {
			at = i
		}
	}
	return at
}
