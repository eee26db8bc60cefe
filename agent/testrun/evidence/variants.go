package evidence

import (
	"context"
	"regexp"
	"slices"

	"github.com/sia-bot/sia/agent/testrun"
)

// Patterns of code that detects tests.
var (
	detectsCI = regexp.MustCompile(`(?i:env)[^\n]{0,40}\b(?:CI|GITHUB_\w+|CONTINUOUS_INTEGRATION|RUNNER_\w+)\b`)
	// for Go, pytest and Cargo, which can run tests without these marks
	detectsRunner = regexp.MustCompile(`testing\.Testing\(|\bos\.Args\b|\.Lookup\(\s*"|os\.Executable\(|ReadBuildInfo\(|` +
		`/proc/self/|PYTEST_\w+|\bdebug_assertions\b|\bcurrent_exe\(|\benv::args|"CARGO`)
)

// neededVariants returns the variants that expose what added code detects.
func (p *pass) neededVariants() (out []variant) {
	for _, v := range []struct {
		how variant
		by  *regexp.Regexp
	}{{outside, detectsRunner}, {inJob, detectsCI}, {atHome, detectsCI}} {
		if slices.ContainsFunc(p.change.files, func(f fileChange) bool { return p.detectsMore(f, v.by) }) {
			out = append(out, v.how)
		}
	}
	return out
}

// detectsMore reports whether a changed file has more matches than before.
func (p *pass) detectsMore(f fileChange, by *regexp.Regexp) bool {
	if f.Now.ID == "" || f.Now.Link || p.lang.IsTest(f.Path) || !p.lang.IsCode(f.Path) {
		return false
	}
	count := func(id string) int {
		text, err := p.History.Blob(id, maxSource)
		if id == "" || err != nil {
			return 0
		}
		return len(by.FindAll(text, -1))
	}
	return count(f.Now.ID) > count(f.Was.ID)
}

// runVariants runs the tests in the variants for code that detects tests. A test that passed and does not in a variant
// differs. The tests are the base's if they differ from the head's.
func (p *pass) runVariants(ctx context.Context) error {
	for _, how := range p.neededVariants() {
		if !p.timeLeft() {
			p.omit("%s: whether its tests come out otherwise outside of a runner: the time for it is over",
				p.reached.groups[0].name)
			return nil
		}
		for _, batch := range p.batches() {
			if err := p.runVariant(ctx, batch, how); err != nil {
				return err
			}
		}
	}
	return nil
}

// runVariant runs a batch in a variant at the head, and on the base if a test differs.
func (p *pass) runVariant(ctx context.Context, batch []group, how variant) error {
	at := atHead
	if p.overlaid {
		at = atOver
	}
	before := p.results[at]
	now, err := p.run(ctx, at, batch, how)
	if err != nil {
		return err
	}
	var base map[string]groupRun
	for g, r := range now {
		was, known := before[g]
		if !known {
			was = p.results[atHead][g]
		}
		for _, test := range outermost(p.lang, was.Tests, testrun.Passed) {
			if r.Tests[test] == testrun.Passed || slices.Contains(r.Flaky, test) || !r.Built {
				continue
			}
			if base == nil {
				if base, err = p.run(ctx, atBase, batch, how); err != nil {
					return err
				}
				if base == nil {
					base = map[string]groupRun{}
				}
			}
			if base[g].Tests[test] == testrun.Passed {
				p.out.Differs = append(p.out.Differs, g+"::"+test)
			}
		}
	}
	return nil
}
