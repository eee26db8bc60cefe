package locate

import (
	"context"
	"fmt"
)

// Cover runs tests that are thought to fail, and others near them. An error says nothing about them.
type Cover func(ctx context.Context, failing []Test) ([]Run, error)

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

// runVotes are for the files that failing tests run and passing ones run less: each block counts the square of Ochiai's
// coefficient, which is 1 where all failing tests and no passing one run it. See Abreu, Zoeteweij and van Gemund, "On
// the accuracy of spectrum-based fault localization", TAIC PART 2007. They rank blocks; the sum ranks a file with many
// suspect blocks before one with a single block that happens to be as suspect.
func (g *gathering) runVotes() []Vote {
	counts, failing := g.countRuns()
	type file struct {
		sum, most int
		of        runsOf // the block that counts most
	}
	files := map[string]file{}
	for b, n := range counts {
		if n.failed == 0 {
			continue
		}
		// In whole numbers the sum is the same in whatever order blocks come.
		f, square := files[b.Path], 1e6*n.failed*n.failed/(failing*(n.failed+n.passed))
		f.sum += square
		if square > f.most || square == f.most && n.failed > f.of.failed {
			f.most, f.of = square, n
		}
		files[b.Path] = f
	}
	var votes []Vote
	for p, f := range files {
		votes = append(votes, Vote{Path: p, Score: float64(f.sum) / 1e6, Why: fmt.Sprintf(
			"%d of %d failing tests and %d of %d passing ones ran the same lines of it", f.of.failed, failing, f.of.passed,
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
