package locate

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/tool/symbol"
)

// maxTogether is how many files a commit may have changed to say which belong together.
const maxTogether = 60

// fadesAfter is after how many commits one counts half as much as the newest.
const fadesAfter = 300

// pastVotes are for the files that changed together with the failing tests' files: each commit counts one divided by
// the number of files that it changed, and the less the longer ago it was.
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
					score[p] += 1 / float64(len(c.Paths)) / (1 + float64(age)/fadesAfter)
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
	return ordered(votes)
}

// reaching finds the tests that reach the files that have votes: those that are named after it first, then those that
// changed together with it.
func (g *gathering) reaching(e Evidence) map[string][]string {
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
			if len(out[p]) < mostTests && isRunnable(t) {
				out[p] = append(out[p], t)
			}
		}
	}
	return out
}

// isRunnable tells tests from the data that they read, as far as a name tells.
func isRunnable(p string) bool {
	return !strings.Contains("/"+p, "/testdata/") && !strings.Contains("/"+p, "/fixtures/") && symbol.Knows(p)
}
