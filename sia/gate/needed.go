package gate

import "slices"

// fileOf returns the file of a check's workflow, and whether it is known.
func (j *judgement) fileOf(c check) (File, bool) {
	if c.workflow == nil || c.app == workflowApp || !j.FilesKnown {
		return File{}, false
	}
	repo, path := c.workflow.file()
	f, known := fileAt(j.Files, path)
	return f, known && j.isOwn(repo) && !f.Gone && !f.Unread
}

// neededBy returns the indices of the checks in the same workflow run because of which a check may be skipped: sure are
// the jobs that it needs and the check of the run itself, perhaps those for which the file does not show whether it
// needs them: all if the file is not known, and the jobs of a reusable workflow that was not expanded.
func (j *judgement) neededBy(of int) (sure, perhaps []int) {
	f, known := j.fileOf(j.checks[of])
	names := f.needs(j.checks[of].name)
	is := func(c check, want func(Job) bool) bool { return slices.ContainsFunc(f.named(c.name), want) }
	for _, k := range j.siblings(of) {
		s := j.checks[k]
		switch {
		case s.app == workflowApp, known && is(s, func(n Job) bool { return slices.Contains(names, n.Name) }):
			sure = append(sure, k)
		case !known, is(j.checks[of], func(n Job) bool {
			return n.Calls != "" && is(s, func(o Job) bool { return o.Name == n.Name })
		}):
			perhaps = append(perhaps, k)
		}
	}
	return sure, perhaps
}

// requireNeeded requires the jobs that a required job needs, and the check of its workflow run itself. GitHub looks
// only at the required name, and counts a job as successful that was skipped because a needed job failed; and a job
// that aggregates others may look at only some of them, or accept cancelled ones. If the needs of a job are not known,
// it requires all jobs that may have caused a skip.
// https://github.com/G-Research/ParquetSharp/issues/367
// https://github.com/getsentry/sentry/pull/33784
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks
func (j *judgement) requireNeeded() {
	for i, c := range j.checks {
		if !c.required || c.app == workflowApp {
			continue
		}
		sure, perhaps := j.neededBy(i)
		for _, k := range sure {
			j.checks[k].required = true
		}
		isBlocked := func(k int) bool { return j.checks[k].outcome == blocked }
		stopped := slices.ContainsFunc(sure, isBlocked) || slices.ContainsFunc(perhaps, isBlocked)
		for _, k := range perhaps {
			s := &j.checks[k]
			// A blocked job explains the skip as well as a failed one does, and a person is asked about it first.
			open := s.outcome != green && s.outcome != skipped && (!stopped || s.outcome != red)
			s.required = s.required || c.outcome == skipped && open
		}
	}
}

// sumsUp reports whether a check is a job that only aggregates the results of the jobs that it needs.
func (j *judgement) sumsUp(c check) bool {
	f, known := j.fileOf(c)
	return known && !f.job(c.name).Code && len(f.needs(c.name)) > 0
}

// follow gives a job that only aggregates other jobs, and is not green, their outcome: they show the reason, and only
// they are blamed, excused or run again. GitHub re-runs a job's dependents with it.
// https://docs.github.com/en/actions/how-tos/manage-workflow-runs/re-run-workflows-and-jobs
func (j *judgement) follow() {
	for i := range j.checks {
		c := &j.checks[i]
		if c.outcome != red && c.outcome != toRerun && c.outcome != blocked || !j.sumsUp(*c) {
			continue
		}
		stands := green
		var bad []string
		sure, _ := j.neededBy(i)
		for _, k := range sure {
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
