package gate

import (
	"slices"
	"strings"
)

// Explanations of inputs that could not be read.
const (
	runsUnread  = "The runs of workflows could not be read; SIA needs the permission `actions: read` to tell them apart."
	rulesUnread = "The branch's rules could not be read, so every check that ran counts."
)

// Unread returns the sentences of [Result.Explain] about inputs that could not be read.
func Unread(explain []string) []string {
	return slices.DeleteFunc(slices.Clone(explain), func(s string) bool { return s != runsUnread && s != rulesUnread })
}

// requirements says which checks of a commit have to be green, and which of these did not report.
type requirements struct {
	facts  *facts
	checks []requirement // of the facts' checks, in their order
	all    bool          // every check that ran is required
	absent []Required    // required checks that did not report
	missed []Expected    // expected checks that did not report
}

// requirement says whether a check has to be green.
type requirement struct {
	required bool
	byRun    bool   // it is required only because a rule requires its workflow
	ran      string // if skipped: where else it ran, for people
}

// require returns the requirements by rules, settings and workflow files, and by what reported elsewhere.
func require(f *facts) *requirements {
	r := &requirements{facts: f, checks: make([]requirement, len(f.checks))}
	r.all = len(f.named) == 0 || !f.RequiredKnown
	r.absent = slices.DeleteFunc(slices.Clone(f.named), f.isThere)
	for i, c := range f.checks {
		bound := slices.ContainsFunc(f.named, func(n Required) bool { return f.binds(n, c) })
		r.checks[i] = requirement{required: bound || r.all, byRun: bound && !f.isNamed(c)}
	}
	r.requireNeeded()
	r.expect()
	return r
}

// explain returns what could not be read, and that every check counts if rules and settings name none.
func (r *requirements) explain() (out []string) {
	if r.facts.WorkflowsHidden {
		out = append(out, runsUnread)
	}
	switch {
	case !r.facts.RequiredKnown:
		out = append(out, rulesUnread)
	case r.all && len(r.checks) > 0:
		out = append(out, "Neither rules nor settings name required checks, so every check that ran counts.")
	}
	return out
}

// requireNeeded requires the jobs that a required job needs, and the check of its workflow run itself. GitHub looks
// only at the required name, and counts a job as successful that was skipped because a needed job failed; and a job
// that aggregates others may look at only some of them, or accept cancelled ones. If the needs of a job are not known,
// it requires all jobs that may have caused a skip.
// https://github.com/G-Research/ParquetSharp/issues/367
// https://github.com/getsentry/sentry/pull/33784
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks
func (r *requirements) requireNeeded() {
	checks := r.facts.checks
	for i, c := range checks {
		if !r.checks[i].required || c.app == workflowApp {
			continue
		}
		for _, k := range c.needs {
			r.checks[k].required = true
		}
		isBlocked := func(k int) bool { return checks[k].outcome == blocked }
		stopped := slices.ContainsFunc(slices.Concat(c.needs, c.mayNeed), isBlocked)
		for _, k := range c.mayNeed {
			o := checks[k].outcome
			// A blocked job explains the skip as well as a failed one does, and a person is asked about it first.
			open := o != green && o != skipped && (!stopped || o != red)
			r.checks[k].required = r.checks[k].required || c.outcome == skipped && open
		}
	}
}

// expect records the expected checks that did not report on the commit, and which skipped checks ran on other commits.
// If rules or settings name the required checks, no other check is missed, because it would not count.
func (r *requirements) expect() {
	f := r.facts
	expected := Expect(f.Earlier, f.History, f.Files, f.Changed)
	for _, e := range f.unstarted() {
		known := slices.ContainsFunc(expected, func(o Expected) bool { return o.Workflow == e.Workflow })
		if r.all && !known && !slices.Contains(f.Waived, f.missedName(e.Reported)) {
			r.missed = append(r.missed, e)
		}
	}
	for _, e := range expected {
		wanted := slices.ContainsFunc(r.absent, func(a Required) bool { return a.Name == e.Name && a.Workflow == "" })
		if wanted || f.head.has(e.Reported, false) {
			continue
		}
		if !f.head.has(e.Reported, true) {
			if r.all && !slices.Contains(f.Waived, f.missedName(e.Reported)) {
				r.missed = append(r.missed, e)
			}
			continue
		}
		for i, c := range f.checks {
			if e.near && c.workflow != nil && f.head.reports(c.run, e.Reported) {
				r.checks[i].ran = strings.Replace(e.Why, "reported", "ran", 1)
			}
		}
	}
}
