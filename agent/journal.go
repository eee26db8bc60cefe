package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/secret"
)

// recordWithin is for saving a turn after the attempt was cancelled.
const recordWithin = 10 * time.Second

// journal saves an attempt's turns.
type journal struct {
	rec   Recorder // nil: nothing is saved
	clock func() time.Time
	notes []string // for the next turn
}

// record saves a turn that is complete.
func (j *journal) record(ctx context.Context, t Turn) error {
	err := j.save(ctx, t)
	j.notes = nil
	return err
}

// save saves a turn with its notes so far, secrets masked. It does so even when
// the attempt was just cancelled.
func (j *journal) save(ctx context.Context, t Turn) error {
	t.At = j.clock()
	t.Note = strings.Join(j.notes, "\n")
	if j.rec == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordWithin)
	defer cancel()
	if err := j.rec.Turn(ctx, redacted(t)); err != nil {
		return fmt.Errorf("save transcript: %w", err)
	}
	return nil
}

// redacted is t with secrets masked.
func redacted(t Turn) Turn {
	t.Text, t.Note = secret.Mask(t.Text), secret.Mask(t.Note)
	calls := make([]Call, len(t.Calls))
	for i, c := range t.Calls {
		masked := secret.Mask(c.Arguments)
		c.Masked = c.Masked || masked != c.Arguments
		c.Arguments, c.Result = masked, secret.Mask(c.Result)
		calls[i] = c
	}
	if len(calls) > 0 {
		t.Calls = calls
	}
	return t
}

// note is for the next turn; an empty one is none.
func (j *journal) note(text string) {
	if text != "" {
		j.notes = append(j.notes, text)
	}
}
