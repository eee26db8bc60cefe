package world

import (
	"maps"

	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/payload"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// emitCheck sends a check_run event: created and completed to every app,
// rerequested and requested_action only to the one that owns the check run.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads#check_run
func (w *World) emitCheck(r *model.Repository, a model.Actor, c *model.CheckRun, action string, extra object) {
	body := object{"check_run": w.shape.CheckPayload(r, c)}
	maps.Copy(body, extra)
	body = w.event(r, a, action, body)
	for _, i := range w.Installed(r) {
		if action == "created" || action == "completed" || i.App == c.Suite.App {
			w.emitTo(i, r, "check_run", body)
		}
	}
}

// NewCheck is a check run of an app that was not announced yet.
func (w *World) NewCheck(r *model.Repository, a *model.App, sha string) *model.CheckRun {
	return &model.CheckRun{ID: w.NextID(), Suite: w.suiteOf(r, a, sha), SHA: sha, Status: "queued", Started: w.Now()}
}

// AddCheck adds and announces a check run.
func (w *World) AddCheck(r *model.Repository, a model.Actor, c *model.CheckRun) {
	r.Checks = append(r.Checks, c)
	w.checkChanged(r, a, c, true, false)
}

// ChangeCheck changes a check run, and announces it when that completed it.
func (w *World) ChangeCheck(r *model.Repository, a model.Actor, c *model.CheckRun, change func(*model.CheckRun)) {
	wasDone := c.Status == "completed"
	change(c)
	w.checkChanged(r, a, c, false, wasDone)
}

// checkChanged announces a check run that was created or changed, and updates its suite.
func (w *World) checkChanged(r *model.Repository, a model.Actor, c *model.CheckRun, fresh, wasDone bool) {
	if fresh {
		w.note(r, a, journal.Entry{Kind: "check_run.created", Ref: c.Name, SHA: c.SHA,
			Detail: c.Status})
		w.emitCheck(r, a, c, "created", nil)
	}
	if c.Status == "completed" && !wasDone {
		w.note(r, a, journal.Entry{Kind: "check_run.completed", Ref: c.Name, SHA: c.SHA,
			Detail: c.Conclusion})
		w.emitCheck(r, a, c, "completed", nil)
	}
	if c.Job != nil || r.RunOf(c.Suite) == nil { // a workflow run's suite ends with the run
		w.settleSuite(r, a, c.Suite)
	}
}

// RerequestCheck requests a rerun: the check runner reruns its own, and another app gets an event after its suite was
// reset.
func (w *World) RerequestCheck(r *model.Repository, a model.Actor, c *model.CheckRun) error {
	if c.Status != "completed" {
		return refusal.Unprocessable("This check run is not rerequestable")
	}
	w.note(r, a, journal.Entry{Kind: "check_run.rerequested", Ref: c.Name, SHA: c.SHA})
	if c.Job != nil {
		return w.Rerun(r, c.Job.Run, a, func(j *model.Job) bool { return j.Plan.Name == c.Job.Plan.Name })
	}
	w.emitCheck(r, a, c, "rerequested", nil)
	c.Suite.Status, c.Suite.Conclusion = "queued", ""
	return nil
}

// PressButton presses a button of a check run.
func (w *World) PressButton(r *model.Repository, a model.Actor, c *model.CheckRun, identifier string) {
	w.note(r, a, journal.Entry{Kind: "check_run.requested_action", Ref: c.Name, SHA: c.SHA, Detail: identifier})
	w.emitCheck(r, a, c, "requested_action", object{"requested_action": object{"identifier": identifier}})
}

// AddStatus sets a commit status. The world sets its id, its author and its time.
func (w *World) AddStatus(r *model.Repository, a model.Actor, st *model.Status) {
	st.ID, st.By, st.At = w.NextID(), a.User, w.Now()
	r.Statuses = append(r.Statuses, st)
	w.note(r, a, journal.Entry{Kind: "status", Ref: st.Context, SHA: st.SHA, Detail: st.State})
	facts := w.git.Facts(r.Dir, st.SHA)
	branches := []object{}
	for _, b := range r.Branches() {
		if r.Head(b) == st.SHA {
			branches = append(branches, w.shape.BranchShort(r, b))
		}
	}
	commit := w.shape.Commit(r, facts)
	delete(commit["commit"].(object)["verification"].(object), "verified_at")
	w.emit(r, a, "status", "", object{
		"id": st.ID, "sha": st.SHA, "name": r.FullName(), "target_url": payload.OrNull(st.URL),
		"avatar_url": w.shape.User(st.By)["avatar_url"],
		"context":    st.Context, "description": payload.OrNull(st.Description), "state": st.State, "commit": commit,
		"branches":   branches,
		"created_at": payload.Stamp(st.At), "updated_at": payload.Stamp(st.At),
	})
}
