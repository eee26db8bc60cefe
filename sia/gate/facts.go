package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// facts contains what is known about a commit before it is judged: what GitHub reported about it and about its base,
// its workflow files, and what rules, settings and people say. It answers questions about that. It does not change.
type facts struct {
	Input
	head   commit
	base   commit
	checks []check               // of the commit
	inRun  map[int64][]int       // their indices, by workflow run
	jobs   map[int64][]Run       // of the commit, by workflow run
	onBase map[criterion][]check // of the base commit, by [check.kind]
	named  []Required            // what rules and settings require, sorted, without SIA's own check

	// the attempt's changes to tests or protected paths, with those that only the counts of tests show; expectations
	// means that the issue may ask for all of them
	findings     []string
	expectations bool
}

// maxAhead is the maximum time by which the clock of GitHub, or of a check's app, may be ahead of this one.
const maxAhead = 24 * time.Hour

// newFacts reads what is known: which runs belong to one check, and the workflow file and the needs of each check.
func newFacts(in Input) *facts {
	f := &facts{Input: in, head: commit{in.Runs, in.Statuses, in.Workflows},
		base: commit{in.Base, in.BaseStatuses, in.BaseWorkflows}}
	f.checks, f.inRun, f.jobs = f.head.checks(), map[int64][]int{}, byWorkflowRun(in.Runs)
	f.onBase = map[criterion][]check{}
	for _, b := range f.base.checks() {
		f.onBase[b.kind()] = append(f.onBase[b.kind()], b)
	}
	for i := range f.checks {
		c := &f.checks[i]
		// An app that creates a check run through the API sets its times itself. With a date in another century the
		// settle time would never end.
		if c.last.After(in.Now.Add(maxAhead)) {
			c.last = time.Time{}
		}
		if c.workflow != nil && c.app != workflowApp {
			c.file = f.fileOf(*c.workflow)
		}
		if c.outdid && !isPaperwork(c.name) && !f.isForm(*c) { // else a label or a title was put right
			c.flaky, c.why = true, flakyGreen
		}
		f.inRun[c.workflowRun()] = append(f.inRun[c.workflowRun()], i)
	}
	f.linkNeeded()
	f.named = f.allRequired()
	f.findings, f.expectations = f.tampering()
	return f
}

// fileOf returns the file of a workflow run. It is Unread if it is not known.
func (f *facts) fileOf(w Workflow) File {
	file, known := fileAt(f.Files, w.Path)
	if !known || !f.FilesKnown || !f.isOwn(w.Repository) || file.Gone || file.Unread {
		return File{Unread: true}
	}
	return file
}

// isOwn reports whether a repository is the commit's own, which may be empty.
func (f *facts) isOwn(repo string) bool { return repo == "" || strings.EqualFold(repo, f.Repo) }

// has reports whether a workflow run has a job of a name.
func (f *facts) has(w Workflow, name string) bool {
	return slices.ContainsFunc(f.jobs[w.ID], func(r Run) bool { return r.Name == name })
}

// isLater reports whether another workflow run began after a check's run, or created a job after the check was
// cancelled, as a re-run does.
func (f *facts) isLater(w Workflow, c check) bool {
	return w.after(*c.workflow) || c.run.Conclusion == "cancelled" &&
		slices.ContainsFunc(f.jobs[w.ID], func(r Run) bool { return later(r, c.run) })
}

// counterparts returns the checks of the base commit that may be the same as a check of
// the head: those of its workflow if that is known, limited to those of the same event if
// there are any; else all of its name and app. A job is never the same as a check run that
// a workflow creates with its token. Suites differ from commit to commit.
func (f *facts) counterparts(c check) []check {
	var out []check
	for _, b := range f.onBase[c.kind()] {
		switch {
		case (c.run.WorkflowRun == 0) != (b.run.WorkflowRun == 0):
		case c.workflow != nil && b.workflow != nil && !c.workflow.alike(*b.workflow):
		default:
			out = append(out, b)
		}
	}
	sameEvent := func(b check) bool {
		return c.workflow != nil && b.workflow != nil && b.workflow.Event == c.workflow.Event
	}
	if slices.ContainsFunc(out, sameEvent) {
		out = slices.DeleteFunc(out, func(b check) bool { return !sameEvent(b) })
	}
	return out
}

// succeededOnBase reports whether a run of a workflow was successful on the base commit.
func (f *facts) succeededOnBase(w Workflow) bool {
	success := func(b Workflow) bool { return b.alike(w) && b.Conclusion == "success" }
	same := func(b Workflow) bool { return b.alike(w) && b.Event == w.Event }
	return slices.ContainsFunc(f.BaseWorkflows, func(b Workflow) bool {
		return success(b) && (b.Event == w.Event || !slices.ContainsFunc(f.BaseWorkflows, same))
	})
}

// waitIsOver reports whether the wait in the settings has passed.
func (f *facts) waitIsOver() bool { return f.Now.Sub(f.Since) >= f.Settings.Wait.D() }

// waived reports whether a person waived a check.
func (f *facts) waived(c check) bool { return slices.Contains(f.Waived, c.label) }

// tampering returns the attempt's changes to tests or protected paths. It counts as one if a green check runs fewer
// tests than on the base, or reports failed ones and did not there, even if the diff looks harmless: the process may
// exit before the tests end, the runner may be configured to leave some out, or their failure may be ignored.
// expectations means that all of them are expectations that the issue may ask to change.
func (f *facts) tampering() (found []string, expectations bool) {
	found, expectations = slices.Clip(f.Tampering), f.Expectations
	for _, n := range f.Counts {
		i := slices.IndexFunc(f.checks, func(c check) bool { return c.run.ID == n.Run })
		if i < 0 || n.Head+f.Tests.Dropped >= n.Base && !n.Failed {
			continue
		}
		said := fmt.Sprintf("%s ran %s, and %d on the base commit", f.checks[i].label, text.Count(n.Head, "test"), n.Base)
		switch {
		case n.Failed:
			said = f.checks[i].label + " is green, and its log ends with failed tests, which the base commit's does not"
		case n.Report != "":
			said += fmt.Sprintf(", as its test reports (%s) say; gone are, among them, %s", n.Report, n.Gone)
		}
		found, expectations = append(found, said), false // an issue can't ask for that
	}
	return found, expectations
}

// missedName returns the name of a check that did not report, distinct from those that did.
func (f *facts) missedName(r sia.Reported) string {
	if slices.ContainsFunc(f.checks, func(c check) bool { return c.name == r.Name }) {
		return r.Name + " (" + origin(r) + ")"
	}
	return r.Name
}
