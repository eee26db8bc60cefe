package recorded

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/sia-bot/sia/policies/coder"
)

// Plan configures what to play.
type Plan struct {
	Table   Table
	Train   *Table    // other tasks, to train on; nil: random halves of Table, in turn
	Values  []float64 // value of a resolved task in USD, each above 0
	Halves  int       // without Train: number of random halves, at least 1
	Streams int       // random streams of all tasks, at least 1
	Seed    uint64
	// Parameters are the learner's. While it does not learn it does not explore either.
	Parameters coder.Parameters
}

// Section is the result of all players in one setting.
type Section struct {
	Setting string  `json:"setting"` // "offline", "online, tasks 1–100"
	Value   float64 `json:"value"`   // USD
	Tasks   int     `json:"tasks"`   // played
	Rows    []Row   `json:"rows"`
}

// The first window of a stream, and the start of the last one if there are enough tasks.
const (
	early = 100
	late  = 200
)

// Run plays a plan, on all cores, until ctx is done. The same plan gives the same
// result on any number of cores.
func Run(ctx context.Context, p Plan) ([]Section, error) {
	if p.Halves < 1 || p.Streams < 1 || len(p.Values) == 0 {
		return nil, fmt.Errorf("play recorded outcomes: want at least one half, stream and value, not %d, %d and %d",
			p.Halves, p.Streams, len(p.Values))
	}
	for _, v := range p.Values {
		if !(v > 0) {
			return nil, fmt.Errorf("play recorded outcomes: a resolved task is worth %v USD, want more than 0", v)
		}
	}
	splits, all, err := p.splits()
	if err != nil {
		return nil, err
	}
	offline := make([]stage, len(splits))
	if err := parallel(ctx, len(splits), func(i int) error { return offline[i].offline(p, splits[i]) }); err != nil {
		return nil, fmt.Errorf("play offline: %w", err)
	}
	online := make([]stage, p.Streams)
	if err := parallel(ctx, p.Streams, func(i int) error { return online[i].online(p, all, i) }); err != nil {
		return nil, fmt.Errorf("play online: %w", err)
	}
	return append(p.sections(offline), p.sections(online)...), nil
}

// split is some tasks to train on and others to play.
type split struct {
	Table       // with the models of all tasks
	train, play []*Task
}

// splits returns the splits that are played offline, and all tasks, which are played online.
func (p Plan) splits() ([]split, Table, error) {
	if p.Train != nil {
		all, err := p.Train.plus(p.Table)
		if err != nil {
			return nil, Table{}, err
		}
		tasks, n := all.pointers(), len(p.Train.Tasks)
		return []split{{all, tasks[:n], tasks[n:]}}, all, nil
	}
	if len(p.Table.Tasks) < 2 {
		return nil, Table{}, errors.New("play recorded outcomes: halves need at least two tasks")
	}
	out := make([]split, p.Halves)
	for i := range out {
		tasks := shuffled(p.Table, p.Seed, uint64(2*i))
		half := len(tasks) / 2
		out[i] = split{p.Table, tasks[:half], tasks[half:]}
	}
	return out, p.Table, nil
}

func (t Table) pointers() []*Task {
	out := make([]*Task, len(t.Tasks))
	for i := range out {
		out[i] = &t.Tasks[i]
	}
	return out
}

func shuffled(t Table, seed, stream uint64) []*Task {
	tasks := t.pointers()
	rand.New(rand.NewPCG(seed, stream)).Shuffle(len(tasks), func(a, b int) { tasks[a], tasks[b] = tasks[b], tasks[a] })
	return tasks
}

// stage collects the results of plays: setting → value → player → task.
type stage struct {
	settings []string
	players  []string
	plays    map[cell]map[string]*sums
}

type cell struct {
	setting, player string
	value           float64
}

func (s *stage) add(c cell, t *Task, sc score) {
	if s.plays == nil {
		s.plays = map[cell]map[string]*sums{}
	}
	if s.plays[c] == nil {
		s.plays[c] = map[string]*sums{}
	}
	if s.plays[c][t.Name] == nil {
		s.plays[c][t.Name] = &sums{}
	}
	s.plays[c][t.Name].add(sc.sums())
	if !slices.Contains(s.settings, c.setting) {
		s.settings = append(s.settings, c.setting)
	}
	if !slices.Contains(s.players, c.player) {
		s.players = append(s.players, c.player)
	}
}

// contender is a player with its name.
type contender struct {
	name string
	player
}

// simple returns the players that don't learn; they know the models from some tasks.
func simple(t Table, known []*Task, seed uint64) []contender {
	rs := records(t, known)
	strong := by(rs, strongest)
	return []contender{
		{"strongest alone", strong[:1]},
		{"strongest first", strong},
		{"cheapest first", by(rs, cheapest)},
		{"random", &chance{Rand: rand.New(rand.NewPCG(seed, 1)), models: len(t.Models)}},
	}
}

func (s *stage) offline(p Plan, sp split) error {
	params := p.Parameters
	params.Explore, params.Optimism = 0, 0
	learner := coder.New(params)
	us := &ours{learner: learner, models: sp.Models, seed: p.Seed}
	us.train(sp.train)
	for _, value := range p.Values {
		us.value = value
		for _, c := range append(simple(sp.Table, sp.train, p.Seed),
			contender{"order by index, trained", best(sp.Table, sp.train, value)},
			contender{"order by index, in hindsight", best(sp.Table, sp.play, value)},
			contender{"ours", us}) {
			for _, t := range sp.play {
				s.add(cell{"offline", c.name, value}, t, play(c, t, value))
			}
		}
	}
	return nil
}

func (s *stage) online(p Plan, all Table, stream int) error {
	tasks := shuffled(all, p.Seed, uint64(2*stream+1))
	rs := records(all, tasks)
	prices := make([]float64, len(rs))
	for m, r := range rs {
		prices[m] = r.cost
	}
	for _, value := range p.Values {
		learner := coder.New(p.Parameters)
		for _, c := range append(simple(all, tasks, p.Seed+uint64(stream)),
			contender{"order by index, in hindsight", best(all, tasks, value)},
			contender{"ours", &ours{learner: learner, models: all.Models, value: value, prices: prices, online: true,
				seed: p.Seed + uint64(stream)}}) {
			for i, t := range tasks {
				sc := play(c, t, value)
				if w := window(i, len(tasks)); w != "" {
					s.add(cell{w, c.name, value}, t, sc)
				}
			}
		}
	}
	return nil
}

// window names the window of the i-th task of a stream, if any.
func window(i, tasks int) string {
	last := early
	if tasks >= 2*late {
		last = late
	}
	switch {
	case i < early:
		return fmt.Sprintf("online, tasks 1–%d", min(early, tasks))
	case i >= last:
		return fmt.Sprintf("online, tasks %d–%d", last+1, tasks)
	}
	return ""
}

// sections returns the sections of stages, in their order.
func (p Plan) sections(stages []stage) (out []Section) {
	for _, setting := range stages[0].settings {
		for _, value := range p.Values {
			sec := Section{Setting: setting, Value: value}
			for _, player := range stages[0].players {
				tasks := p.tasks(stages, cell{setting, player, value})
				sec.Tasks = len(tasks)
				sec.Rows = append(sec.Rows, row(player, tasks, p.Seed))
			}
			out = append(out, sec)
		}
	}
	return out
}

// tasks returns the sums of one cell over all stages, by task in the order of their names.
func (p Plan) tasks(stages []stage, c cell) []sums {
	total := map[string]*sums{}
	var names []string
	for _, s := range stages {
		for name, one := range s.plays[c] {
			if total[name] == nil {
				total[name] = &sums{}
				names = append(names, name)
			}
			total[name].add(*one)
		}
	}
	slices.Sort(names)
	out := make([]sums, len(names))
	for i, name := range names {
		out[i] = *total[name]
	}
	return out
}

// parallel calls f for 0 to n-1 on all cores, until ctx is done.
func parallel(ctx context.Context, n int, f func(i int) error) error {
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		all.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return f(i)
		})
	}
	return all.Wait()
}
