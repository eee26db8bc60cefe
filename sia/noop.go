package sia

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
)

// dropNoop returns r, or the unchanged task t if e only added its id, a sync and an answer. So a comment that
// changes nothing neither moves the task nor grows its log.
func dropNoop(t Task, e Event, r Result) Result {
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
			suffix := e.ID // the same event gives the same effect at every version of the task
			if f.Kind == DoReact {
				suffix = f.Content + "-" + suffix
			}
			f.Key, f.Aside = effectKey(t.ID, 0, f.Kind, suffix), true
			answers = append(answers, f)
		}
	}
	for key, kind := range t.Pending {
		if kind == DoSync {
			after.Pending[key] = kind // e only rescheduled it
		}
	}
	if !storedEqual(t, after) {
		return r
	}
	return Result{Task: t, Effects: answers, Why: r.Why, Ignored: cmp.Or(r.Ignored, "it changes nothing of the task")}
}

// storedEqual reports whether two tasks have the same stored form.
func storedEqual(a, b Task) bool {
	if a.State != b.State { // the most frequent difference, and cheap to test
		return false
	}
	was, err := json.Marshal(a)
	is, other := json.Marshal(b)
	return err == nil && other == nil && bytes.Equal(was, is)
}
