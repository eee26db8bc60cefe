package evidence

import (
	"context"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/testrun"
)

// confirm runs the base's tests twice more where something would be held against the change, and leaves out what does
// not come out as before: that is chance.
func (p *pass) confirm(ctx context.Context, found findings) (findings, error) {
	against := found.against()
	if len(against) == 0 {
		return found, nil
	}
	var groups []group
	for _, g := range p.reached.groups {
		if against[g.name] || !p.namesGroups() {
			groups = append(groups, g)
		}
	}
	runs := map[string]groupRun{}
	for some := range slices.Chunk(groups, batchSize) {
		got, err := p.run(ctx, atBase, some, again)
		if err != nil {
			return found, err
		}
		for g, r := range got {
			runs[g] = r
		}
	}
	return found.without(func(finding string) bool {
		g, test, isTest := strings.Cut(finding, "::")
		r, ok := runs[g]
		switch {
		case !ok || !r.Ran:
			return true // it could not be run again: what was seen stands
		case isTest:
			return r.Tests[test] == testrun.Passed
		}
		return r.End.LastWord
	}), nil
}

// namesGroups reports whether the runner's groups are called as ours are.
func (p *pass) namesGroups() bool {
	switch p.lang.(type) {
	case testrun.Java, testrun.Rust:
		return false
	}
	return true
}
