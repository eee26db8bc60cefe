package located

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sia-bot/sia/agent/locate"
)

// Depths are the numbers of files at which hits are counted.
var depths = []int{1, 3, 5, 10}

// Score is a ranker's result on some tasks.
type Score struct {
	Ranker string     `json:"ranker"`
	Tasks  int        `json:"tasks"`
	Hits   [4]float64 `json:"hits"`   // share of tasks with a changed file among the first 1, 3, 5 and 10
	Recall float64    `json:"recall"` // mean share of the changed files among the first 5
}

// Case is a task with the evidence of the sources.
type Case struct {
	Task
	Files       int // candidates
	Covered     Covered
	Blind       locate.Evidence // without the message
	WithMessage locate.Evidence
}

// Gather collects the evidence for tasks of one repository. Without cover no test runs.
func (r *Repository) Gather(ctx context.Context, tasks []Task, cover *Coverage, done func(Case)) error {
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
		if c.Covered, err = cover.of(ctx, r, t, tree); err != nil {
			return fmt.Errorf("cover %s %s: %w", r.Name, t.Commit[:12], err)
		}
		q := locate.Query{Tests: t.Tests, Output: t.Output, Ran: c.Covered.Runs}
		if c.Blind, err = locate.Gather(ctx, tree, past, q); err == nil {
			q.Text = t.Message
			c.WithMessage, err = locate.Gather(ctx, tree, past, q)
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

// Rankers returns ours, and those for comparison: its sources one by one, and all with equal weights.
func Rankers() []Ranker {
	plain := locate.Weights{K: 60, Of: map[locate.Source]float64{}}
	for _, s := range locate.Sources() {
		plain.Of[s] = 1
	}
	still := locate.DefaultWeights()
	still.Of[locate.FromRuns] = 0
	out := []Ranker{
		{"ours, without the message", joined(locate.DefaultWeights(), blind)},
		{"ours, without message and coverage", joined(still, blind)},
		{"ours, with the message", joined(locate.DefaultWeights(), withMessage)},
		{"ours, with the message, without coverage", joined(still, withMessage)},
		{"ours, with the message alone", joined(locate.DefaultWeights(), messageAlone)},
		{"all sources alike, k = 60", joined(plain, blind)},
	}
	for _, s := range locate.Sources() {
		of, name := blind, string(s)+" alone"
		if s == locate.FromWords || s == locate.FromNames {
			of, name = withMessage, string(s)+" of the message alone"
		}
		out = append(out, Ranker{name, joined(locate.Weights{K: 60, Of: map[locate.Source]float64{s: 1}}, of)})
	}
	return out
}

func blind(c Case) locate.Evidence       { return c.Blind }
func withMessage(c Case) locate.Evidence { return c.WithMessage }

// messageAlone leaves out the evidence from the tests.
func messageAlone(c Case) locate.Evidence {
	return locate.Evidence{Votes: map[locate.Source][]locate.Vote{
		locate.FromNames: c.WithMessage.Votes[locate.FromNames], locate.FromWords: c.WithMessage.Votes[locate.FromWords]}}
}

func joined(w locate.Weights, of func(Case) locate.Evidence) func(Case) []string {
	return func(c Case) []string {
		var out []string
		for _, p := range of(c).Rank(w) {
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

// Held is the result of weights on tasks of held-out repositories.
type Held struct {
	Score
	Chosen map[string]locate.Weights `json:"chosen"` // on all repositories but this one
}

// LeaveOneOut chooses weights on the cases of all repositories but one and measures them on that one, for each: those
// of the sources that need no message, and then those of the message with the others as shipped. It returns nothing
// for a single repository.
func LeaveOneOut(ctx context.Context, cases []Case) ([]Held, error) {
	byRepo := map[string][]Case{}
	for _, c := range cases {
		byRepo[c.Repo] = append(byRepo[c.Repo], c)
	}
	if len(byRepo) < 2 {
		return nil, nil
	}
	var out []Held
	for _, try := range []struct {
		name string
		of   func(Case) locate.Evidence
		grid []locate.Weights
	}{
		{"without the message, weights of the others", blind, blindGrid()},
		{"with the message, weights of the others", withMessage, messageGrid()},
	} {
		h, err := leaveOneOut(ctx, byRepo, try.grid, try.of)
		if err != nil {
			return nil, err
		}
		h.Ranker, h.Tasks = try.name, len(cases)
		out = append(out, h)
	}
	return out, nil
}

func leaveOneOut(
	ctx context.Context, byRepo map[string][]Case, grid []locate.Weights, of func(Case) locate.Evidence,
) (Held, error) {
	scores, total := map[string][]Score{}, 0
	repos := slices.Sorted(maps.Keys(byRepo))
	for _, name := range repos {
		total += len(byRepo[name])
		for _, w := range grid {
			if ctx.Err() != nil {
				return Held{}, context.Cause(ctx)
			}
			scores[name] = append(scores[name], Measure(Ranker{Rank: joined(w, of)}, byRepo[name]))
		}
	}
	out := Held{Chosen: map[string]locate.Weights{}}
	for _, held := range repos {
		best, most := 0, -1.0
		for i := range grid {
			sum := 0.0
			for _, name := range repos {
				if s := scores[name][i]; name != held {
					sum += (s.Hits[0] + s.Hits[1] + s.Hits[2]) * float64(s.Tasks)
				}
			}
			if sum > most {
				best, most = i, sum
			}
		}
		out.Chosen[held] = grid[best]
		s := scores[held][best]
		share := float64(s.Tasks) / float64(total)
		for i := range s.Hits {
			out.Hits[i] += s.Hits[i] * share
		}
		out.Recall += s.Recall * share
	}
	return out, nil
}

// blindGrid returns the weights to try. Co-change stays at 1, since only ratios matter.
func blindGrid() (out []locate.Weights) {
	for _, k := range []float64{5, 10, 60} {
		for _, output := range []float64{1, 2} {
			for _, sibling := range []float64{0.25, 0.5, 0.75, 1} {
				for _, tests := range []float64{0, 0.5, 1, 1.5} {
					for _, runs := range []float64{0, 0.5, 1, 1.5, 2, 3} {
						out = append(out, locate.Weights{K: k, Of: map[locate.Source]float64{locate.FromOutput: output,
							locate.FromPast: 1, locate.FromSibling: sibling, locate.FromTests: tests, locate.FromRuns: runs}})
					}
				}
			}
		}
	}
	return out
}

// messageGrid returns the shipped weights with others for the message.
func messageGrid() (out []locate.Weights) {
	for _, names := range []float64{0, 0.25, 0.5, 1} {
		for _, words := range []float64{0.25, 0.5, 1, 1.5, 2} {
			w := locate.DefaultWeights()
			w.Of[locate.FromNames], w.Of[locate.FromWords] = names, words
			out = append(out, w)
		}
	}
	return out
}

// Misses describes the cases without a changed file among the first five, without the message.
func Misses(cases []Case) (out []string) {
	rank := joined(locate.DefaultWeights(), blind)
	for _, c := range cases {
		ranked := rank(c)
		if hits, _ := hitsOf(ranked, c.Want); hits[2] == 0 {
			out = append(out, fmt.Sprintf("%s %s: want %v, of %d tests %v, ranked %v", c.Repo, c.Commit[:12], c.Want,
				len(c.Tests), c.Tests[:min(len(c.Tests), 4)], ranked[:min(len(ranked), 5)]))
		}
	}
	return out
}
