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
	defaultTimeout  = 8 * time.Minute // timeout of one model call, the client's retries included
	diagnosisTokens = 24_000          // size of a diagnosis prompt
	minTokens       = 3_000           // minimum size of a prompt with evidence
)

// Diagnoser diagnoses failed attempts.
type Diagnoser struct {
	Model   Model         // nil: diagnoses by rules
	Log     *slog.Logger  // nil: no logging
	Timeout time.Duration // timeout of one model call; 0: eight minutes

	// LastTry reports whether the caller does not call again after an error. Before the last try, a rate limit that
	// names a wait of up to an hour is an error with RetryAfter. Nil: every try is the last.
	LastTry func(context.Context) bool
}

// Input is the input of a diagnosis. Only Task is required.
type Input struct {
	Task       sia.Task    // a task with a failed last attempt; Interventions are the history
	Attempt    sia.Attempt // the failed attempt; the zero Attempt means the task's last
	Transcript string      // transcript of the attempt in Markdown, newest last
	Diff       string      // unified diff of the attempt against the base
	Lessons    []string    // matching lessons of earlier tasks; nil: those of the task's brief

	Library *technique.Library // nil: the techniques that ship with SIA
	// Candidates ranks techniques for a pattern, best first; nil: the library's ranking.
	Candidates func(sia.Pattern) []sia.Candidate
	// Choose chooses a technique; nil: the one that a user asked for, else the answer's pick, else the first candidate.
	// It is called at most once per diagnosis, and not without candidates or when a user is asked.
	Choose func(Choice) (Chosen, error)

	// Final: no approach is left, so the diagnosis must ask a user.
	Final bool

	Files []string                          // the repository's paths
	Read  func(path string) ([]byte, error) // nil: no file is shown as an example
	Tools []string                          // names of the coding agent's tools

	NoModel string // why no model may be asked, such as an exhausted budget; then rules diagnose
}

// Result is the outcome of a diagnosis.
type Result struct {
	Diagnosis sia.Diagnosis
	// entry to be logged before the diagnosis takes effect; nil: a user is asked, or Choose keeps no log
	Decision *sia.Decision
	Usage    llm.Usage // usage of all model calls, also on error
}

// Diagnose determines why the attempt failed and what to try next. If the model fails, rules diagnose, and Fallback is
// the reason. Diagnose fails when ctx is done, when Choose fails, and when it has to be called again, see LastTry.
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
	why, err := askModel(ctx, d.Model, in.NoModel, d.Log, op, "diagnosing by rules", func() error {
		return d.ask(ctx, in, findings, &ans, &r.Usage)
	})
	if err != nil {
		return r, err
	}
	if why != "" {
		ans = byRules(in, findings)
	}
	if r.Diagnosis, r.Decision, err = applyHardRules(in, ans, findings, why); err != nil {
		return Result{Usage: r.Usage}, fmt.Errorf("%s: %w", op, err)
	}
	return r, nil
}

// ask asks the model, a second time if the answer is unusable.
func (d *Diagnoser) ask(ctx context.Context, in Input, findings []finding, ans *answer, usage *llm.Usage) error {
	c := conversation{model: d.Model, timeout: d.Timeout, lastTry: d.LastTry, usage: usage}
	c.open("diagnose", promptValues(in), diagnosisTokens, func(room int) string { return evidence(in, findings, room) })
	return c.ask(ctx, diagnosisSchema(in), func(raw []byte) (err error) {
		*ans, err = parseAnswer(raw, in)
		return err
	})
}
