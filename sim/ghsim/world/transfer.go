package world

import (
	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// TransferIssue moves an issue to another repository, where it gets a new number: comments and people are kept, and
// labels that exist there by name. Its former number leads to the new place.
// https://docs.github.com/en/issues/tracking-your-work-with-issues/administering-issues/transferring-an-issue-to-another-repository
// https://docs.github.com/en/webhooks/webhook-events-and-payloads?actionType=transferred#issues
func (w *World) TransferIssue(r *model.Repository, i *model.Issue, a model.Actor, to *model.Repository) *model.Issue {
	moved := *i
	to.LastNumber++
	moved.ID, moved.Number, moved.Labels, moved.Updated = w.NextID(), to.LastNumber, nil, w.Now()
	moved.Comments = nil
	for _, l := range i.Labels {
		if have := to.Label(l.Name); have != nil {
			moved.Labels = append(moved.Labels, have)
		}
	}
	there := &moved
	for _, c := range i.Comments {
		again := *c
		again.Issue = there
		there.Comments = append(there.Comments, &again)
	}
	to.Issues = append(to.Issues, there)
	old, fresh := w.shape.Issue(r, i), w.shape.Issue(to, there)
	for n, x := range r.Issues {
		if x == i {
			r.Issues = append(r.Issues[:n:n], r.Issues[n+1:]...)
			break
		}
	}
	r.Moved[i.Number] = w.shape.API("/repos/%s/issues/%d", to.FullName(), there.Number)
	w.note(r, a, journal.Entry{Kind: "issues.transferred", Number: i.Number, Detail: to.FullName()})
	w.emit(r, a, "issues", "transferred", object{"issue": old,
		"changes": object{"new_issue": fresh, "new_repository": w.shape.Repository(to)}})
	w.note(to, a, journal.Entry{Kind: "issues.opened", Number: there.Number, Detail: there.Title})
	w.emit(to, a, "issues", "opened", object{"issue": fresh,
		"changes": object{"old_issue": old, "old_repository": w.shape.Repository(r)}})
	return there
}
