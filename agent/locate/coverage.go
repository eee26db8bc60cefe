package locate

import (
	"context"
	"fmt"
)

// Cover runs tests that are expected to fail, and others near them. An error means that the result is unknown.
type Cover func(ctx context.Context, failing []Test) ([]Run, error)

// Run holds the lines that one test executed.
type Run struct {
	Failed bool
	Blocks []Block
}

// Block is a range of lines that are executed together. Its path may have leading folders that are not part of the
// tree.
type Block struct {
	Path     string
	From, To int
}

// Limits of coverage.
const (
	maxRuns   = 64
	maxBlocks = 10_000 // of one run
)

// runsOf counts the tests that executed a block.
type runsOf struct{ failed, passed int }

// runVotes votes for the files that failing tests execute and passing ones execute less: each block counts the square
// of Ochiai's coefficient, which is 1 if all failing tests and no passing one execute it. See Abreu, Zoeteweij and van
// Gemund, "On the accuracy of spectrum-based fault localization", TAIC PART 2007. They rank blocks; the sum ranks a
// file with many suspicious blocks above one with a single equally suspicious block.
func (g *gathering) runVotes() []Vote {
	counts, failing := g.countRuns()
	type file struct {
		sum, limit int
		of         runsOf // of the block with the highest score
	}
	files := map[string]file{}
	for b, n := range counts {
		if n.failed == 0 {
			continue
		}
		// With integers, the sum does not depend on the order of blocks.
		f, square := files[b.Path], 1e6*n.failed*n.failed/(failing*(n.failed+n.passed))
		f.sum += square
		if square > f.limit || square == f.limit && n.failed > f.of.failed {
			f.limit, f.of = square, n
		}
		files[b.Path] = f
	}
	var votes []Vote
	for p, f := range files {
		votes = append(votes, Vote{Path: p, Score: float64(f.sum) / 1e6, Why: fmt.Sprintf(
			"%d of %d failing tests and %d of %d passing ones ran the same lines of it", f.of.failed, failing, f.of.passed,
			len(g.query.Ran)-failing)})
	}
	return sortVotes(votes)
}

// countRuns counts the tests that executed each block of the tree's code, and the failing tests.
func (g *gathering) countRuns() (counts map[Block]runsOf, failing int) {
	counts = map[Block]runsOf{}
	paths := map[string]string{}
	g.query.Ran = g.query.Ran[:min(len(g.query.Ran), maxRuns)]
	for _, r := range g.query.Ran {
		met := map[Block]bool{}
		for _, b := range r.Blocks[:min(len(r.Blocks), maxBlocks)] {
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
