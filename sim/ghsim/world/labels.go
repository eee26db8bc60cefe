package world

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// EnsureLabel returns a repository's label of a name, and creates it if needed.
func (w *World) EnsureLabel(r *model.Repository, name string) *model.Label {
	if l := r.Label(name); l != nil {
		return l
	}
	l := &model.Label{ID: w.NextID(), Name: name, Color: model.DefaultColor}
	r.Labels = append(r.Labels, l)
	return l
}

// AddLabel adds a label to an issue or a pull request.
func (w *World) AddLabel(r *model.Repository, i *model.Issue, a model.Actor, l *model.Label) {
	if slices.Contains(i.Labels, l) {
		return
	}
	i.Labels = append(i.Labels, l)
	w.issueEvent(r, i, a, "labeled", l.Name, object{"label": w.shape.Label(r, l)})
}

// RemoveLabel removes a label; it reports whether it was there.
func (w *World) RemoveLabel(r *model.Repository, i *model.Issue, a model.Actor, name string) bool {
	n := slices.IndexFunc(i.Labels, func(l *model.Label) bool { return strings.EqualFold(l.Name, name) })
	if n < 0 {
		return false
	}
	l := i.Labels[n]
	i.Labels = slices.Delete(i.Labels, n, n+1)
	w.issueEvent(r, i, a, "unlabeled", l.Name, object{"label": w.shape.Label(r, l)})
	return true
}

// SetLabels sets the labels of an issue.
func (w *World) SetLabels(r *model.Repository, i *model.Issue, a model.Actor, names []string) {
	for _, l := range slices.Clone(i.Labels) {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, l.Name) }) {
			w.RemoveLabel(r, i, a, l.Name)
		}
	}
	for _, n := range names {
		w.AddLabel(r, i, a, w.EnsureLabel(r, n))
	}
}

// CreateLabel makes a label.
func (w *World) CreateLabel(r *model.Repository, a model.Actor, l model.Label) *model.Label {
	made := w.EnsureLabel(r, l.Name)
	l.ID = made.ID
	*made = l
	w.note(r, a, journal.Entry{Kind: "label.created", Ref: l.Name})
	return made
}

// EditLabel changes a label to the values of another.
func (w *World) EditLabel(r *model.Repository, a model.Actor, l *model.Label, to model.Label) {
	to.ID = l.ID
	*l = to
	w.note(r, a, journal.Entry{Kind: "label.edited", Ref: l.Name})
}

// DeleteLabel removes a label from every issue and from the repository.
func (w *World) DeleteLabel(r *model.Repository, a model.Actor, l *model.Label) {
	for _, i := range r.Issues {
		w.RemoveLabel(r, i, a, l.Name)
	}
	r.Labels = slices.DeleteFunc(r.Labels, func(x *model.Label) bool { return x == l })
	w.note(r, a, journal.Entry{Kind: "label.deleted", Ref: l.Name})
}
