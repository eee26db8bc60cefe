package world

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// OpenIssue opens an issue.
func (w *World) OpenIssue(r *model.Repository, a model.Actor, title, body string) *model.Issue {
	r.LastNumber++
	i := &model.Issue{ID: w.NextID(), Number: r.LastNumber, Title: title, Body: body, By: a.User, App: a.App,
		State: "open", Made: w.Now(), Updated: w.Now()}
	r.Issues = append(r.Issues, i)
	w.note(r, a, journal.Entry{Kind: "issues.opened", Number: i.Number, Detail: title})
	w.emit(r, a, "issues", "opened", object{"issue": w.shape.Issue(r, i)})
	return i
}

// issueEvent records and sends an event about an issue or a pull request.
func (w *World) issueEvent(
	r *model.Repository, i *model.Issue, a model.Actor, action, detail string, extra object,
) object {
	i.Updated = w.Now()
	w.note(r, a, journal.Entry{Kind: i.Event() + "." + action, Number: i.Number,
		Detail: detail})
	body := object{}
	maps.Copy(body, extra)
	if i.Pull != nil {
		pull := w.shape.Pull(r, i)
		if action == "closed" && r.MergesLag { // https://github.com/rocq-prover/bot/issues/255
			maps.Copy(pull, object{"state": "open", "merged": false, "closed_at": nil, "merged_at": nil, "merged_by": nil})
		}
		body["number"], body["pull_request"] = i.Number, pull
	} else {
		body["issue"] = w.shape.Issue(r, i)
	}
	return w.emit(r, a, i.Event(), action, body)
}

// EditIssue changes the title and the text of an issue or a pull request; nil leaves one alone.
func (w *World) EditIssue(r *model.Repository, i *model.Issue, a model.Actor, title, body *string) {
	changes := object{}
	if title != nil && *title != i.Title {
		changes["title"] = object{"from": i.Title}
		i.Title = *title
	}
	if body != nil && *body != i.Body {
		changes["body"] = object{"from": i.Body}
		i.Body, i.EditedBy = *body, a.User
		if a.App != nil {
			i.EditedBy = nil
		}
	}
	if len(changes) > 0 {
		w.issueEvent(r, i, a, "edited", strings.Join(slices.Sorted(maps.Keys(changes)), ","), object{"changes": changes})
	}
}

// SetState closes or reopens an issue or a pull request.
func (w *World) SetState(r *model.Repository, i *model.Issue, a model.Actor, state, reason string) {
	if i.State == state {
		return
	}
	i.State, i.Reason = state, reason
	if state == "open" {
		i.Closed, i.ClosedBy, i.Reopened = time.Time{}, nil, w.Now()
		body := w.issueEvent(r, i, a, "reopened", "", nil)
		if i.Pull != nil {
			w.startPullWorkflows(r, a, i, body)
		}
		return
	}
	i.Closed, i.ClosedBy = w.Now(), a.User
	w.issueEvent(r, i, a, "closed", reason, nil)
}

// Assign assigns somebody to an issue.
func (w *World) Assign(r *model.Repository, i *model.Issue, a model.Actor, u *model.User) {
	if slices.Contains(i.Assignees, u) {
		return
	}
	i.Assignees = append(i.Assignees, u)
	w.issueEvent(r, i, a, "assigned", u.Login, object{"assignee": w.shape.User(u)})
}

// Unassign removes an assignee.
func (w *World) Unassign(r *model.Repository, i *model.Issue, a model.Actor, u *model.User) {
	n := slices.Index(i.Assignees, u)
	if n < 0 {
		return
	}
	i.Assignees = slices.Delete(i.Assignees, n, n+1)
	w.issueEvent(r, i, a, "unassigned", u.Login, object{"assignee": w.shape.User(u)})
}

// DeleteIssue deletes an issue for good.
func (w *World) DeleteIssue(r *model.Repository, i *model.Issue, a model.Actor) {
	w.emit(r, a, "issues", "deleted", object{"issue": w.shape.Issue(r, i)})
	r.Issues = slices.DeleteFunc(r.Issues, func(x *model.Issue) bool { return x == i })
	r.Moved[i.Number] = ""
	w.note(r, a, journal.Entry{Kind: "issues.deleted", Number: i.Number})
}
