package replay

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/testrun"
)

// holds reports whether a task's tests still fail on its parent and pass with its commit; if not, why is the
// reason.
func (p *pair) holds(ctx context.Context, t Task) (why string, err error) {
	e, err := endsOf(ctx, p.Runner, t)
	if err != nil {
		return "", err
	}
	before, after, why, err := p.bothEnds(ctx, e.lang, e.suite, e.split)
	if err != nil || why != "" {
		return why, err
	}
	found := fixedTests(before, after)
	gone := slices.DeleteFunc(slices.Clone(t.Failing), func(test string) bool { return slices.Contains(found, test) })
	if len(gone) > 0 {
		return "no longer so: " + strings.Join(gone, ", "), nil
	}
	return "", nil
}

// ends are a task's trees and tests.
type ends struct {
	lang  testrun.Language
	suite testrun.Suite
	split split
}

// endsOf reads a task's trees and tests from the history.
func endsOf(ctx context.Context, b *testrun.Runner, t Task) (ends, error) {
	l := languageNamed(t.Language)
	if l == nil {
		return ends{}, fmt.Errorf("task %s: this program can't run tests of %q", t.ID, t.Language)
	}
	parent, err := b.History.Files(ctx, t.Parent)
	if err != nil {
		return ends{}, fmt.Errorf("task %s: %w", t.ID, err)
	}
	commit, err := b.History.Files(ctx, t.Commit)
	if err != nil {
		return ends{}, fmt.Errorf("task %s: %w", t.ID, err)
	}
	s := split{over: testrun.Files{}, without: t.Without, before: maps.Clone(parent), after: maps.Clone(parent),
		made: map[string][]byte{}}
	for p := range commit { // the commit, except tests that are not used
		if !l.IsTest(p) {
			s.after[p] = commit[p]
		}
	}
	for p := range parent {
		if _, stays := commit[p]; !stays && !l.IsTest(p) {
			delete(s.after, p)
		}
	}
	for _, p := range t.Without {
		delete(s.before, p)
		delete(s.after, p)
	}
	for _, p := range t.Tests {
		f, ok := commit[p]
		if !ok {
			return ends{}, fmt.Errorf("task %s: its commit has no file %s", t.ID, p)
		}
		s.over[p], s.before[p], s.after[p] = f, f, f
		if names := t.LeftOut[p]; len(names) > 0 {
			src, err := b.History.Blob(f.ID, testrun.MaxTestFile)
			if err != nil {
				return ends{}, fmt.Errorf("task %s: %w", t.ID, err)
			}
			k, err := cutFile(l, src, names)
			if err != nil {
				return ends{}, fmt.Errorf("task %s: %s: %w", t.ID, p, err)
			}
			s.cut(p, f, k)
		}
		if l.IsTest(p) {
			s.tests = append(s.tests, p)
		}
	}
	run, ok := l.Suite(s.after, s.tests, b.Reader(s.after, s.made))
	if !ok {
		return ends{}, fmt.Errorf("task %s: no way to run its tests is known", t.ID)
	}
	return ends{lang: l, suite: run, split: s}, nil
}

// languageNamed returns the language of that name; nil if there is none.
func languageNamed(name string) testrun.Language {
	for _, l := range testrun.Languages() {
		if l.Name() == name {
			return l
		}
	}
	return nil
}
