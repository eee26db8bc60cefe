package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/secret"
)

// recordTimeout limits the saving of a turn after the attempt was canceled.
const recordTimeout = 10 * time.Second

// turnJournal saves an attempt's turns.
type turnJournal struct {
	rec    Recorder // nil: turns are not saved
	budget *attemptBudget
	notes  []string // for the next turn
}

// recordTurn saves a completed turn.
func (j *turnJournal) recordTurn(ctx context.Context, t Turn) error {
	err := j.saveTurn(ctx, t)
	j.notes = nil
	return err
}

// saveTurn saves a turn with its notes so far, secrets masked, even if the attempt was just canceled.
func (j *turnJournal) saveTurn(ctx context.Context, t Turn) error {
	t.At = j.budget.now()
	t.Used = t.At.Sub(j.budget.started)
	t.Note = strings.Join(j.notes, "\n")
	if j.rec == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if err := j.rec.Turn(ctx, t.Masked(secret.Mask)); err != nil {
		return fmt.Errorf("save transcript: %w", err)
	}
	return nil
}

// endText returns the text of the last turn: how the attempt ended.
func endText(r Result) string {
	text := string(r.End)
	for _, s := range []string{r.Reason, r.Summary} {
		if s != "" {
			text += ": " + s
		}
	}
	return text
}

// addNote adds a note to the next turn, unless it is empty.
func (j *turnJournal) addNote(text string) {
	if text != "" {
		j.notes = append(j.notes, text)
	}
}
