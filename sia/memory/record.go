package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Record is what a lost database is rebuilt from: the task as SIA knew it, and what was logged
// about it. What only the moment needs is left out. The record is SIA's own; people read the other
// fields.
type Record struct {
	At        time.Time         `json:"at"` // when the task last moved
	Task      sia.Task          `json:"task"`
	Decisions []json.RawMessage `json:"decisions,omitempty"` // as the log keeps them, oldest first
	Outcomes  []json.RawMessage `json:"outcomes,omitempty"`  // of interventions, as they are learned from
	Evidence  []json.RawMessage `json:"evidence,omitempty"`  // about lessons that the task's attempts got, or taught
}

// newRecord makes the record of a task. A rebuilt task has no use for what is under way, what was
// shown where, and briefs that were carried out; these are left out.
func newRecord(t sia.Task, l Log) *Record {
	r := &Record{At: lastMoved(t), Task: t, Decisions: l.Decisions, Outcomes: l.Outcomes, Evidence: l.Evidence}
	r.Task.Visible, r.Task.Synced, r.Task.SyncAt = 0, 0, time.Time{}
	r.Task.Pending, r.Task.Seen, r.Task.AwaitMemory, r.Task.Gate = nil, nil, "", sia.GateState{}
	r.Task.Warning, r.Task.WarningOf = "", ""
	r.Task.Brief = sia.Brief{Plan: t.Brief.Plan, Answers: t.Brief.Answers}
	r.Task.Interventions = nil
	for _, i := range t.Interventions {
		i.Diagnosis.Brief = sia.Brief{}
		r.Task.Interventions = append(r.Task.Interventions, i)
	}
	if t.Next != nil {
		next := *t.Next
		next.Diagnosis.Brief = sia.Brief{}
		r.Task.Next = &next
	}
	return r
}

// lastMoved is when a task last moved, in UTC, by its own times.
func lastMoved(t sia.Task) time.Time {
	at := t.Since
	for _, a := range t.Attempts {
		if a.EndedAt.After(at) {
			at = a.EndedAt
		}
	}
	return at.UTC()
}

// Rebuilt is why a task that had not ended waits after it was rebuilt.
const Rebuilt = "This task was rebuilt from memory after SIA's database was lost; it had not ended. `/sia start` " +
	"goes on."

// ErrNoRecord says that a task's file has nothing that the task could be rebuilt from.
var ErrNoRecord = errors.New("the file has no “record”, so the task can't be rebuilt from it")

// Task is the task as history: ended, with nothing under way. A task that had not ended is stopped,
// and unfinished is true. The installation and repository are those of today, the issue is the
// file's. That the task passed is believed only where the record bears it out: an attempt
// passed on its head, or a person's push did.
func (f File) Task(installation int64, repo sia.Repo) (t sia.Task, unfinished bool, err error) {
	if f.Record == nil {
		return t, false, ErrNoRecord
	}
	t = f.Record.Task
	if t.Issue < 1 || t.Issue != f.Issue {
		return t, false, fmt.Errorf("the file is about issue %d and its record about %d", f.Issue, t.Issue)
	}
	t.ID, t.Repo, t.Installation = sia.NewTaskID(repo.ID, t.Issue), repo, installation
	if t.Next != nil && t.State == sia.Announced {
		t.Interventions = append(t.Interventions, *t.Next)
	}
	last := t.Attempt()
	switch {
	case t.State == sia.Stopped:
	case t.State == sia.Passed && last != nil && (t.PassedOn(t.Head) || t.HeadBy != (sia.Actor{})):
	default:
		unfinished = true
		t.State, t.Ended, t.Since = sia.Stopped, Rebuilt, f.Record.At
		if last != nil && last.Outcome == "" {
			last.Outcome, last.Reason = sia.AttemptCancelled, "SIA's database was lost before it was judged"
		}
	}
	t.Next, t.Pause, t.Rounds, t.Refused, t.Wanted, t.Opening = nil, nil, 0, nil, "", nil
	if t.Settings.Label == "" {
		t.Settings = sia.DefaultSettings() // it had not begun
	}
	t.Credits.Reserved = 0
	for i := range t.Attempts {
		endParts(&t.Attempts[i])
	}
	return t, unfinished, nil
}

// endParts leaves nothing of an attempt under way: no run of a part goes on, and nobody is
// asked about one.
func endParts(a *sia.Attempt) {
	a.Reserved, a.Asking, a.Aggregating = 0, 0, false
	for i := range a.Parts {
		p := &a.Parts[i]
		p.Reserved, p.Elsewhere = 0, false
		if p.State == sia.PartRunning {
			p.State = sia.PartWaiting
		}
	}
}
