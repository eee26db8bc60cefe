package gate

import "slices"

// fileOf is what the file of a check's workflow says, where it is known.
func (j *judgement) fileOf(c check) (File, bool) {
	if c.workflow == nil || c.app == workflowApp || !j.FilesKnown {
		return File{}, false
	}
	repo, path := c.workflow.file()
	f, known := fileAt(j.Files, path)
	return f, known && j.isOwn(repo) && !f.Gone && !f.Unread
}

// neededBy are the indices of the checks of a check's workflow run that it may be skipped for: those of jobs that it
// needs, with what the run says besides its jobs, and those of which nobody can read whether it does. These are all
// where its file is not known, and the jobs of one reusable workflow where that is not followed.
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

// requireNeeded makes required what a required job needs, and what a workflow run with a required job says besides
// its jobs. GitHub looks at the required name alone, and takes for a success a job that was skipped because one that
// it needs failed; and one that sums the others up may look at some of them, or take what was cancelled for good.
// Where nobody can read what a job needs, that is whatever it may have been skipped for.
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
			// What nobody started or finished explains it as well as what failed beside it, and is asked about first.
			open := s.outcome != green && s.outcome != skipped && (!stopped || s.outcome != red)
			s.required = s.required || c.outcome == skipped && open
		}
	}
}

// sumsUp reports whether a check is a job that judges nothing but how the jobs that it needs went.
func (j *judgement) sumsUp(c check) bool {
	f, known := j.fileOf(c)
	return known && !f.job(c.name).Code && len(f.needs(c.name)) > 0
}

// follow lets a job that is not green for the jobs that it sums up stand as they do: they say why, and they are what
// is blamed, excused or run again. GitHub runs a job's dependents again with it.
// https://docs.github.com/en/actions/how-tos/manage-workflow-runs/re-run-workflows-and-jobs
func (j *judgement) follow() {
	for i := range j.checks {
		c := &j.checks[i]
		if c.outcome != red && c.outcome != again && c.outcome != blocked || !j.sumsUp(*c) {
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

// needsMatter reports whether the verdict may turn on which jobs a job needs, why it was skipped, or which jobs a run
// has yet to make: one that counts has others beside it that are not green, ran elsewhere, or is absent.
func (j *judgement) needsMatter() bool {
	if slices.ContainsFunc(j.absent, func(r Required) bool { return len(j.mayMake(r)) > 0 }) {
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
