package gate

import (
	"cmp"
	"fmt"
	"slices"
)

// standing returns the runs of one criterion, oldest first, that no other run
// replaced. alone means that it is one run that replaced all others, so that they
// are its history.
func standing(rs []Run, w *Workflow) (present []Run, alone bool) {
	switch {
	case len(rs) == 1:
		return rs, true
	case slices.ContainsFunc(rs, func(r Run) bool { return r.WorkflowRun != 0 }):
		return newestAttempt(rs, w)
	default:
		return newest(rs)
	}
}

// newestAttempt returns the runs of a workflow's newest attempt: only a later attempt
// replaces a job. Jobs of one name in one attempt are twins. If some of them were run
// again, it is unknown which; those that were not green stay, until the workflow run
// as a whole is successful.
func newestAttempt(rs []Run, w *Workflow) (present []Run, alone bool) {
	n, most := 0, 0
	count := map[int]int{}
	for _, r := range rs {
		if r.Attempt <= 0 {
			return rs, false // unknown: the worst counts
		}
		count[r.Attempt]++
		n, most = max(n, r.Attempt), max(most, count[r.Attempt])
	}
	whole := count[n] == most || w != nil && (w.Attempt == n || w.Attempt == 0) && w.succeeded()
	for _, r := range rs {
		if o, _ := concluded(r); r.Attempt == n || !whole && o != green && o != skipped {
			present = append(present, r)
		}
	}
	return present, most == 1
}

// newest returns the newest of an app's check runs of one name, which replaces the others, as in
// GitHub's own list of the latest
// (https://docs.github.com/en/rest/checks/runs#list-check-runs-for-a-git-reference). While it
// runs, other running ones are returned as well.
func newest(rs []Run) (present []Run, alone bool) {
	if n := rs[len(rs)-1]; n.Status == "completed" {
		return []Run{n}, true
	}
	for _, r := range rs {
		if r.Status != "completed" {
			present = append(present, r)
		}
	}
	return present, len(present) == 1
}

// withoutReplaced returns the checks without those that a later run of the same workflow and job on the commit
// replaced: cancelled ones, as by `concurrency`; and for the same event those skipped, as by a guard against drafts,
// and those that are not green, if the later one succeeded, as when a label was missing. outdone are the workflow runs
// of the last.
// https://github.com/everruns/everruns/pull/3739
func withoutReplaced(all []check) (out []check, outdone map[int64]bool) {
	alike := map[criterion][]int{}
	for i, c := range all {
		if c.workflow != nil && c.run.ID != 0 {
			alike[c.kind()] = append(alike[c.kind()], i)
		}
	}
	all, out, outdone = slices.Clone(all), make([]check, 0, len(all)), map[int64]bool{}
	for _, c := range all {
		if c.workflow == nil || c.run.ID == 0 {
			out = append(out, c)
			continue
		}
		done := c.run.Status == "completed"
		cancelled := done && c.run.Conclusion == "cancelled"
		failed := done && !cancelled && c.outcome != green && c.outcome != skipped
		replaced := false
		for _, i := range alike[c.kind()] {
			o := &all[i]
			if o.workflow.ID == c.workflow.ID || !o.workflow.alike(*c.workflow) || !later(o.run, c.run) {
				continue
			}
			same := o.workflow.Event == c.workflow.Event
			switch {
			case failed && same && o.outcome == green:
				replaced, outdone[c.workflow.ID] = true, true
				o.outdid = o.outdid || c.outcome == red
			case cancelled && o.outcome != skipped, c.outcome == skipped && same:
				replaced = true
			}
		}
		if !replaced {
			out = append(out, c)
		}
	}
	return out, outdone
}

// later reports whether a job was created after another. The start time is irrelevant: a job that waited longer for a
// runner does not replace one that was cancelled meanwhile.
func later(a, b Run) bool { return a.ID > b.ID }

// setLabels gives checks of one name distinct labels: by workflow, event or app if
// that suffices, else by number. The checks are sorted by name.
func setLabels(all []check) {
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j].name == all[i].name {
			j++
		}
		label(all[i:j])
		i = j
	}
}

func label(alike []check) {
	if len(alike) == 1 {
		alike[0].label = alike[0].name
		return
	}
	for _, by := range []func(check) string{byWorkflow, byEvent, byBoth, byApp} {
		seen := map[string]bool{}
		for _, c := range alike {
			seen[by(c)] = true
		}
		if len(seen) < len(alike) || seen[""] {
			continue
		}
		for i, c := range alike {
			alike[i].label = c.name + " (" + by(c) + ")"
		}
		return
	}
	order := make([]int, len(alike))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(alike[a].run.ID, alike[b].run.ID), cmp.Compare(alike[a].app, alike[b].app))
	})
	for n, i := range order {
		alike[i].label = fmt.Sprintf("%s (%d)", alike[i].name, n+1)
	}
}

func byWorkflow(c check) string { return cmp.Or(c.workflow, &Workflow{}).Name }

func byEvent(c check) string { return cmp.Or(c.workflow, &Workflow{}).Event }

func byBoth(c check) string {
	if c.workflow == nil {
		return ""
	}
	return c.workflow.Name + ", " + c.workflow.Event
}

func byApp(c check) string {
	switch c.app {
	case statusApp:
		return "status"
	case workflowApp:
		return "workflow"
	}
	return c.app
}
