package synthetic

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/sia-bot/sia/policies/priors"
)

// What is played to measure what priors of other installations are worth.
const (
	ownRepos = 5   // repositories of an installation, which is one organisation
	ownTasks = 200 // that each installation shares, and that the experienced one has behind it
	newTasks = 50  // the first ones of a new installation, by which all are measured
	arrivals = 8   // new installations in a world
)

// Priors measures what a new installation gains by the priors of others. In each of so many worlds
// installations that differ, but have techniques and patterns in common, play 200 tasks each. Their counts
// are blurred, signed, read, put together, signed and read again by the code that ships. Then the first 50 tasks of
// other installations are played three times: knowing nothing, with the priors, and after 200 tasks of
// their own. The same arguments give the same figures on any number of cores.
func Priors(ctx context.Context, seed uint64, worlds, installations int) ([]Figure, error) {
	if worlds < 1 || installations < 1 {
		return nil, fmt.Errorf("figures are measured in at least one world of one installation, not %d of %d", worlds, installations)
	}
	played, err := inWorlds(ctx, worlds, func(i int) (newcomer, error) {
		return playNewcomers(ctx, installations, seedOf(seed, i))
	})
	if err != nil {
		return nil, fmt.Errorf("measure priors: %w", err)
	}
	m := measure{seed, worlds}
	figure := func(name, what, bar string) Figure {
		return m.figure(fmt.Sprintf("priors.%d.%s", installations, name),
			fmt.Sprintf("%d installations of %d tasks", installations, ownTasks), what, bar)
	}
	share := func(name, of string, rate func(newcomer) float64) Figure {
		return figure(name, "first technique resolves: "+of, "").meanShare(column(played, rate))
	}
	points := func(name, what, bar string, rate func(newcomer) float64) Figure {
		f := figure(name, what+", paired", bar)
		mean, half := meanOf(column(played, rate))
		f.Unit, f.Value, f.Low, f.High, f.Times = Points, 100*mean, 100*(mean-half), 100*(mean+half), worlds
		return f
	}
	return []Figure{
		share("alone", "a new installation that knows nothing", func(x newcomer) float64 { return x.alone }),
		share("told", "a new installation with priors", func(x newcomer) float64 { return x.told }),
		share("experienced", fmt.Sprintf("after %d tasks of its own", ownTasks), func(x newcomer) float64 { return x.experienced }),
		points("gain", "what priors add", "", func(x newcomer) float64 { return x.told - x.alone }),
		points("behind", "how far behind its own tasks they are", "≤ 2 points", func(x newcomer) float64 {
			return x.experienced - x.told
		}),
	}, nil
}

// newcomer is in how many of the first tasks the first technique resolved, each a share of those of all new
// installations of a world.
type newcomer struct{ alone, told, experienced float64 }

// playNewcomers plays a world of n installations that share, and of new ones.
func playNewcomers(ctx context.Context, n int, seed uint64) (out newcomer, err error) {
	p := DefaultParameters((n + arrivals) * ownRepos)
	p.ReposPerOrg = ownRepos
	w, err := NewWorld(p, seed)
	if err != nil {
		return out, err
	}
	var reports []priors.Report
	for i := range n {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		r, err := w.report(i, seed)
		if err != nil {
			return out, err
		}
		reports = append(reports, r)
	}
	shared, err := published(reports, seed)
	if err != nil {
		return out, err
	}
	for i := range arrivals {
		if err := errors.Join(ctx.Err(), out.arrive(w, n+i, shared, seed)); err != nil {
			return out, err
		}
	}
	return out, nil
}

// arrive plays the first tasks of a new installation.
func (x *newcomer) arrive(w *World, installation int, shared *priors.Priors, seed uint64) error {
	own, next := w.tasksOf(installation, seed, 3, ownTasks), w.tasksOf(installation, seed, 4, newTasks)
	for _, as := range []struct {
		into   *float64
		before []Task
		told   *priors.Priors
	}{{&x.alone, nil, nil}, {&x.told, nil, shared}, {&x.experienced, own, nil}} {
		player, err := variant{}.player(w, seed)
		if err != nil {
			return err
		}
		player.(*learned).imported = as.told
		firsts(player, as.before)
		for _, f := range firsts(player, next) {
			if f.resolved {
				*as.into += 1. / (arrivals * newTasks)
			}
		}
	}
	return nil
}

// tasksOf are tasks of an installation.
func (w *World) tasksOf(installation int, seed, stream uint64, n int) []Task {
	r := newRandom(seed, stream<<32|uint64(installation))
	out := make([]Task, n)
	for i := range out {
		out[i] = w.drawIn(r, installation*ownRepos+r.IntN(ownRepos))
	}
	return out
}

// languageOf is the language of a repository. Those of an installation differ.
func languageOf(repo int) string { return priors.Languages()[repo%len(priors.Languages())] }

// first is what the first technique in a task came to.
type first struct {
	technique int
	resolved  bool
}

// firsts lets a player play tasks in their order.
func firsts(p player, tasks []Task) (out []first) {
	for i := range tasks {
		tried, resolved := playOne(p, &tasks[i], nil)
		out = append(out, first{tried[0], resolved && len(tried) == 1})
	}
	return out
}

// report is what an installation shares after its tasks, signed and read again.
func (w *World) report(installation int, seed uint64) (r priors.Report, err error) {
	player, err := variant{}.player(w, seed)
	if err != nil {
		return r, err
	}
	tasks := w.tasksOf(installation, seed, 3, ownTasks)
	var outcomes []priors.Outcome
	for i, f := range firsts(player, tasks) {
		outcomes = append(outcomes, priors.Outcome{Task: strconv.Itoa(i), Language: languageOf(tasks[i].repo),
			Pattern: natures[tasks[i].diagnosed].name, Technique: techniques[f.technique], Resolved: f.resolved})
	}
	counts, _ := priors.Count(outcomes, nil)
	bytes := seeded(seed, uint64(installation))
	key, err := priors.NewKey(bytes)
	if err != nil {
		return r, err
	}
	if r.Counts, err = counts.Blur(priors.NewNoise(bytes)); err != nil {
		return r, err
	}
	r.Period = 1
	signed, err := r.Sign(key)
	if err != nil {
		return r, err
	}
	return priors.ReadReport(signed)
}

// published are the priors of some reports, signed and read again.
func published(reports []priors.Report, seed uint64) (*priors.Priors, error) {
	key, err := priors.NewKey(seeded(seed, 1<<40))
	if err != nil {
		return nil, err
	}
	p, err := priors.Aggregate(slices.Clone(reports), time.Unix(0, 0))
	if err != nil {
		return nil, err
	}
	signed, err := p.Sign(key)
	if err != nil {
		return nil, err
	}
	p, _, err = priors.ReadPriors(signed, []string{key.Public()})
	return p, err
}

// seeded are bytes that are the same again, in the place of those of crypto/rand.
func seeded(seed, stream uint64) *rand.ChaCha8 {
	var s [32]byte
	binary.LittleEndian.PutUint64(s[:], seed)
	binary.LittleEndian.PutUint64(s[8:], stream)
	return rand.NewChaCha8(s)
}
