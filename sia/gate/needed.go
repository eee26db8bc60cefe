package gate

import "slices"

// siblings returns the indices of the other checks in a check's workflow run.
func (f *facts) siblings(of int) []int {
	var out []int
	run := f.checks[of].workflowRun()
	for i, c := range f.checks {
		if i != of && run != 0 && c.workflowRun() == run {
			out = append(out, i)
		}
	}
	return out
}

// linkNeeded sets the checks because of which each check may be skipped.
func (f *facts) linkNeeded() {
	jobs := make([][]Job, len(f.checks))
	for i, c := range f.checks {
		jobs[i] = c.file.named(c.name)
	}
	for i := range f.checks {
		c := &f.checks[i]
		names := c.file.needs(c.name)
		isNeeded := func(j Job) bool { return slices.Contains(names, j.Name) }
		for _, k := range f.siblings(i) {
			isCalled := func(j Job) bool {
				return j.Calls != "" && slices.ContainsFunc(jobs[k], func(o Job) bool { return o.Name == j.Name })
			}
			switch {
			case f.checks[k].app == workflowApp, slices.ContainsFunc(jobs[k], isNeeded):
				c.needs = append(c.needs, k)
			case c.file.Unread, slices.ContainsFunc(jobs[i], isCalled):
				c.mayNeed = append(c.mayNeed, k)
			}
		}
	}
}

// requireNeeded requires the jobs that a required job needs, and the check of its workflow run itself. GitHub looks
// only at the required name, and counts a job as successful that was skipped because a needed job failed; and a job
// that aggregates others may look at only some of them, or accept cancelled ones. If the needs of a job are not known,
// it requires all jobs that may have caused a skip.
// https://github.com/G-Research/ParquetSharp/issues/367
// https://github.com/getsentry/sentry/pull/33784
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks
func (j *judgement) requireNeeded() {
	for _, c := range j.checks {
		if !c.required || c.app == workflowApp {
			continue
		}
		for _, k := range c.needs {
			j.checks[k].required = true
		}
		isBlocked := func(k int) bool { return j.checks[k].outcome == blocked }
		stopped := slices.ContainsFunc(slices.Concat(c.needs, c.mayNeed), isBlocked)
		for _, k := range c.mayNeed {
			s := &j.checks[k]
			// A blocked job explains the skip as well as a failed one does, and a person is asked about it first.
			open := s.outcome != green && s.outcome != skipped && (!stopped || s.outcome != red)
			s.required = s.required || c.outcome == skipped && open
		}
	}
}

// sumsUp reports whether a check is a job that only aggregates the results of the jobs that it needs.
func (c check) sumsUp() bool { return !c.file.job(c.name).Code && len(c.file.needs(c.name)) > 0 }

// follow gives a job that only aggregates other jobs, and is not green, their outcome: they show the reason, and only
// they are blamed, excused or run again. GitHub re-runs a job's dependents with it.
// https://docs.github.com/en/actions/how-tos/manage-workflow-runs/re-run-workflows-and-jobs
func (j *judgement) follow() {
	for i := range j.checks {
		c := &j.checks[i]
		if c.outcome != red && c.outcome != toRerun && c.outcome != blocked || !c.sumsUp() {
			continue
		}
		stands := green
		var bad []string
		for _, k := range c.needs {
			s := j.checks[k]
			switch s.outcome {
			case green, skipped, excused:
				continue
			case red:
				stands = red
			case blocked:
				if stands != red {
					stands = blocked
				}
			default:
				if stands != red && stands != blocked {
					stands = running
				}
			}
			bad = append(bad, s.label)
		}
		if len(bad) > 0 {
			c.outcome, c.follows, c.why = stands, true, "is not green for "+names(bad)
		}
	}
}

// needsMatter reports whether the verdict may depend on which jobs a job needs, why it was skipped, or which jobs a run
// will still create: a required job has siblings that are not green, was missed, or is absent.
func (j *judgement) needsMatter() bool {
	if slices.ContainsFunc(j.absent, func(r Required) bool { return len(j.mayCreate(r)) > 0 }) {
		return true
	}
	for i, c := range j.checks {
		if c.required && c.missed {
			return true
		}
		if c.required && c.workflow != nil && c.app != workflowApp && j.isOwn(c.workflow.Repository) &&
			slices.ContainsFunc(j.siblings(i), func(k int) bool {
				return j.checks[k].app != workflowApp && j.checks[k].outcome != green
			}) {
			return true
		}
	}
	return false
}
