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

	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/policies/priors"
)

// The numbers for measuring priors of other installations.
const (
	ownRepos = 5   // repositories of an installation, which is one organisation
	ownTasks = 200 // shared by each installation, and played by the experienced one
	newTasks = 50  // the first ones of a new installation, for the figures
	arrivals = 20  // new installations in a world
)

// Priors measures what a new installation gains by the priors of others. In each of so many worlds
// different installations, with common techniques and patterns, play 200 tasks each. The released code adds noise to
// their counts, and signs, reads, aggregates, signs and reads them again. Then the first 50 tasks of
// other installations are played: without data, with the priors, and after 200 tasks of their own. To explain
// the difference of the last two, they are played twice more: with the same counts without
// noise, and after 200 tasks with the model's ratings and without outcomes. A first technique
// counts by its chance to resolve the task, which is known in a simulated world and varies less than
// the outcome. The same arguments give the same figures on any number of cores.
func Priors(ctx context.Context, seed uint64, worlds, installations int) ([]Figure, error) {
	if worlds < 1 || installations < 1 {
		return nil, fmt.Errorf("figures are measured in at least one world of one installation, not %d of %d",
			worlds, installations)
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
		return figure(name, what+", paired", bar).meanPoints(column(played, rate))
	}
	own := fmt.Sprintf("after %d tasks of its own", ownTasks)
	return []Figure{
		share("alone", "a new installation that knows nothing", func(x newcomer) float64 { return x.alone }),
		share("told", "a new installation with priors", func(x newcomer) float64 { return x.told }),
		share("exact", "with what the others counted, without noise or a limit", func(x newcomer) float64 { return x.exact }),
		share("heard", own+", with what the model said of them but no outcome", func(x newcomer) float64 { return x.heard }),
		share("experienced", own, func(x newcomer) float64 { return x.experienced }),
		points("gain", "what priors add", "", func(x newcomer) float64 { return x.told - x.alone }),
		points("behind", "how far behind its own tasks they are", "≤ 2 points", func(x newcomer) float64 {
			return x.experienced - x.told
		}),
		points("noise", "of that by noise and what is made of it", "", func(x newcomer) float64 { return x.exact - x.told }),
		points("heard-gain", "what hearing the model adds without outcomes", "",
			func(x newcomer) float64 { return x.heard - x.alone }),
	}, nil
}

// newcomer is the mean chance of the first technique in the first tasks, over all new installations
// of a world.
type newcomer struct{ alone, told, exact, heard, experienced float64 }

// playNewcomers plays a world of n installations that share, and of new ones.
func playNewcomers(ctx context.Context, n int, seed uint64) (out newcomer, err error) {
	p := EasyParameters((n + arrivals) * ownRepos)
	p.ReposPerOrg = ownRepos
	w, err := NewWorld(p, seed)
	if err != nil {
		return out, err
	}
	var reports []priors.Report
	exact := exactCounts{}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		r, err := w.report(i, seed, exact)
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
		if err := errors.Join(ctx.Err(), out.playFirst(w, n+i, shared, exact, seed)); err != nil {
			return out, err
		}
	}
	return out, nil
}

// exactCounts has the outcomes of the first techniques of all installations together, in all languages.
type exactCounts map[priors.Cell]bandit.Tally

func (e exactCounts) technique(_, pattern, technique string) bandit.Tally {
	return e[priors.Cell{Language: priors.Any, Pattern: pattern, Technique: technique}]
}

func (e exactCounts) add(o priors.Outcome) {
	c := priors.Cell{Language: priors.Any, Pattern: o.Pattern, Technique: o.Technique}
	t := e[c]
	t.Tried++
	if o.Resolved {
		t.Resolved++
	}
	e[c] = t
}

// playFirst plays the first tasks of a new installation.
func (x *newcomer) playFirst(w *World, installation int, shared *priors.Priors, exact exactCounts, seed uint64) error {
	own, next := w.tasksOf(installation, seed, 3, ownTasks), w.tasksOf(installation, seed, 4, newTasks)
	told := func(language, pattern, technique string) bandit.Tally {
		return bandit.Tally(shared.Technique(language, pattern, technique))
	}
	for _, as := range []struct {
		into       *float64
		before     []Task
		unobserved bool // outcomes of the earlier tasks are not reported
		told       imported
	}{{into: &x.alone}, {into: &x.told, told: told}, {into: &x.exact, told: exact.technique},
		{into: &x.heard, before: own, unobserved: true}, {into: &x.experienced, before: own}} {
		player, err := variant{}.player(w, seed)
		if err != nil {
			return err
		}
		p := player.(*learned)
		p.imported, p.unobserved = as.told, as.unobserved
		firstResults(p, as.before)
		p.unobserved = false
		for i, f := range firstResults(p, next) {
			*as.into += w.chance(&next[i], f.technique) / (arrivals * newTasks)
		}
	}
	return nil
}

// tasksOf returns tasks of an installation.
func (w *World) tasksOf(installation int, seed, stream uint64, n int) []Task {
	r := newRandom(seed, stream<<32|uint64(installation))
	out := make([]Task, n)
	for i := range out {
		out[i] = w.drawIn(r, installation*ownRepos+r.IntN(ownRepos))
	}
	return out
}

// languageOf returns the language of a repository. Those of an installation differ.
func languageOf(repo int) string { return priors.Languages()[repo%len(priors.Languages())] }

// first is the result of the first technique in a task.
type first struct {
	technique int
	resolved  bool
}

// firstResults lets a player play tasks in their order.
func firstResults(p player, tasks []Task) (out []first) {
	for i := range tasks {
		tried, resolved := playOne(p, &tasks[i], nil)
		out = append(out, first{tried[0], resolved && len(tried) == 1})
	}
	return out
}

// report returns an installation's report after its tasks, signed and read again. The counts without noise are
// added to exact.
func (w *World) report(installation int, seed uint64, exact exactCounts) (r priors.Report, err error) {
	player, err := variant{}.player(w, seed)
	if err != nil {
		return r, err
	}
	tasks := w.tasksOf(installation, seed, 3, ownTasks)
	var outcomes []priors.Outcome
	for i, f := range firstResults(player, tasks) {
		o := priors.Outcome{Task: strconv.Itoa(i), Language: languageOf(tasks[i].repo),
			Pattern: natures[tasks[i].diagnosed].name, Technique: techniques[f.technique], Resolved: f.resolved}
		outcomes = append(outcomes, o)
		exact.add(o)
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

// published returns the priors of some reports, signed and read again.
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

// seeded is a deterministic replacement for crypto/rand.
func seeded(seed, stream uint64) *rand.ChaCha8 {
	var s [32]byte
	binary.LittleEndian.PutUint64(s[:], seed)
	binary.LittleEndian.PutUint64(s[8:], stream)
	return rand.NewChaCha8(s)
}
