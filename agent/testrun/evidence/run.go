package evidence

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/service"
	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
)

// pass runs the tests of one language.
type pass struct {
	*look
	lang     testrun.Language
	reached  reached
	overlaid bool // the third tree differs from the head
	ran      bool // some tests were run on the base or at the head

	results  map[treeName]map[string]groupRun // by the runner's groups
	unrun    map[treeName][]string            // groups of batches that may not have been run completely
	compared map[string]bool                  // groups that were compared
	hashes   map[treeName]string

	services map[treeName]service.Set

	unfetched bool   // dependencies can't be fetched: tests run with installed ones
	log       string // end of the last run's output; empty: its results were cached
}

func newPass(l *look, lang testrun.Language, found reached) *pass {
	return &pass{look: l, lang: lang, reached: found, compared: map[string]bool{}, hashes: map[treeName]string{},
		services: map[treeName]service.Set{}, unrun: map[treeName][]string{},
		results: map[treeName]map[string]groupRun{atBase: {}, atHead: {}, atOver: {}}}
}

// Limits of batches.
const (
	batchSize   = 8
	maxFarDelay = 45 * time.Second // groups reached indirectly are not started later than that, fetching excluded
)

// workTime returns the time excluding time spent on fetching.
func (l *look) workTime() time.Time { return l.Now().Add(-l.Runner.Fetching()) }

// runAll runs the groups in all trees and compares them.
func (p *pass) runAll(ctx context.Context) error {
	began := p.workTime()
	for _, batch := range p.batches() {
		if !p.timeLeft() || batch[0].far && p.workTime().Sub(began) > maxFarDelay {
			p.omit("%s and what is further away: the time for it is over", batch[0].name)
			p.reached.whole = false
			break
		}
		if err := p.runTrees(ctx, batch); err != nil {
			return err
		}
	}
	p.ran = len(p.results[atBase]) > 0 || len(p.results[atHead]) > 0
	found := p.compare()
	if err := p.resolveReplaced(ctx, &found); err != nil {
		return err
	}
	found, err := p.confirm(ctx, found)
	if err != nil {
		return err
	}
	unsteady, err := p.confirmUnsteady(ctx, found)
	if err != nil {
		return err
	}
	found.broken = append(found.broken, unsteady...)
	if found.edited, err = p.confirmEdited(ctx, found); err != nil {
		return err
	}
	sure := found
	if sure.red, err = p.confirmRed(ctx, found); err != nil {
		return err
	}
	for _, test := range found.red {
		if !slices.Contains(sure.red, test) {
			p.omit("%s: it fails now and then at the head", test)
		}
	}
	sure.addTo(p.out)
	p.out.Failing = append(p.out.Failing, slices.DeleteFunc(p.failAtHead(), func(test string) bool {
		return slices.Contains(found.red, test)
	})...)
	if err := p.runVariants(ctx); err != nil {
		return err
	}
	p.out.Files = append(p.out.Files, p.filesRun(found)...)
	return nil
}

// batches splits the groups: near ones first, and separate from far ones.
func (p *pass) batches() (out [][]group) {
	for _, far := range []bool{false, true} {
		some := slices.DeleteFunc(slices.Clone(p.reached.groups), func(g group) bool { return g.far != far })
		out = append(out, slices.Collect(slices.Chunk(some, batchSize))...)
	}
	return out
}

// runTrees runs a batch in the trees.
func (p *pass) runTrees(ctx context.Context, batch []group) error {
	for _, n := range []treeName{atBase, atHead} {
		got, err := p.run(ctx, n, batch, plain)
		if err != nil {
			return err
		}
		maps.Copy(p.results[n], got)
	}
	over := slices.DeleteFunc(slices.Clone(batch), func(g group) bool { return !g.overlaid })
	got, err := p.run(ctx, atOver, over, plain)
	if err != nil {
		return err
	}
	maps.Copy(p.results[atOver], got)
	return nil
}

// variant is a way to run tests.
type variant string

const (
	plain   variant = ""        // default: the sandbox sets CI
	again   variant = "again"   // always twice
	outside variant = "outside" // without the runner's marks
	inJob   variant = "job"     // as in a job of GitHub Actions
	atHome  variant = "home"    // as on a developer's machine
)

// apply returns the suite for a variant.
func (v variant) apply(s testrun.Suite) testrun.Suite {
	s.Env = slices.Clone(s.Env)
	if v != again {
		s.Env = append(s.Env, testrun.Once)
	}
	switch v {
	case outside:
		s.Env = append(s.Env, testrun.Unmarked)
	case inJob:
		s.Env = append(s.Env, "GITHUB_ACTIONS=true", "GITHUB_WORKFLOW=test", "GITHUB_JOB=test", "RUNNER_OS=Linux",
			"CONTINUOUS_INTEGRATION=true")
	case atHome:
		s.Script = "unset CI\n" + s.Script
	}
	return s
}

// run runs the groups that a tree has, unless their results are cached.
func (p *pass) run(ctx context.Context, n treeName, groups []group, how variant) (map[string]groupRun, error) {
	tree := p.change.trees[n]
	var files []string
	for _, g := range groups {
		for _, f := range g.files {
			switch _, there := tree[f]; {
			case there && strings.ContainsFunc(f, unicode.IsControl): // a suite's marks end at the line end
				p.omit("%q: files with such a name are not run", f)
			case there:
				files = append(files, f)
			}
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	suite, ok := p.lang.Suite(tree, files, p.Runner.Reader(tree, nil))
	if !ok {
		p.omit("%s: no way to run its tests is known", groups[0].name)
		p.markUnrun(n, groups)
		return nil, nil
	}
	p.log, suite = "", p.Runner.Separate(p.lang, suite, tree)
	for _, why := range p.servicesOf(n).Missing {
		p.omit("%s", why)
	}
	without := "" // unreachable registry; the tests run again when it is reachable
	if suite.Eager {
		without = p.Runner.Unreached(ctx, suite)
	}
	key := p.cache.key(p.lang.Name(), how, p.hash(n), files, without)
	if have := p.cache.load(key); have != nil {
		return have, nil
	}
	p.announce(ctx, n, groups, how, suite)
	suite = how.apply(suite)
	at := p.folders[n]
	if err := at.Set(ctx, tree, nil, suite.Links); err != nil {
		return nil, err
	}
	rep, err := p.runSuite(ctx, suite, testrun.Tree{At: at, Files: tree})
	if err != nil {
		return nil, err
	}
	p.log = rep.Log
	out := groupRuns(rep)
	if rep.Ended != "" {
		p.omit("%s: the tests were ended: %s", groups[0].name, rep.Ended)
		p.markUnrun(n, groups)
		return out, nil
	}
	if rep.Lacks(p.lang) {
		p.markUnrun(n, groups)
	}
	if p.unfetched || rep.Lacks(p.lang) || isCut(out) { // not cached, since a later run may be complete
		return out, nil
	}
	return out, p.cache.save(key, out)
}

// isCut reports whether a run was aborted, possibly because the machine was busy.
func isCut(runs map[string]groupRun) bool {
	for _, r := range runs {
		if r.Built && !r.Ran {
			return true
		}
	}
	return false
}

// treeWords describes the trees for users.
var treeWords = map[treeName]string{atBase: "of the base commit", atHead: "of the head",
	atOver: "of the base commit, with the head's code", atUnder: "of the head, with the base commit's code"}

// announce calls Begins with a description of the next run.
func (p *pass) announce(ctx context.Context, n treeName, groups []group, how variant, s testrun.Suite) {
	var names []string
	for _, g := range groups[:min(len(groups), 3)] {
		names = append(names, g.name)
	}
	step := fmt.Sprintf("%s tests %s: %s", p.lang.Name(), treeWords[n], strings.Join(names, ", "))
	if more := len(groups) - len(names); more > 0 {
		step += fmt.Sprintf(" and %d more", more)
	}
	if how != plain {
		step += ", again"
	}
	if s.Eager && !p.unfetched && p.Runner.Fetches(ctx, p.lang, s, p.change.trees[n]) {
		step += fmt.Sprintf("; what they need is fetched first, in %.0f minutes at most", testrun.FetchTimeout.Minutes())
	}
	p.Begins(agent.ClipName(step))
}

// markUnrun records groups that were not run in a tree, so that their absence is not taken for a deletion.
func (p *pass) markUnrun(n treeName, groups []group) {
	for _, g := range groups {
		p.unrun[n] = append(p.unrun[n], g.name)
	}
}

// runSuite runs a suite with its dependencies. If they can't be fetched, it runs with the installed ones: a test that
// passes with them on the base needs no others.
func (p *pass) runSuite(ctx context.Context, s testrun.Suite, t testrun.Tree) (testrun.Report, error) {
	if !p.unfetched {
		rep, why, err := p.Runner.RunPrepared(ctx, p.lang, s, t)
		if err != nil || why == "" {
			return rep, err
		}
		p.unfetched = true
		p.omit("%s tests: what they depend on could not be fetched: %s", p.lang.Name(), why)
	}
	if _, err := p.Runner.Install(ctx, p.lang, s, t); err != nil {
		return testrun.Report{}, err
	}
	return p.Runner.Run(ctx, p.lang, s, t.At.Dir)
}

// servicesOf returns the services for a tree's tests.
func (p *pass) servicesOf(n treeName) service.Set {
	s, ok := p.services[n]
	if !ok {
		s = p.Runner.Services(p.change.trees[n])
		p.services[n] = s
	}
	return s
}

// hash returns a hash of a tree's content and its services on this host.
func (p *pass) hash(n treeName) string {
	if p.hashes[n] == "" {
		var b strings.Builder
		tree := p.change.trees[n]
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			fmt.Fprintf(&b, "%q %v\n", name, tree[name])
		}
		b.WriteString(p.servicesOf(n).Key())
		p.hashes[n] = gitops.BlobID(int64(b.Len()), strings.NewReader(b.String()))
	}
	return p.hashes[n]
}

// groupRuns converts a report to results by group.
func groupRuns(rep testrun.Report) map[string]groupRun {
	out := map[string]groupRun{}
	for g, log := range rep.Builds {
		out[g] = groupRun{Log: testrun.Tail(log)}
	}
	for g, end := range rep.Ends {
		out[g] = groupRun{Built: true, Ran: end.Status >= 0, End: end, Tests: testrun.Results{}}
	}
	for _, one := range rep.Runs {
		for test := range one {
			g, name, _ := strings.Cut(test, "::")
			r, ok := out[g]
			if !ok || r.Tests == nil {
				continue
			}
			outcome := rep.Runs[0][test]
			if rep.Ran(test, outcome) {
				r.Tests[name] = outcome
			} else if !slices.Contains(r.Flaky, name) {
				r.Flaky = append(r.Flaky, name)
			}
			out[g] = r
		}
	}
	return out
}
