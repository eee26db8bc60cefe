package synthetic

import (
	"context"
	"fmt"
	"slices"
)

// approaches is the number of techniques that are tried before a task goes to a person.
const approaches = 5

// Windows are the numbers of tasks at which the windows of the figures end.
var Windows = []int{50, 200, 1000, 5000}

// Plan configures what to play.
type Plan struct {
	Parameters Parameters `json:"parameters"`
	Seed       uint64     `json:"seed"`
	Worlds     int        `json:"worlds"`    // at least 1
	Tasks      int        `json:"tasks"`     // in each world, at least 1
	Ablations  bool       `json:"ablations"` // also ours without one part at a time
}

// Figures are a policy's results in a number of tasks. All except Tasks are
// means over them.
type Figures struct {
	Tasks    int     `json:"tasks"`
	Resolved float64 `json:"resolved"` // within the approaches, 0–1
	First    float64 `json:"first"`    // by the first technique, 0–1
	Tried    float64 `json:"tried"`    // techniques per task
	Cost     float64 `json:"cost"`     // per task, including a person's, in usual attempts
}

// Row is one policy's figures.
type Row struct {
	Policy     string    `json:"policy"`
	Windows    []Figures `json:"windows"` // one for each window that has tasks
	Overall    Figures   `json:"overall"`
	OverRules  Gain      `json:"over_rules"`  // over the fixed rules
	OverExpert Gain      `json:"over_expert"` // over the expert table
}

// Gain is the difference of two policies' shares of resolved tasks, on the same tasks, as the mean over worlds.
type Gain struct {
	Mean float64 `json:"mean"` // 0–1
	Half float64 `json:"half"` // half of its 95 % interval, over random worlds
}

// Result is a table. Its figures are synthetic.
type Result struct {
	Plan
	Windows []string `json:"windows"` // "1–50"
	Rows    []Row    `json:"rows"`
}

// sums are a policy's results in one window of one world.
type sums struct {
	tasks, resolved, first, tried int
	cost                          float64
}

func (s *sums) add(o sums) {
	s.tasks += o.tasks
	s.resolved += o.resolved
	s.first += o.first
	s.tried += o.tried
	s.cost += o.cost
}

func (s sums) figures() Figures {
	n := float64(max(1, s.tasks))
	return Figures{Tasks: s.tasks, Resolved: float64(s.resolved) / n, First: float64(s.first) / n,
		Tried: float64(s.tried) / n, Cost: s.cost / n}
}

// Run plays a plan with every policy, on all cores, until ctx is done. The same
// plan gives the same result on any number of cores.
func Run(ctx context.Context, p Plan) (Result, error) {
	if p.Worlds < 1 || p.Tasks < 1 {
		return Result{}, fmt.Errorf("a plan has at least one world and one task, not %d and %d", p.Worlds, p.Tasks)
	}
	// world → policy → window
	worlds, err := inWorlds(ctx, p.Worlds, func(i int) ([][]sums, error) { return p.world(ctx, i) })
	if err != nil {
		return Result{}, err
	}
	return p.result(worlds), nil
}

func (p Plan) contenders() []contender {
	if p.Ablations {
		return slices.Concat(contenders, ablations)
	}
	return contenders
}

// world plays the i-th world with every policy.
func (p Plan) world(ctx context.Context, i int) ([][]sums, error) {
	seed := seedOf(p.Seed, i)
	w, err := NewWorld(p.Parameters, seed)
	if err != nil {
		return nil, err
	}
	r := newRandom(seed, 2)
	tasks := make([]Task, p.Tasks)
	for t := range tasks {
		tasks[t] = w.draw(r)
	}
	all := make([][]sums, len(p.contenders()))
	for c, contender := range p.contenders() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		player, err := contender.player(w, seed)
		if err != nil {
			return nil, err
		}
		all[c] = play(player, tasks)
	}
	return all, nil
}

// play lets a player play tasks in their order.
func play(p player, tasks []Task) []sums {
	out := []sums{{}}
	tried := make([]int, 0, approaches)
	for i := range tasks {
		window := len(out) - 1
		if window < len(Windows)-1 && i >= Windows[window] {
			out = append(out, sums{})
			window++
		}
		var resolved bool
		tried, resolved = playOne(p, &tasks[i], tried[:0])
		s := sums{tasks: 1, tried: len(tried)}
		for _, k := range tried {
			s.cost += costs[k]
		}
		if resolved {
			s.resolved = 1
		} else {
			s.cost += personCost
		}
		if resolved && len(tried) == 1 {
			s.first = 1
		}
		out[window].add(s)
	}
	return out
}

// playOne lets a player play a task. It returns the tried techniques, appended to
// tried, and whether the last one resolved the task.
func playOne(p player, t *Task, tried []int) (_ []int, resolved bool) {
	used := uint(0)
	for len(tried) < approaches && !resolved {
		k := p.choose(t, tried, used)
		tried, used, resolved = append(tried, k), used|1<<k, t.resolves[k]
	}
	return tried, resolved
}

// result sums up worlds, in their order.
func (p Plan) result(worlds [][][]sums) Result {
	res := Result{Plan: p, Windows: p.windows()}
	for c, contender := range p.contenders() {
		row := Row{Policy: contender.name}
		var overall sums
		windows := make([]sums, len(res.Windows))
		for _, w := range worlds {
			for i, s := range w[c] {
				windows[i].add(s)
				overall.add(s)
			}
		}
		for _, s := range windows {
			row.Windows = append(row.Windows, s.figures())
		}
		row.Overall = overall.figures()
		row.OverRules, row.OverExpert = p.gain(worlds, c, FixedRules), p.gain(worlds, c, ExpertTable)
		res.Rows = append(res.Rows, row)
	}
	return res
}

// gain returns the gain of the c-th contender over the named one.
func (p Plan) gain(worlds [][][]sums, c int, over string) Gain {
	other := slices.IndexFunc(p.contenders(), func(c contender) bool { return c.name == over })
	resolved := func(windows []sums) float64 {
		var all sums
		for _, s := range windows {
			all.add(s)
		}
		return all.figures().Resolved
	}
	mean, half := meanOf(column(worlds, func(w [][]sums) float64 { return resolved(w[c]) - resolved(w[other]) }))
	return Gain{mean, half}
}

// windows returns the names of the windows that the plan's tasks reach.
func (p Plan) windows() (names []string) {
	from := 1
	for i, end := range Windows {
		if from > p.Tasks {
			break
		}
		if i == len(Windows)-1 {
			end = max(end, p.Tasks)
		}
		names = append(names, fmt.Sprintf("%d–%d", from, min(end, p.Tasks)))
		from = end + 1
	}
	return names
}
