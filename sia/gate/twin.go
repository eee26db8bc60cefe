package gate

import (
	"cmp"
	"fmt"
	"slices"
)

// standing are the runs of one criterion, oldest first, that none of the others
// replaced. alone reports that it is one, and replaced all others, so that they
// are its history.
func standing(rs []Run, w *Workflow) (present []Run, alone bool) {
	switch {
	case len(rs) == 1:
		return rs, true
	case slices.ContainsFunc(rs, func(r Run) bool { return r.WorkflowRun != 0 }):
		return newestAttempt(rs, w)
	default:
		return sideBySide(rs)
	}
}

// newestAttempt are the runs of a workflow's newest attempt: only a later attempt
// replaces a job. Jobs of one name in one attempt are twins. Where some of them
// were run again, nothing says which; those that were not green stand, until the
// workflow run as a whole is a success.
func newestAttempt(rs []Run, w *Workflow) (present []Run, alone bool) {
	n, most := 0, 0
	count := map[int]int{}
	for _, r := range rs {
		if r.Attempt <= 0 {
			return rs, false // it is not known: the worst counts
		}
		count[r.Attempt]++
		n, most = max(n, r.Attempt), max(most, count[r.Attempt])
	}
	whole := count[n] == most || w != nil && (w.Attempt == n || w.Attempt == 0) && w.Status == "completed" &&
		w.Conclusion == "success"
	for _, r := range rs {
		if o, _ := concluded(r); r.Attempt == n || !whole && o != green && o != skipped {
			present = append(present, r)
		}
	}
	return present, most == 1
}

// sideBySide are the newest run of another app's check, and those that ran at the
// same time as it or as one of them.
func sideBySide(rs []Run) (present []Run, alone bool) {
	in := make([]bool, len(rs))
	in[len(rs)-1] = true
	for grown := true; grown; {
		grown = false
		for i := range rs {
			for k := range rs {
				if !in[i] && in[k] && overlap(rs[i], rs[k]) {
					in[i], grown = true, true
				}
			}
		}
	}
	for i, r := range rs {
		if in[i] {
			present = append(present, r)
		}
	}
	return present, len(present) == 1
}

// overlap reports whether two runs ran at the same time, or may have.
func overlap(a, b Run) bool {
	if a.StartedAt.IsZero() || b.StartedAt.IsZero() {
		return true
	}
	before := func(a, b Run) bool { return !a.CompletedAt.IsZero() && a.CompletedAt.Before(b.StartedAt) }
	return !before(a, b) && !before(b, a)
}

// withoutReplaced leaves out what a later run of the same workflow and job on the
// same commit replaced: one that was cancelled, as `concurrency` does, and one that
// was skipped for the same event, as a guard against drafts does.
func withoutReplaced(all []check) []check {
	return slices.DeleteFunc(slices.Clone(all), func(c check) bool {
		if c.workflow == nil || c.run.ID == 0 {
			return false
		}
		cancelled := c.run.Status == "completed" && c.run.Conclusion == "cancelled"
		if !cancelled && c.outcome != skipped {
			return false
		}
		return slices.ContainsFunc(all, func(o check) bool {
			return o.workflow != nil && o.workflow.ID != c.workflow.ID && o.workflow.Path == c.workflow.Path &&
				o.app == c.app && o.name == c.name && later(o.run, c.run) &&
				(cancelled && o.outcome != skipped || !cancelled && o.workflow.Event == c.workflow.Event)
		})
	})
}

// later reports whether a run started after another.
func later(a, b Run) bool {
	return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID)) > 0
}

// tellApart gives checks of one name labels that differ: by workflow, event or
// app where that is enough, else by number. The checks are sorted by name.
func tellApart(all []check) {
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

func byWorkflow(c check) string {
	if c.workflow == nil {
		return ""
	}
	return c.workflow.Name
}

func byEvent(c check) string {
	if c.workflow == nil {
		return ""
	}
	return c.workflow.Event
}

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
