// Package oracle decides whether a pull request's present head is green, by GitHub's documentation and by SIA's
// promises about validation. It reads the simulator's state and shares nothing with SIA's gate, so that a test can
// compare the two: where SIA passes a head, the oracle must call it green at that moment.
//
// It is a specification. Each rule has a link to GitHub's page; without one it is SIA's promise, which is stricter than
// GitHub: a skipped check is no evidence, and missing reports are missed. Where the documentation is ambiguous, the
// oracle is lenient, so that its "not green" is reliable:
//
//   - If rules or settings name required checks, only these count, and the jobs that they need:
//     neither another red check nor a workflow run that failed by itself.
//   - A check run that an app makes again replaces the one of that name, even a running one.
//   - Every job of a cancelled run is replaced by the same job of a later run.
//   - A required workflow is green if its run is, whatever the results of jobs that may fail.
//   - A name is expected, not a check: any report of that name suffices, and so does a job
//     that reports under another name.
//
// Start reading at [Ask]. Reports are in report.go, their results in standing.go, the required
// ones in required.go, and missing ones in expected.go.
package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// Question names a pull request and what SIA was given about it.
type Question struct {
	Repo     string        // owner/name
	Pull     int           // number
	Own      string        // slug of SIA's app: its check runs and statuses don't count
	Required []string      // names that SIA's settings require
	Waived   []string      // names of checks that a person waived
	Vouched  []string      // names of checks that, according to a person, build or test the code
	Accepted bool          // a person accepted the branch's changes of workflows and tests
	Earlier  []string      // SHAs of the task's earlier heads, oldest first
	Base     string        // SHA of the base commit, which excuses checks that are red there too
	Wait     time.Duration // how long SIA waits for missing reports; it changes only the words
}

// Answer is the verdict on the present head.
type Answer struct {
	Head  string   // SHA of the pull request's present head
	Open  bool     // the pull request is neither closed nor merged; Green does not depend on it
	Green bool     // everything that counts is green, and some check ran the code
	Red   []string // names of reports that count, are red on the head and not excused, sorted
	Why   []string // why it is not green, one sentence each; empty where Green
}

// Source reads what the model lacks.
type Source interface {
	// File is a file of a repository at a commit; false where there is none.
	File(r *model.Repository, sha, path string) (string, bool)
	// Log are up to n commits, sha first, each the first parent of the one before.
	Log(r *model.Repository, sha string, n int) []string
	// Bot is the account that an app acts as; nil where there is no such app.
	Bot(app int64) *model.User
}

// Ask answers a question about a repository. The simulator's lock is held.
//
// "All required checks must pass against the latest commit SHA. [...] Checks that were
// triggered using a previous commit SHA will not be used as part of required checks."
// https://docs.github.com/en/pull-requests/how-tos/merge-and-close-pull-requests/troubleshooting-required-status-checks
func Ask(r *model.Repository, q Question, now time.Time, src Source) Answer {
	i := r.Issue(q.Pull)
	if i == nil || i.Pull == nil {
		return Answer{Why: []string{fmt.Sprintf("%s#%d is not a pull request.", q.Repo, q.Pull)}}
	}
	v := &verdict{repo: r, pull: i.Pull, q: q, now: now, src: src, base: excusesOf(r, q)}
	v.reports = reportsOn(r, q.Own, i.Pull.HeadSHA, testMerge(r, i.Pull))
	v.runs = runsOn(r, i.Pull.HeadSHA)
	v.require()
	v.judgeReports()
	v.judgeRuns()
	v.judgeWorkflows()
	v.judgeComing()
	v.judgeMissing()
	if !v.evidence {
		v.why = append(v.why, "No green check that counts ran the repository's code.")
	}
	slices.Sort(v.red)
	return Answer{Head: i.Pull.HeadSHA, Open: i.State == "open", Green: len(v.why) == 0,
		Red: slices.Compact(v.red), Why: v.why}
}

// testMerge is the commit that merges a pull request's present head into its present base; "" if none was made.
// https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
func testMerge(r *model.Repository, p *model.Pull) string {
	return r.TestMerges[r.Head(p.Base)+p.HeadSHA]
}

// verdict is an answer in progress.
type verdict struct {
	repo *model.Repository
	pull *model.Pull
	q    Question
	now  time.Time
	src  Source

	reports []report     // reports on the head
	runs    []*model.Run // the workflow runs of the head
	base    excuses      // red reports of the base

	names      []model.RequiredCheck    // must be green
	workflows  []model.RequiredWorkflow // must be green
	everything bool                     // all reports count, whatever their names
	needed     map[*model.Job]bool      // the jobs that required ones need

	evidence bool // a report that counts ran the code and succeeded
	red, why []string
}

// because adds a reason why the head is not green.
func (v *verdict) because(format string, args ...any) {
	v.why = append(v.why, fmt.Sprintf(format, args...))
}

// judgeReports judges every report that counts.
func (v *verdict) judgeReports() {
	for _, p := range v.reports {
		if !v.counts(p) || v.waived(p) && v.formal(p) {
			continue
		}
		switch p.standing() {
		case green:
			v.evidence = v.evidence || v.ranCode(p)
		case skipped:
			if why := v.failureInRun(p); why != "" {
				v.because("%q was skipped, and %s.", p.name, why)
			} else if why := v.wronglySkipped(p); why != "" {
				v.because("%q was skipped, and %s.", p.name, why)
			}
		case running:
			v.because("%q has not completed.", p.name)
		case blocked:
			v.because("%q is not green: %s.", p.name, p.obstacle())
		case red:
			v.judgeRed(p)
		}
	}
}

// judgeRuns judges the workflow runs separately: an empty matrix makes no job and fails the run; a startup failure or a
// missing approval makes no check run.
// https://github.com/canonical/operator-workflows/issues/918
func (v *verdict) judgeRuns() {
	if !v.everything {
		return
	}
	for _, run := range v.runs {
		v.judgeRun(run)
	}
}

func (v *verdict) judgeRun(run *model.Run) {
	switch {
	case run.Status != "completed":
		if !slices.ContainsFunc(jobsOf(run), func(p report) bool { return p.standing() == running }) {
			v.because("A run of the workflow %q has not completed.", run.Name)
		}
	case slices.Contains(successful, run.Conclusion) || runReplaced(v.repo, run) || explained(run):
	case slices.Contains(failed, run.Conclusion):
		if !v.base.excuseRun(v.repo, run) {
			v.red = append(v.red, run.Name)
			v.because("A run of the workflow %q ended as %s, and no job says why.", run.Name, run.Conclusion)
		}
	default:
		v.because("A run of the workflow %q ended as %s.", run.Name, run.Conclusion)
	}
}

// judgeWorkflows judges the workflows that rules require: one is green if its run is.
func (v *verdict) judgeWorkflows() {
	for _, want := range v.workflows {
		found := false
		for _, run := range v.runs {
			if !v.fulfils(run, want) || runReplaced(v.repo, run) {
				continue
			}
			found = true
			switch {
			case run.Status != "completed":
				v.because("A run of the workflow %q, which a rule requires, has not completed.", run.Name)
			case run.Conclusion == "success":
				v.evidence = v.evidence || slices.ContainsFunc(jobsOf(run), func(p report) bool {
					return p.standing() == green && v.ranCode(p)
				})
			case explained(run):
				v.judgeJobs(run)
			default:
				v.judgeRun(run)
			}
		}
		if !found && !slices.Contains(v.q.Waived, want.Path) {
			v.because("The workflow %s, which a rule requires, %s.", want.Path, v.absent())
		}
	}
}

// judgeJobs judges the jobs that explain why a run is not green. If the red ones are excused, the others are evidence.
func (v *verdict) judgeJobs(run *model.Run) {
	for _, p := range jobsOf(run) {
		if jobReplaced(v.repo, p.job()) {
			continue
		}
		switch p.standing() {
		case green:
			v.evidence = v.evidence || v.ranCode(p)
		case blocked:
			v.because("%q is not green: %s.", p.name, p.obstacle())
		case red:
			v.judgeRed(p)
		}
	}
}

// judgeRed judges a report as red, unless it is red on the base, too. Failures that only people can fix are not the
// change's fault, and a person may accept them. "Required status checks must pass": one that a rule names blocks the
// merge whatever the base's state, until a person accepts it.
// https://docs.github.com/en/pull-requests/reference/status-checks
func (v *verdict) judgeRed(p report) {
	switch {
	case v.formal(p):
		v.because("%q is red, and a person has to see to it.", p.name)
	case !v.base.excuse(v.repo, p):
		v.red = append(v.red, p.name)
		v.because("%q is red.", p.name)
	case v.ruled(p) && !v.waived(p):
		v.because("%q is red on the base, too, and a rule requires it.", p.name)
	}
}

// ruled reports whether a rule of the base branch requires a report.
func (v *verdict) ruled(p report) bool {
	if v.repo.RulesHidden != 0 {
		return false
	}
	j := p.job()
	return slices.ContainsFunc(v.repo.RequiredChecks(v.pull.Base),
		func(want model.RequiredCheck) bool { return v.matches(p, want) }) ||
		j != nil && j.Run.Conclusion != "success" && slices.ContainsFunc(v.repo.RequiredWorkflows(v.pull.Base),
			func(want model.RequiredWorkflow) bool { return v.fulfils(j.Run, want) })
}

// waived reports whether a person waived a report. If several have its name, the waiver names more.
func (v *verdict) waived(p report) bool {
	return slices.ContainsFunc(v.q.Waived, func(name string) bool {
		return name == p.name || strings.HasPrefix(name, p.name+" (")
	})
}
