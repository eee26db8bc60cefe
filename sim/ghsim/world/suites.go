package world

import (
	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// suiteOf returns an app's check suite for a commit, and creates it if needed.
func (w *World) suiteOf(r *model.Repository, a *model.App, sha string) *model.Suite {
	for _, st := range r.Suites {
		if st.App == a && st.SHA == sha {
			return st
		}
	}
	st := &model.Suite{ID: w.NextID(), App: a, SHA: sha, Status: "queued", Made: w.Now(), Updated: w.Now()}
	for _, b := range r.Branches() {
		if r.Head(b) == sha && (st.Branch == "" || b != r.DefaultBranch) {
			st.Branch = b
		}
	}
	r.Suites = append(r.Suites, st)
	return st
}

// requestSuites makes a check suite for each app with checks: write after a push and sends it an event.
// https://docs.github.com/en/rest/guides/using-the-rest-api-to-interact-with-checks
func (w *World) requestSuites(r *model.Repository, a model.Actor, branch, old, sha string) {
	for _, i := range w.Installed(r) {
		if i.Permissions["checks"] != "write" {
			continue
		}
		n := len(r.Suites)
		st := w.suiteOf(r, i.App, sha)
		if len(r.Suites) == n {
			continue
		}
		st.Branch, st.Before = branch, old
		w.emitSuite(r, a, st, "requested")
	}
}

// settleSuite computes a suite from its check runs and announces its completion.
func (w *World) settleSuite(r *model.Repository, a model.Actor, st *model.Suite) {
	was := st.Status
	st.Status, st.Conclusion = model.SuiteState(r.LatestChecks(st))
	if run := r.RunOf(st); run != nil && run.Unmade() {
		st.Status, st.Conclusion = "in_progress", "" // it ends with its run
	}
	st.Updated = w.Now()
	if st.Status == "completed" && was != "completed" {
		w.note(r, a, journal.Entry{Kind: "check_suite.completed", Ref: st.App.Slug, SHA: st.SHA,
			Detail: st.Conclusion})
		w.emitSuite(r, a, st, "completed")
	}
}

// emitSuite sends a check_suite event: completed to every app, the others only
// to the one that owns the suite.
func (w *World) emitSuite(r *model.Repository, a model.Actor, st *model.Suite, action string) {
	body := w.shape.Suite(r, st)
	if action == "rerequested" {
		delete(body, "rerequestable")
		delete(body, "runs_rerequestable")
	}
	body = w.event(r, a, action, object{"check_suite": body})
	for _, i := range w.Installed(r) {
		if action == "completed" || i.App == st.App {
			w.emitTo(i, r, "check_suite", body)
		}
	}
}

// RerequestSuite requests a rerun of a check suite: the check runner reruns its jobs, another app gets an event.
func (w *World) RerequestSuite(r *model.Repository, a model.Actor, st *model.Suite) error {
	w.note(r, a, journal.Entry{Kind: "check_suite.rerequested", Ref: st.App.Slug, SHA: st.SHA})
	if st.App != w.actions {
		st.Status, st.Conclusion = "queued", ""
		w.emitSuite(r, a, st, "rerequested")
		return nil
	}
	for _, run := range r.Runs {
		if run.Suite == st && run.Status == "completed" {
			if err := w.Rerun(r, run, a, func(*model.Job) bool { return true }); err != nil {
				return err
			}
		}
	}
	return nil
}
