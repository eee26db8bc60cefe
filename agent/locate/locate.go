package locate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Bounds of one answer.
const (
	MaxPlaces = 10   // files of an answer
	mostVotes = 200  // files that one source votes for
	mostTests = 3    // tests that are named with a file
	mostPast  = 3000 // commits that are looked at
)

// File is a regular file of the tree.
type File struct {
	Path string // slash-separated, from the root
	Size int64  // bytes
}

// Tree is the repository as it is to be changed.
type Tree interface {
	// Files lists all files, in any order. What git ignores is left out.
	Files(ctx context.Context) ([]File, error)
	// Read returns a file's first most bytes. A file that can't be read is an error, and is passed over.
	// It is called by several goroutines at once.
	Read(ctx context.Context, path string, most int64) ([]byte, error)
}

// Commit is what one commit of the history changed.
type Commit struct {
	Paths []string
}

// Test is a failing test.
type Test struct {
	File string // that defines it; "": it is looked for by its name
	Name string // as the runner calls it, such as "TestParse/empty" or "Parser > reads numbers"; "": all of File's
}

// Query is what is known of the fault. What is missing is left empty.
type Query struct {
	Text   string   // of an issue: title, words, stack traces
	Output []string // of what failed: logs and excerpts
	Tests  []Test   // that fail; those that Output names are found by themselves
	Ran    []Run    // which lines tests ran that fail, and others like them that pass
}

// Source is a way to guess where a fault lies.
type Source string

// The sources.
const (
	FromOutput  Source = "output"     // files that failing output names
	FromPast    Source = "co-change"  // files that changed together with the tests
	FromSibling Source = "sibling"    // files that tests are named after
	FromWords   Source = "words"      // files with the words
	FromNames   Source = "names"      // files that the issue names, or that define what it names
	FromTests   Source = "test words" // files with the words of the failing tests
	FromRuns    Source = "coverage"   // files that failing tests run, and passing tests less
)

// Sources are all of them, in a fixed order.
func Sources() []Source {
	return []Source{FromOutput, FromPast, FromSibling, FromRuns, FromTests, FromNames, FromWords}
}

// Vote is one source's word for a file. Votes are in order, best first. Equal scores are equal votes.
type Vote struct {
	Path  string
	Score float64 // above 0; comparable within one source only
	Why   string  // a few plain words
}

// Evidence is what the sources say of one query.
type Evidence struct {
	Votes map[Source][]Vote
	reach map[string][]string // tests that reach a file, by its path

	unread int // source files that are beyond the bounds
}

// Place is a file where the fault may lie.
type Place struct {
	Path  string
	Score float64  // comparable within one answer only
	Why   []string // a few plain words of each source, the strongest first
	Tests []string // files of tests that reach it, the nearest first; at most three
}

// Weights say how the votes are joined.
type Weights struct {
	// K is how little the first ranks stand out: a file's share of a source is Of / (K + rank).
	K float64
	// Of is how much each source counts; one that is missing counts nothing.
	Of map[Source]float64
}

// Shipped are the weights in force. docs/adr/0024-where-a-change-belongs.md has the measurements behind them.
func Shipped() Weights {
	return Weights{K: 5, Of: map[Source]float64{FromOutput: 2, FromPast: 1, FromSibling: 0.75, FromRuns: 2,
		FromTests: 1, FromNames: 1, FromWords: 2}}
}

// Rank says where the fault may lie: at most [MaxPlaces] files, none where nothing points to any. Not whole: there is
// source code that was not read, since it is more than the bounds. It ends when ctx ends, with the cause of that as its
// error, and with the tree's error when its files can't be listed.
func Rank(ctx context.Context, tree Tree, past []Commit, q Query) (places []Place, whole bool, err error) {
	e, err := Gather(ctx, tree, past, q)
	if err != nil {
		return nil, false, fmt.Errorf("locate: %w", err)
	}
	if e.Points() {
		places = e.Rank(Shipped())
	}
	return places[:min(len(places), MaxPlaces)], e.unread == 0, nil
}

// standsOut is how much better the best file has to fit than the one after the last place, where words are all there
// is.
const standsOut = 1.5

// Points reports whether the votes point anywhere. Where all that there is are words of a text, and they fit the best
// file hardly better than many others, they don't.
func (e Evidence) Points() bool {
	for s, votes := range e.Votes {
		if s != FromWords && len(votes) > 0 {
			return true
		}
	}
	words := e.Votes[FromWords]
	return len(words) > 0 && (len(words) <= MaxPlaces || words[0].Score >= standsOut*words[MaxPlaces].Score)
}

// Rank joins the votes by reciprocal rank. Every file that has a vote that counts is in the answer.
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
			share := w.Of[s] / (w.K + float64(i+1+j)/2) // equal votes share the middle of their ranks
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

// FindTests are the failing tests of a query that the tree has, each with its file, in order.
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

// Gather asks all sources.
func Gather(ctx context.Context, tree Tree, past []Commit, q Query) (Evidence, error) {
	l, err := readLayout(ctx, tree)
	if err != nil {
		return Evidence{}, err
	}
	past = past[:min(len(past), mostPast)]
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
	e.reach, e.unread = g.reaching(e), g.found.unread
	return e, context.Cause(ctx)
}

// gathering is one query under way.
type gathering struct {
	*layout
	tree  Tree
	past  []Commit
	query Query

	frames []frame            // of code, in the order in which they matter
	tests  []foundTest        // failing ones
	named  map[string]bool    // identifiers of the text
	paths  []string           // that the text names
	terms  map[string]float64 // words of the text, each with how much it counts
	bodies strings.Builder    // of the failing tests
	found  scanned
}

// ordered are votes, best first, at most mostVotes. Equal scores are in the order of paths.
func ordered(votes []Vote) []Vote {
	slices.SortFunc(votes, func(a, b Vote) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Path, b.Path))
	})
	return votes[:min(len(votes), mostVotes)]
}
