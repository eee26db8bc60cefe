package diagnose

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/technique"
)

// Model is a chat model. [llm.Client] is one.
type Model interface {
	Complete(context.Context, llm.Request) (llm.Response, error)
}

// Defaults of a Diagnoser and a Reviewer.
const (
	defaultTimeout  = 8 * time.Minute // of one model call, the client's own retries included
	diagnosisTokens = 24_000          // of a diagnosis' prompt
	minTokens       = 3_000           // below it, a prompt has no room for evidence
)

// Diagnoser diagnoses failed attempts.
type Diagnoser struct {
	Model   Model         // nil: always by rules
	Log     *slog.Logger  // nil: silent
	Timeout time.Duration // of one model call; 0: eight minutes
}

// Input is what a diagnosis is made from. Only Task is required.
type Input struct {
	Task       sia.Task    // its last attempt failed; Interventions are the history
	Attempt    sia.Attempt // the failed attempt; the zero Attempt means the task's last
	Transcript string      // of the attempt, Markdown, newest last
	Diff       string      // of the attempt against the base, unified
	Lessons    []string    // lessons of earlier tasks that match; nil: those of the task's brief

	Library *technique.Library // nil: the techniques that ship with SIA
	// Candidates ranks techniques for a pattern, best first; nil: the library's
	// own ranking.
	Candidates func(sia.Pattern) []sia.Candidate
	// Choose decides; nil: what a person asked for, else the answer's pick, else
	// the first candidate. It is called at most once in a diagnosis, and not when
	// there is nothing to choose from or a person is asked.
	Choose func(Choice) (Chosen, error)

	// Final: no approach is left, so the diagnosis must ask a person.
	Final bool

	Files []string                          // the repository's paths
	Read  func(path string) ([]byte, error) // nil: no file is shown as an example
	Tools []string                          // the names of the coding agent's tools

	NoModel string // why no model may be asked, such as a used-up budget; then rules diagnose and say so
}

// Result is the outcome of a diagnosis.
type Result struct {
	Diagnosis sia.Diagnosis
	// of the technique, to be logged before the diagnosis takes effect; nil: a person
	// is asked, or what chose keeps no log
	Decision *sia.Decision
	Usage    llm.Usage // of every model call that was made, also where there is an error
}

// Diagnose answers why the attempt failed and what to try next. Trouble with the
// model never makes it fail: then rules diagnose, and Fallback says why. It fails
// when ctx ends, and when Choose does.
func (d *Diagnoser) Diagnose(ctx context.Context, in Input) (r Result, err error) {
	op := fmt.Sprintf("diagnose task %s", in.Task.ID)
	if in.Attempt.Number == 0 && in.Task.Attempt() != nil {
		in.Attempt = *in.Task.Attempt()
	}
	in.Library = library(in.Library)
	if in.Lessons == nil {
		in.Lessons = in.Task.Brief.Lessons
	}
	findings := examine(in)
	var ans answer
	why, err := answered(ctx, d.Model, in.NoModel, d.Log, op, "diagnosing by rules", func() string {
		return d.ask(ctx, in, findings, &ans, &r.Usage)
	})
	if err != nil {
		return r, err
	}
	if why != "" {
		ans = byRules(in, findings)
	}
	if r.Diagnosis, r.Decision, err = settle(in, ans, findings, why); err != nil {
		return Result{Usage: r.Usage}, fmt.Errorf("%s: %w", op, err)
	}
	return r, nil
}

// ask has the model answer, and once more when the answer can't be used. why is
// empty when it could.
func (d *Diagnoser) ask(ctx context.Context, in Input, findings []finding, ans *answer, usage *llm.Usage) (why string) {
	c := conversation{model: d.Model, timeout: d.Timeout, usage: usage}
	c.open("diagnose", promptValues(in), diagnosisTokens, func(room int) string { return evidence(in, findings, room) })
	return c.ask(ctx, diagnosisSchema(in), func(raw []byte) (err error) {
		*ans, err = parseAnswer(raw, in)
		return err
	})
}
