package rules

import (
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// success are the conclusions with which a check run satisfies a requirement: a skipped one does, whatever the reason.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks
var success = []string{"success", "neutral", "skipped"}

func green(k *model.CheckRun) bool {
	return k.Status == "completed" && slices.Contains(success, k.Conclusion)
}

// satisfied reports whether a required check is green on the head or on the test merge. Every newest check run of that
// name counts, and the newest status; a status on the test merge replaces the head's.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks
func satisfied(r *model.Repository, want model.RequiredCheck, head, merge string) bool {
	found, all := false, true
	for _, k := range latest(r, head, merge) {
		if k.Name == want.Context && (want.App == 0 || want.App == k.Suite.App.ID) {
			found, all = true, all && green(k)
		}
	}
	if st := statuses(r, head, merge)[want.Context]; st != nil && (want.App == 0 || byApp(r, st, want.App)) {
		found, all = true, all && st.State == "success"
	}
	return found && all
}

// byApp reports whether an app set a status.
func byApp(r *model.Repository, st *model.Status, app int64) bool {
	return slices.ContainsFunc(r.Suites, func(s *model.Suite) bool { return s.App.ID == app && s.App.Bot == st.By })
}

// latest are the newest check runs of each name in each suite of the head and of the test merge. A job that succeeded
// replaces one that failed in an earlier run of the same workflow and event. If one of two such runs is skipped and the
// other is not, both count.
// https://github.com/everruns/everruns/pull/3739
func latest(r *model.Repository, head, merge string) []*model.CheckRun {
	var all []*model.CheckRun
	for _, st := range r.Suites {
		if st.SHA == head || merge != "" && st.SHA == merge {
			all = append(all, r.LatestChecks(st)...)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(k *model.CheckRun) bool {
		return !green(k) && slices.ContainsFunc(all, func(o *model.CheckRun) bool { return replaces(r, o, k) })
	})
}

// replaces reports whether a job that succeeded is of a later run of another job's workflow for the same event.
func replaces(r *model.Repository, o, k *model.CheckRun) bool {
	return k.Job != nil && o.Job != nil && o.Job.ID > k.Job.ID && o.Name == k.Name && o.SHA == k.SHA &&
		o.Conclusion == "success" && o.Job.Run != k.Job.Run && o.Job.Run.Path == k.Job.Run.Path &&
		o.Job.Run.Source(r) == k.Job.Run.Source(r) && o.Job.Run.Event.Name == k.Job.Run.Event.Name
}

// statuses are the newest status of each context; the test merge's replace the head's.
func statuses(r *model.Repository, head, merge string) map[string]*model.Status {
	out := map[string]*model.Status{}
	for _, sha := range []string{merge, head} {
		if sha == "" {
			continue
		}
		for _, st := range r.StatusesOf(sha) {
			if out[st.Context] == nil {
				out[st.Context] = st
			}
		}
	}
	return out
}

// passing reports whether all reports are green: running ones are not.
func passing(r *model.Repository, head, merge string) bool {
	for _, k := range latest(r, head, merge) {
		if !green(k) {
			return false
		}
	}
	for _, st := range statuses(r, head, merge) {
		if st.State != "success" {
			return false
		}
	}
	return !slices.ContainsFunc(r.Runs, func(run *model.Run) bool {
		explained := slices.ContainsFunc(run.Latest(), func(j *model.Job) bool { return !green(j.Check) })
		return run.SHA == head && (run.Status != "completed" || !explained && !slices.Contains(success, run.Conclusion))
	})
}

// ran reports whether a required workflow has run for the head and succeeded. Runs for a push don't count.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#require-workflows-to-pass-before-merging
func ran(r *model.Repository, want model.RequiredWorkflow, head string) bool {
	events := []string{"pull_request", "pull_request_target", "merge_group"}
	for _, run := range slices.Backward(r.Runs) {
		if run.SHA == head && run.Path == want.Path && run.Source(r).ID == want.Repository &&
			slices.Contains(events, run.Event.Name) {
			return run.Status == "completed" && slices.Contains(success, run.Conclusion)
		}
	}
	return false
}
