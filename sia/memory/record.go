package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Record is the data for rebuilding a lost database: the task and the logs about it, without transient state. The
// record is for SIA; people read the other fields.
type Record struct {
	At        time.Time         `json:"at"` // time of the task's last move
	Task      sia.Task          `json:"task"`
	Decisions []json.RawMessage `json:"decisions,omitempty" merge:"missing"` // from the decision log, oldest first
	Outcomes  []json.RawMessage `json:"outcomes,omitempty" merge:"missing"`  // of interventions; policies learn from them
	Evidence  []json.RawMessage `json:"evidence,omitempty" merge:"missing"`  // about lessons that attempts got or taught
}

// newRecord returns the record of a task. It leaves out work in progress, what was shown where, and executed briefs,
// which a rebuilt task does not need.
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

// lastMoved returns the time of a task's last move, in UTC, from its own times.
func lastMoved(t sia.Task) time.Time {
	at := t.Since
	for _, a := range t.Attempts {
		if a.EndedAt.After(at) {
			at = a.EndedAt
		}
	}
	return at.UTC()
}

// Rebuilt is the reason why a rebuilt task that had not ended is stopped.
const Rebuilt = "This task was rebuilt from memory after SIA's database was lost; it had not ended. `/sia start` " +
	"goes on."

// ErrNoRecord is the error for a task's file without a record.
var ErrNoRecord = errors.New("the file has no “record”, so the task can't be rebuilt from it")

// Task returns the task as history: ended, with no work in progress. A task that had not ended is stopped, and
// unfinished is true. The installation and repository are the current ones, the issue is the file's. The state passed
// is accepted only if the record confirms it: an attempt passed on its head, or a user's push did. An impossible amount
// or number of attempts is an error, and times of the task after now become now: its costs count in the budgets. The
// risks of its attempts are left out: they would teach the model that interrupts attempts of all repositories.
func (f File) Task(installation int64, repo sia.Repo, now time.Time) (t sia.Task, unfinished bool, err error) {
	if f.Record == nil {
		return t, false, ErrNoRecord
	}
	t = f.Record.Task
	if t.Issue < 1 || t.Issue != f.Issue {
		return t, false, fmt.Errorf("the file is about issue %d and its record about %d", f.Issue, t.Issue)
	}
	if n := max(len(t.Attempts), len(t.Interventions)); n > maxTries {
		return t, false, fmt.Errorf("the record has %d attempts or interventions; at most %d are restored", n, maxTries)
	}
	if err := restrain(reflect.ValueOf(&t).Elem(), now); err != nil {
		return t, false, err
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
		t.State, t.Ended, t.Since = sia.Stopped, Rebuilt, Earlier(f.Record.At, now)
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
		t.Attempts[i].Risk = nil
		endParts(&t.Attempts[i])
	}
	return t, unfinished, nil
}

// maxTries limits the attempts and the interventions of a record, which learning counts.
const maxTries = 1000

// maxAmount limits each amount of a record, so that databases can add up many of them.
const maxAmount = 1e9 * sia.Credit

// restrain returns an error if v contains an amount that no task can have, and sets its times after now to now.
func restrain(v reflect.Value, now time.Time) error {
	switch x := v.Addr().Interface().(type) {
	case *sia.Credits:
		if *x < 0 || *x > maxAmount {
			return fmt.Errorf("the record has an amount of %s credits", *x)
		}
		return nil
	case *time.Time:
		*x = Earlier(*x, now)
		return nil
	}
	var err error
	switch v.Kind() {
	case reflect.Struct:
		for i := 0; i < v.NumField() && err == nil; i++ {
			if v.Type().Field(i).IsExported() {
				err = restrain(v.Field(i), now)
			}
		}
	case reflect.Slice:
		for i := 0; i < v.Len() && err == nil; i++ {
			err = restrain(v.Index(i), now)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			err = restrain(v.Elem(), now)
		}
	}
	return err
}

// Earlier returns the earlier one of two times. A record of a time after now states now.
func Earlier(a, now time.Time) time.Time {
	if a.After(now) {
		return now.UTC()
	}
	return a
}

// endParts clears an attempt's work in progress: running parts and pending questions.
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
