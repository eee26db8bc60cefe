package locate

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/tool/symbol"
)

// maxTogether is the maximum number of files of a commit that counts.
const maxTogether = 60

// halfWeightAge is the age, in commits, at which a commit has half the weight of the newest.
const halfWeightAge = 300

// pastVotes votes for the files that changed together with the failing tests' files: the weight of a commit is one
// divided by the number of its files, and decreases with its age.
func (g *gathering) pastVotes() []Vote {
	tests := g.testFiles()
	if len(tests) == 0 {
		return nil
	}
	score, times, of := map[string]float64{}, map[string]map[string]int{}, map[string]int{}
	for age, c := range g.past {
		if len(c.Paths) > maxTogether {
			continue
		}
		for _, t := range tests {
			if !slices.Contains(c.Paths, t) {
				continue
			}
			of[t]++
			for _, p := range c.Paths {
				if isCode(p) && g.has(p) {
					score[p] += 1 / float64(len(c.Paths)) / (1 + float64(age)/halfWeightAge)
					if times[p] == nil {
						times[p] = map[string]int{}
					}
					times[p][t]++
				}
			}
		}
	}
	var votes []Vote
	for p, s := range score {
		with := times[p]
		often := slices.MaxFunc(slices.Sorted(maps.Keys(with)), func(a, b string) int { return with[a] - with[b] })
		votes = append(votes, Vote{Path: p, Score: s, Why: fmt.Sprintf("changed together with %s in %d of %d commits",
			path.Base(often), with[often], of[often])})
	}
	return sortVotes(votes)
}

// findReaching returns the tests that reach the files with votes: first those named after a file, then those that
// changed together with it.
func (g *gathering) findReaching(e Evidence) map[string][]string {
	voted := map[string]map[string]float64{}
	for _, s := range Sources() {
		for _, v := range e.Votes[s] {
			voted[v.Path] = map[string]float64{}
		}
	}
	for _, t := range g.tested {
		for p, sure := range g.siblings(t) {
			if near := voted[p]; near != nil {
				near[t] += 10 * sure
			}
		}
	}
	for _, c := range g.past {
		if len(c.Paths) > maxTogether {
			continue
		}
		for _, p := range c.Paths {
			near := voted[p]
			if near == nil {
				continue
			}
			for _, t := range c.Paths {
				if g.has(t) && isTest(t) && len(near) < 200 {
					near[t] += 1 / float64(len(c.Paths))
				}
			}
		}
	}
	out := map[string][]string{}
	for p, near := range voted {
		tests := slices.Sorted(maps.Keys(near))
		slices.SortStableFunc(tests, func(a, b string) int { return compareDown(near[a], near[b]) })
		for _, t := range tests {
			if len(out[p]) < maxTests && isRunnable(t) {
				out[p] = append(out[p], t)
			}
		}
	}
	return out
}

// isRunnable distinguishes tests from their data, by the path.
func isRunnable(p string) bool {
	return !strings.Contains("/"+p, "/testdata/") && !strings.Contains("/"+p, "/fixtures/") && symbol.Knows(p)
}
