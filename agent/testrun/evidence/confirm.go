package evidence

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/testrun"
)

// confirm runs the base's tests twice more for findings against the change, and drops those with other results, since
// they are flaky.
func (p *pass) confirm(ctx context.Context, found findings) (findings, error) {
	against := found.against()
	if len(against) == 0 {
		return found, nil
	}
	runs, err := p.runGroups(ctx, atBase, against, again)
	if err != nil {
		return found, err
	}
	return found.filter(func(finding string) bool {
		g, test, isTest := strings.Cut(finding, "::")
		r, ok := runs[g]
		switch {
		case !ok || !r.Ran:
			return true // no new result: the finding stands
		case isTest && slices.Contains(found.red, finding):
			return r.Tests[test] != testrun.Failed && !slices.Contains(r.Flaky, test)
		case isTest:
			return r.Tests[test] == testrun.Passed
		}
		return r.End.LastWord
	}), nil
}

// confirmRed runs the head's tests twice more for tests that fail there, and drops those that don't fail each time: a
// test that depends on time may fail on a busy machine.
func (p *pass) confirmRed(ctx context.Context, found findings) (red []string, err error) {
	runs, err := p.runGroups(ctx, atHead, findings{red: found.red}.against(), again)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(found.red), func(finding string) bool {
		g, test, _ := strings.Cut(finding, "::")
		r := runs[g]
		return r.Ran && (r.Tests[test] != testrun.Failed || slices.Contains(r.Flaky, test))
	}), nil
}

// confirmUnsteady runs the base's tests at the head twice more for tests that failed there once, and returns those that
// fail again. On the base they passed each time.
func (p *pass) confirmUnsteady(ctx context.Context, found findings) (out []string, err error) {
	runs, err := p.runGroups(ctx, atOver, findings{broken: found.unsteady}.against(), again)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(found.unsteady), func(finding string) bool {
		g, test, _ := strings.Cut(finding, "::")
		return runs[g].Tests[test] == testrun.Passed
	}), nil
}

// confirmEdited runs the base's tests at the head twice more for tests that pass only as edited, and drops those that
// don't fail again, or are in found.broken already.
func (p *pass) confirmEdited(ctx context.Context, found findings) (out []string, err error) {
	edited := slices.DeleteFunc(slices.Clone(found.edited), func(finding string) bool {
		return slices.Contains(found.broken, finding)
	})
	in := findings{broken: edited}.against()
	runs, err := p.runGroups(ctx, atOver, in, again)
	if err != nil {
		return nil, err
	}
	for _, finding := range edited {
		g, test, isTest := strings.Cut(finding, "::")
		r := runs[g]
		if !r.Ran || isTest && r.Tests[test] == testrun.Failed || !isTest && r.End.Status != 0 {
			out = append(out, finding)
		}
	}
	return out, nil
}

// runGroups runs groups by name in a tree.
func (p *pass) runGroups(
	ctx context.Context, n treeName, names map[string]bool, how variant,
) (map[string]groupRun, error) {
	runs := map[string]groupRun{}
	if len(names) == 0 {
		return runs, nil
	}
	var groups []group
	for _, g := range p.reached.groups {
		if names[g.name] || !p.namesGroups() {
			groups = append(groups, g)
		}
	}
	for some := range slices.Chunk(groups, batchSize) {
		got, err := p.run(ctx, n, some, how)
		if err != nil {
			return nil, err
		}
		maps.Copy(runs, got)
	}
	return runs, nil
}

// namesGroups reports whether the runner's group names equal ours.
func (p *pass) namesGroups() bool {
	_, isRust := p.lang.(testrun.Rust)
	return !isRust
}
