package locate

import (
	"fmt"
	"math"
)

// Run is which lines one test ran.
type Run struct {
	Failed bool
	Blocks []Block
}

// Block is lines of a file that are run together: the first and the last. Its path may have folders in front that the
// tree does not know.
type Block struct {
	Path     string
	From, To int
}

// Bounds of coverage.
const (
	mostRuns   = 64
	mostBlocks = 10_000 // of one run
)

// runsOf is how many tests ran a block.
type runsOf struct{ failed, passed int }

// runVotes are for the files with a block that failing tests run and passing ones don't, by Ochiai's coefficient. See
// Abreu, Zoeteweij and van Gemund, "On the accuracy of spectrum-based fault localization", TAIC PART 2007. A file counts
// as much as its best block does, and of equal files the one with more lines in such blocks counts more.
func (g *gathering) runVotes() []Vote {
	counts, failing := g.countRuns()
	type best struct {
		runsOf
		score float64
		lines int // of all blocks with that score
	}
	files := map[string]best{}
	for b, n := range counts {
		if n.failed == 0 {
			continue
		}
		f := files[b.Path]
		score := float64(n.failed) / math.Sqrt(float64(failing*(n.failed+n.passed)))
		if score > f.score || score == f.score && n.failed > f.failed {
			f.runsOf = n
		}
		if score > f.score {
			f.score, f.lines = score, 0
		}
		if score == f.score {
			f.lines += min(b.To-b.From, 1000) + 1
		}
		files[b.Path] = f
	}
	var votes []Vote
	for p, f := range files {
		votes = append(votes, Vote{Path: p, Score: f.score * (1 + float64(f.lines)*1e-9), Why: fmt.Sprintf(
			"%d of %d failing tests and %d of %d passing ones ran the same lines of it", f.failed, failing, f.passed,
			len(g.query.Ran)-failing)})
	}
	return ordered(votes)
}

// countRuns counts the tests that ran each block of the tree's code, and those that fail.
func (g *gathering) countRuns() (counts map[Block]runsOf, failing int) {
	counts = map[Block]runsOf{}
	paths := map[string]string{}
	g.query.Ran = g.query.Ran[:min(len(g.query.Ran), mostRuns)]
	for _, r := range g.query.Ran {
		met := map[Block]bool{}
		for _, b := range r.Blocks[:min(len(r.Blocks), mostBlocks)] {
			if _, known := paths[b.Path]; !known {
				paths[b.Path] = g.resolve(b.Path)
			}
			b.Path = paths[b.Path]
			met[b] = isCode(b.Path) && b.From > 0 && b.To >= b.From
		}
		for b, counted := range met {
			n := counts[b]
			switch {
			case !counted:
				continue
			case r.Failed:
				n.failed++
			default:
				n.passed++
			}
			counts[b] = n
		}
		if r.Failed {
			failing++
		}
	}
	return counts, failing
}
