package locate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limits of an answer.
const (
	MaxPlaces = 10   // files in an answer
	maxVotes  = 200  // votes of a source
	maxTests  = 3    // tests named with a file
	maxPast   = 3000 // commits that are read
)

// File is a regular file of the tree.
type File struct {
	Path string // slash-separated, relative to the root
	Size int64  // bytes
}

// Tree is the repository to change.
type Tree interface {
	// Files lists all files, in any order, except those ignored by git.
	Files(ctx context.Context) ([]File, error)
	// Read returns the first limit bytes of a file. On error the file is skipped. It is called concurrently.
	Read(ctx context.Context, path string, limit int64) ([]byte, error)
}

// Commit holds the files changed by a commit.
type Commit struct {
	Paths []string
}

// Test is a failing test.
type Test struct {
	File string // file that defines it; "": searched for by name
	Name string // the runner's name, such as "TestParse/empty" or "Parser > reads numbers"; "": all of File's tests
}

// Query is what is known about the fault. All fields are optional.
type Query struct {
	Text   string   // of an issue: title, body, stack traces
	Output []string // of failures: logs and excerpts
	Tests  []Test   // failing tests; those named in Output are added
	Ran    []Run    // coverage of failing tests, and of similar passing ones
}

// Source is a heuristic for the location of a fault.
type Source string

// The sources.
const (
	FromOutput  Source = "output"     // files named in failing output
	FromPast    Source = "co-change"  // files that changed together with the tests
	FromSibling Source = "sibling"    // files that tests are named after
	FromWords   Source = "words"      // files containing the words
	FromNames   Source = "names"      // files named in the issue, or defining names in it
	FromTests   Source = "test words" // files containing the failing tests' words
	FromRuns    Source = "coverage"   // files that failing tests execute, and passing tests less
)

// Sources returns all sources, in a fixed order.
func Sources() []Source {
	return []Source{FromOutput, FromPast, FromSibling, FromRuns, FromTests, FromNames, FromWords}
}

// Vote is a vote of one source for a file. Votes are sorted, best first. Votes with equal scores are equal.
type Vote struct {
	Path  string
	Score float64 // above 0; comparable only within one source
	Why   string  // short reason
}

// Evidence holds the votes of the sources for one query.
type Evidence struct {
	Votes map[Source][]Vote
	reach map[string][]string // tests that reach a file, by its path

	unread int // source files beyond the limits
}

// Place is a file that may contain the fault.
type Place struct {
	Path  string
	Score float64  // comparable only within one answer
	Why   []string // short reasons of the sources, the strongest first
	Tests []string // test files that reach it, the nearest first; at most three
}

// Weights configure how votes are combined.
type Weights struct {
	// K dampens the first ranks: a file's share from a source is Of / (K + rank).
	K float64
	// Of is the weight of each source; missing ones are ignored.
	Of map[Source]float64
}

// Shipped returns the default weights. docs/adr/0024-where-a-change-belongs.md has the measurements behind them.
func DefaultWeights() Weights {
	return Weights{K: 5, Of: map[Source]float64{FromOutput: 2, FromPast: 1, FromSibling: 0.75, FromRuns: 2,
		FromTests: 1, FromNames: 1, FromWords: 2}}
}

// Rank returns the files that may contain the fault: at most [MaxPlaces], none without evidence. whole is false if
// source code beyond the limits was not read. Rank fails with the cause of ctx when that ends, and with the tree's
// error if its files can't be listed.
func Rank(ctx context.Context, tree Tree, past []Commit, q Query) (places []Place, whole bool, err error) {
	e, err := Gather(ctx, tree, past, q)
	if err != nil {
		return nil, false, fmt.Errorf("locate: %w", err)
	}
	if e.IsConclusive() {
		places = e.Rank(DefaultWeights())
	}
	return places[:min(len(places), MaxPlaces)], e.unread == 0, nil
}

// minLead is the required ratio between the best score and that of the first file beyond the places, if there are only
// words.
const minLead = 1.5

// Points reports whether the votes are meaningful. If there are only words of a text, and they match the best file
// hardly better than many others, they are not.
func (e Evidence) IsConclusive() bool {
	for s, votes := range e.Votes {
		if s != FromWords && len(votes) > 0 {
			return true
		}
	}
	words := e.Votes[FromWords]
	return len(words) > 0 && (len(words) <= MaxPlaces || words[0].Score >= minLead*words[MaxPlaces].Score)
}

// Rank combines the votes by reciprocal rank. The result contains every file with a vote of a weighted source.
func (e Evidence) Rank(w Weights) []Place {
	type reason struct {
		why   string
		share float64
	}
	places, whys := map[string]*Place{}, map[string][]reason{}
	for _, s := range Sources() {
		if w.Of[s] <= 0 {
			continue
		}
		votes := e.Votes[s]
		for i := 0; i < len(votes); {
			j := i + 1
			for j < len(votes) && votes[j].Score == votes[i].Score {
				j++
			}
			share := w.Of[s] / (w.K + float64(i+1+j)/2) // equal votes share the average of their ranks
			for _, v := range votes[i:j] {
				if places[v.Path] == nil {
					places[v.Path] = &Place{Path: v.Path, Tests: e.reach[v.Path]}
				}
				places[v.Path].Score += share
				whys[v.Path] = append(whys[v.Path], reason{v.Why, share})
			}
			i = j
		}
	}
	out := make([]Place, 0, len(places))
	for _, p := range slices.Sorted(maps.Keys(places)) {
		of := whys[p]
		slices.SortStableFunc(of, func(a, b reason) int { return cmp.Compare(b.share, a.share) })
		for _, r := range of {
			if !slices.Contains(places[p].Why, r.why) {
				places[p].Why = append(places[p].Why, r.why)
			}
		}
		out = append(out, *places[p])
	}
	slices.SortStableFunc(out, func(a, b Place) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

// FindTests returns the failing tests of a query that the tree has, each with its file, sorted.
func FindTests(ctx context.Context, tree Tree, q Query) ([]Test, error) {
	l, err := readLayout(ctx, tree)
	if err != nil {
		return nil, fmt.Errorf("find tests: %w", err)
	}
	g := gathering{layout: l, tree: tree, query: q}
	g.readOutput(ctx)
	g.findTests(ctx)
	var out []Test
	for _, t := range g.tests {
		out = append(out, Test{File: t.file, Name: t.full})
	}
	return out, context.Cause(ctx)
}

// Gather collects the votes of all sources.
func Gather(ctx context.Context, tree Tree, past []Commit, q Query) (Evidence, error) {
	l, err := readLayout(ctx, tree)
	if err != nil {
		return Evidence{}, err
	}
	past = past[:min(len(past), maxPast)]
	g := gathering{layout: l, tree: tree, past: past, query: q}
	g.readOutput(ctx)
	g.findTests(ctx)
	g.readTests(ctx)
	g.readText()
	e := Evidence{Votes: map[Source][]Vote{
		FromOutput:  g.outputVotes(),
		FromPast:    g.pastVotes(),
		FromSibling: g.siblingVotes(),
		FromRuns:    g.runVotes(),
	}}
	if err := g.scan(ctx, e); err != nil {
		return Evidence{}, err
	}
	e.Votes[FromNames] = g.nameVotes()
	e.Votes[FromWords] = g.wordVotes(g.terms, "has the text's words ")
	e.Votes[FromTests] = g.wordVotes(g.testTerms(), "has the failing test's words ")
	e.reach, e.unread = g.findReaching(e), g.found.unread
	return e, context.Cause(ctx)
}

// gathering is a query in progress.
type gathering struct {
	*layout
	tree  Tree
	past  []Commit
	query Query

	frames []frame            // code locations, in the order of relevance
	tests  []foundTest        // failing tests
	named  map[string]bool    // identifiers in the text
	paths  []string           // paths in the text
	terms  map[string]float64 // words in the text, with their weights
	bodies strings.Builder    // text of the failing tests
	found  scanned
}

// sortVotes sorts votes, best first, then by path, and returns at most maxVotes.
func sortVotes(votes []Vote) []Vote {
	slices.SortFunc(votes, func(a, b Vote) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Path, b.Path))
	})
	return votes[:min(len(votes), maxVotes)]
}
