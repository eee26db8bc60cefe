package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// maxTurnNumber is the maximum number of a turn: a command may print more often than a model answers.
const maxTurnNumber = 100_000

// decodeTurn decodes and validates a turn that a runner reported.
func decodeTurn(b []byte) (t agent.Turn, err error) {
	if err := json.Unmarshal(b, &t); err != nil {
		return t, fmt.Errorf("it reported what is no turn: %w", err)
	}
	kinds := []agent.TurnKind{agent.TurnBrief, agent.TurnModel, agent.TurnEnd}
	if !slices.Contains(kinds, t.Kind) || t.Number < 0 || t.Number > maxTurnNumber || t.Cost < 0 || !validUsage(t.Usage) {
		return t, fmt.Errorf("it reported a turn that can't be: kind %.20q, number %d, cost %d", t.Kind, t.Number, t.Cost)
	}
	t.Run = 0 // set by the recorder
	return t, nil
}

// maxCount limits the counts of a report, so that many of them can be added up.
const maxCount = 1e12

// validUsage reports whether usage is valid.
func validUsage(u llm.Usage) bool {
	return validCounts(u.Input, u.Output, u.CachedInput, u.CacheWrite) && u.USD >= 0 && u.USD <= maxCount
}

func validCounts(counts ...int) bool {
	return !slices.ContainsFunc(counts, func(n int) bool { return n < 0 || n > maxCount })
}

// validRisk reports whether risk is nil or valid. Attempts of all repositories are interrupted by what it teaches.
func validRisk(risk *sia.Risk) bool {
	return risk == nil || !slices.ContainsFunc(
		[]float64{risk.Streak, risk.Same, risk.Idle, risk.Spent, risk.Chance, risk.Limit},
		func(x float64) bool { return x < 0 || x > 1 })
}

// validEnds lists the valid ends of an attempt.
var validEnds = []sia.AttemptEnd{sia.EndFinished, sia.EndTime, sia.EndTurns, sia.EndCredits, sia.EndStuck, sia.EndAsked,
	sia.EndCancelled, sia.EndError}

// decodeOutcome decodes and validates the outcome of an attempt.
func decodeOutcome(b []byte) (o Outcome, err error) {
	if err := json.Unmarshal(b, &o); err != nil {
		return o, fmt.Errorf("its result can't be read: %w", err)
	}
	r := o.Result
	if !slices.Contains(validEnds, r.End) || r.Turns < 0 || r.Turns > maxTurnNumber || r.Cost < 0 ||
		!validUsage(r.Usage) || !validCounts(r.Edits.Made, r.Edits.Failed) || !validRisk(r.Risk) ||
		r.End == sia.EndAsked && r.Ask == nil {
		return o, fmt.Errorf("its result can't be: end %.20q, turns %d, cost %d", r.End, r.Turns, r.Cost)
	}
	return o, nil
}

// finish takes the result of an attempt: the runner's report, the cost that the server counted, and the files.
func (r *remoteAgent) finish(ctx context.Context, w store.RunnerWatch) (res agent.Result, err error) {
	result, pack, err := r.Store.AttemptResult(ctx, r.effect.Key, r.owner)
	if err != nil {
		return agent.Result{End: sia.EndError, Turns: r.turns, Cost: w.Spent}, err
	}
	o, bad := decodeOutcome(result)
	if bad != nil {
		o = Outcome{}
	}
	why, err := r.applyChange(ctx, o, pack)
	if err != nil {
		return agent.Result{End: sia.EndError}, err // can be retried: the result is kept
	}
	if bad != nil {
		return r.closeOffer(ctx, agent.Result{End: sia.EndError, Reason: r.rejection(w, bad)})
	}
	res = r.confine(o.Result)
	// it can't be less than the calls that were let through, and a runner can't spend more than was reserved beside them
	res.Cost = max(min(res.Cost, r.in.Limits.Credits+w.Spent), w.Spent)
	if w.Refused != "" && (o.Failure != nil || res.End == sia.EndError) {
		res.End, res.Reason, o.Failure = sia.EndCredits, w.Refused, nil
	}
	if why != nil {
		res.End, res.Reason = sia.EndError, r.rejection(w, why)
		o.Failure = nil
	}
	failed := o.Failure.err(r.effect.Key)
	if known := (*sia.Error)(nil); errors.As(failed, &known) && !known.Permanent {
		return res, errors.Join(failed, r.Store.FailAttempt(ctx, r.effect.Key, r.owner)) // it may be offered again
	}
	closed, err := r.closeOffer(ctx, res)
	res.Cost = max(res.Cost, closed.Cost) // the last call may have been booked after w was read
	return res, errors.Join(err, failed)
}

// confine limits a result to what the attempt can have had: repositories and tasks learn from the coder's models and
// from the lessons that were shown.
func (r *remoteAgent) confine(res agent.Result) agent.Result {
	var models, shown, withheld []string
	for _, m := range r.work.Coder.Models {
		models = append(models, m.Model)
	}
	if !agent.IsBuiltin(res.Agent, models) {
		res.Agent = "" // the coder's name in the configuration stays
	}
	for _, l := range r.in.Brief.ToolLessons {
		if l.Withheld {
			withheld = append(withheld, l.ID)
		} else {
			shown = append(shown, l.ID)
		}
	}
	res.LessonsShown = common(res.LessonsShown, shown)
	res.LessonsWithheld = common(res.LessonsWithheld, withheld)
	return res
}

// common returns the elements of list that are in known.
func common(list, known []string) []string {
	return slices.DeleteFunc(list, func(id string) bool { return !slices.Contains(known, id) })
}

// answer answers a runner that asks about its change.
func (r *remoteAgent) answer(ctx context.Context, w store.RunnerWatch) {
	var a ChangeAnswer
	var err error
	if a.Refused, err = r.pushRefusal(ctx); err != nil {
		a.Unknown = true
		r.Logger.WarnContext(ctx, "whether a runner's change can be pushed is not known", "effect", r.effect.Key, "runner",
			w.Runner, "error", err)
	}
	b, _ := json.Marshal(a) // it has no type that can't be encoded
	if err := r.Store.AnswerAboutChange(ctx, r.effect.Key, r.owner, b); err != nil {
		r.Logger.WarnContext(ctx, "a runner can't be answered about its change", "effect", r.effect.Key, "runner", w.Runner,
			"error", err)
	}
	r.changes.notify()
}

// pushRefusal applies the change that a runner asks about to the work tree, and returns why it must not be pushed; "":
// nothing prevents it.
func (r *remoteAgent) pushRefusal(ctx context.Context) (why string, err error) {
	result, pack, err := r.Store.AttemptResult(ctx, r.effect.Key, r.owner)
	if err != nil {
		return "", err
	}
	o, err := decodeOutcome(result)
	if err != nil {
		return "", err
	}
	refused, err := r.applyChange(ctx, o, pack)
	if err != nil {
		return "", err
	}
	if refused != nil {
		why = refused.Error()
	} else if r.in.PushRefusal != nil {
		why, err = r.in.PushRefusal(ctx)
	}
	return why, err
}

// rejection returns the reason for rejecting a runner's result.
func (r *remoteAgent) rejection(w store.RunnerWatch, why error) string {
	return fmt.Sprintf("what the runner %s sent back was refused, and nothing of it is used: %s", w.Runner, why)
}

// applyChange applies the runner's change to the work tree. refused is the reason if the change is rejected; then the
// work tree has no change.
func (r *remoteAgent) applyChange(ctx context.Context, o Outcome, pack []byte) (refused, err error) {
	if o.TooLarge {
		refused, o.Commit = ErrTooLarge, ""
	}
	if o.Commit == "" && r.in.Rebuild {
		return refused, nil
	}
	ctx, cancel := context.WithTimeout(ctx, takeTimeout)
	defer cancel()
	space, err := r.Mirror(r.task).Workspace(ctx, r.in.Dir, r.work.Start)
	if err != nil {
		return nil, err
	}
	if !r.in.Rebuild { // an interrupted attempt, or an earlier change of this one, may have changed it
		if err := space.Reset(ctx); err != nil {
			return nil, err
		}
	}
	r.in.Rebuild = false
	if o.Commit == "" || r.in.Planning {
		return refused, nil
	}
	err = space.TakeChange(ctx, o.Commit, pack)
	if errors.Is(err, gitops.ErrTree) || errors.Is(err, gitops.ErrTooLarge) {
		return err, nil
	}
	return nil, err
}

// err returns the failure as the agent's error; nil for a nil failure.
func (f *Failure) err(key string) error {
	switch {
	case f == nil:
		return nil
	case !f.Known:
		return fmt.Errorf("attempt %s on a runner: %.2000s", key, f.Message)
	}
	return &sia.Error{Op: "attempt " + key, Message: fmt.Sprintf("%.2000s", f.Message), Permanent: f.Permanent,
		Outage: f.Outage, RetryAfter: f.RetryAfter}
}
