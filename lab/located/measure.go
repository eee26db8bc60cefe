package located

import (
	"context"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/agent/locate"
)

// Depths are the numbers of files at which hits are counted.
var depths = []int{1, 3, 5, 10}

// Score is how a ranker did on some tasks.
type Score struct {
	Ranker string     `json:"ranker"`
	Tasks  int        `json:"tasks"`
	Hits   [4]float64 `json:"hits"`   // share of tasks with a changed file among the first 1, 3, 5 and 10
	Recall float64    `json:"recall"` // mean share of the changed files among the first 5
}

// Case is a task with what the sources say of it.
type Case struct {
	Task
	Files     int             // candidates
	Blind     locate.Evidence // without the message
	WithWords locate.Evidence
}

// Gather asks the sources about tasks of one repository.
func (r *Repository) Gather(ctx context.Context, tasks []Task, done func(Case)) error {
	for _, t := range tasks {
		tree, err := r.tree(ctx, t)
		if err != nil {
			return fmt.Errorf("rank %s %s: %w", r.Name, t.Commit[:12], err)
		}
		c, past := Case{Task: t}, r.past(t)
		for p := range tree.files {
			if locate.IsCandidate(p) {
				c.Files++
			}
		}
		q := locate.Query{Tests: t.Tests, Output: t.Output}
		if c.Blind, err = locate.Gather(ctx, tree, past, q); err == nil {
			q.Text = t.Message
			c.WithWords, err = locate.Gather(ctx, tree, past, q)
		}
		if err != nil {
			return fmt.Errorf("rank %s %s: %w", r.Name, t.Commit[:12], err)
		}
		done(c)
	}
	return nil
}

// Ranker orders files for a case, best first.
type Ranker struct {
	Name string
	Rank func(Case) []string
}

// Rankers are ours, and what it is measured against: its sources one by one.
func Rankers() []Ranker {
	out := []Ranker{
		{"ours, without the message", joined(locate.Shipped(), false)},
		{"ours, with the message", joined(locate.Shipped(), true)},
		{"all sources alike, without the message", joined(alike(), false)},
	}
	for _, s := range locate.Sources() {
		text := s == locate.FromWords || s == locate.FromNames
		name := string(s) + " alone"
		if text {
			name += ", of the message"
		}
		out = append(out, Ranker{name, joined(locate.Weights{s: 1}, text)})
	}
	return out
}

func alike() locate.Weights {
	w := locate.Weights{}
	for _, s := range locate.Sources() {
		w[s] = 1
	}
	return w
}

func joined(w locate.Weights, text bool) func(Case) []string {
	return func(c Case) []string {
		e := c.Blind
		if text {
			e = c.WithWords
		}
		var out []string
		for _, p := range e.Rank(w) {
			out = append(out, p.Path)
		}
		return out
	}
}

// Measure scores a ranker on cases.
func Measure(r Ranker, cases []Case) Score {
	s := Score{Ranker: r.Name, Tasks: len(cases)}
	if len(cases) == 0 {
		return s
	}
	for _, c := range cases {
		hits, recall := hitsOf(r.Rank(c), c.Want)
		for i := range hits {
			s.Hits[i] += hits[i] / float64(len(cases))
		}
		s.Recall += recall / float64(len(cases))
	}
	return s
}

func hitsOf(ranked, want []string) (hits [4]float64, recall float64) {
	for i, p := range ranked {
		if !slices.Contains(want, p) {
			continue
		}
		for d, n := range depths {
			if i < n {
				hits[d] = 1
			}
		}
		if i < 5 {
			recall += 1 / float64(len(want))
		}
	}
	return hits, recall
}

// LeaveOneOut chooses the weights of the sources that need no message on the cases of all repositories but one, and
// measures them on that one. chosen are the weights that the most repositories would have had.
func LeaveOneOut(ctx context.Context, cases []Case) (Score, map[string]locate.Weights, error) {
	out := Score{Ranker: "weights of the other repositories", Tasks: len(cases)}
	repos := []string{}
	for _, c := range cases {
		if !slices.Contains(repos, c.Repo) {
			repos = append(repos, c.Repo)
		}
	}
	if len(repos) < 2 {
		return out, nil, nil
	}
	grid := weightGrid()
	type tally struct {
		good  float64
		score Score
	}
	at := map[string][]tally{} // by repository, for each of the grid
	for _, w := range grid {
		if ctx.Err() != nil {
			return out, nil, context.Cause(ctx)
		}
		r := Ranker{Rank: joined(w, false)}
		for _, name := range repos {
			own := slices.DeleteFunc(slices.Clone(cases), func(c Case) bool { return c.Repo != name })
			s := Measure(r, own)
			at[name] = append(at[name], tally{(s.Hits[0] + s.Hits[1] + s.Hits[2]) * float64(len(own)), s})
		}
	}
	chosen := map[string]locate.Weights{}
	for _, held := range repos {
		best, most := 0, -1.0
		for i := range grid {
			sum := 0.0
			for _, name := range repos {
				if name != held {
					sum += at[name][i].good
				}
			}
			if sum > most {
				best, most = i, sum
			}
		}
		chosen[held] = grid[best]
		s := at[held][best].score
		share := float64(s.Tasks) / float64(len(cases))
		for i := range s.Hits {
			out.Hits[i] += s.Hits[i] * share
		}
		out.Recall += s.Recall * share
	}
	return out, chosen, nil
}

// weightGrid are the weights that are tried. Co-change stays at 1: only what they are to one another counts.
func weightGrid() (out []locate.Weights) {
	for _, output := range []float64{1, 2, 4} {
		for _, calls := range []float64{0, 0.25, 0.5, 1, 1.5, 2} {
			for _, sibling := range []float64{0, 0.5, 1, 1.5, 2} {
				out = append(out, locate.Weights{locate.FromOutput: output, locate.FromCalls: calls, locate.FromPast: 1,
					locate.FromSibling: sibling})
			}
		}
	}
	return out
}

// Misses describes the cases of which no changed file is among the first five without the message.
func Misses(cases []Case) (out []string) {
	rank := joined(locate.Shipped(), false)
	for _, c := range cases {
		ranked := rank(c)
		if hits, _ := hitsOf(ranked, c.Want); hits[2] == 0 {
			out = append(out, fmt.Sprintf("%s %s: want %v, of %d tests %v, ranked %v", c.Repo, c.Commit[:12], c.Want,
				len(c.Tests), c.Tests[:min(len(c.Tests), 4)], ranked[:min(len(ranked), 5)]))
		}
	}
	return out
}
