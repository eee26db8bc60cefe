package sia

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
)

// unlessNothing is what applying e to t led to, or t as it was where that is nothing but who was heard, that
// people be shown it, and an answer. So nobody moves a task, or fills its log, by talking to it.
func unlessNothing(t Task, e Event, r Result) Result {
	after := r.Task
	after.Version, after.Seen, after.Visible, after.SyncAt = t.Version, t.Seen, t.Visible, t.SyncAt
	after.Pending = maps.Clone(after.Pending)
	var answers []Effect
	for _, f := range r.Effects {
		if f.Kind != DoReply && f.Kind != DoReact && f.Kind != DoSync {
			return r
		}
		delete(after.Pending, f.Key)
		if f.Kind != DoSync {
			suffix := e.ID // the same event gives the same effect, whatever the task's version
			if f.Kind == DoReact {
				suffix = f.Content + "-" + suffix
			}
			f.Key, f.Aside = effectKey(t.ID, 0, f.Kind, suffix), true
			answers = append(answers, f)
		}
	}
	for key, kind := range t.Pending {
		if kind == DoSync {
			after.Pending[key] = kind // it was put off or brought forward
		}
	}
	if !sameStored(t, after) {
		return r
	}
	return Result{Task: t, Effects: answers, Why: r.Why, Ignored: cmp.Or(r.Ignored, "it changes nothing of the task")}
}

// sameStored reports whether two tasks are stored alike.
func sameStored(a, b Task) bool {
	if a.State != b.State { // most often, and quick to see
		return false
	}
	was, err := json.Marshal(a)
	is, other := json.Marshal(b)
	return err == nil && other == nil && bytes.Equal(was, is)
}
