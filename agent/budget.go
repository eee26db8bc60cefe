package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
)

// Constants of the credit calculation.
const (
	minOutput = 512 // tokens; a call with less room for its answer is not made
	// estimateMargin multiplies the estimate of a prompt until the endpoint has reported a true count. From then on the
	// ratio of the two is used.
	estimateMargin = 1.25
)

// finishAdvice is the agent's instruction when the end is near.
const finishAdvice = "Bring the work into a state that can be kept, then call finish and say what is not done."

// errTimeUp is the cause of a context that ended at the attempt's time limit.
var errTimeUp = errors.New("the attempt's time is up")

// attemptBudget tracks the remaining budget of an attempt.
type attemptBudget struct {
	limits  Limits
	price   llm.Price
	now     func() time.Time
	started time.Time

	closing string // instruction to the agent when the end is near

	turns  int
	spent  sia.Credits
	usage  llm.Usage
	ratio  float64 // true prompt tokens per estimated token
	warned bool
}

func newBudget(l Limits, p llm.Price, now func() time.Time) *attemptBudget {
	defaults := sia.DefaultSettings().Agent
	l.Turns = cmp.Or(l.Turns, defaults.MaxTurns)
	l.Time = cmp.Or(l.Time, defaults.Timeout.D())
	l.SoftDeadline = cmp.Or(l.SoftDeadline, l.Time*4/5)
	return &attemptBudget{limits: l, price: p, now: now, started: now(), ratio: estimateMargin, closing: finishAdvice}
}

// withTimeLimit returns ctx with the time limit as its deadline.
func (b *attemptBudget) withTimeLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, b.limits.Time-b.now().Sub(b.started), errTimeUp)
}

// nextCall returns the maximum number of output tokens of the next call, at most want, for a prompt with the given
// estimated tokens. If no call may be made, it returns how the attempt ends and why.
func (b *attemptBudget) nextCall(prompt, want int) (maxOutput int, end sia.AttemptEnd, why string) {
	if b.turns >= b.limits.Turns {
		return 0, sia.EndTurns, fmt.Sprintf("the limit of %d turns was reached", b.limits.Turns)
	}
	if b.now().Sub(b.started) >= b.limits.Time {
		return 0, sia.EndTime, b.timeUp()
	}
	fits := affordable(b.price, b.limits.Credits-b.spent, b.correctEstimate(prompt), want)
	if fits == 0 {
		return 0, sia.EndCredits, fmt.Sprintf("%s of %s credits are spent, and the rest does not cover another call", b.spent,
			b.limits.Credits)
	}
	return fits, "", ""
}

// affordable returns the number of output tokens, at most want, that the remaining credits cover after a prompt of the
// given size; 0: they cover no call.
func affordable(price llm.Price, left sia.Credits, prompt, want int) int {
	in := sia.CreditsOf(price.Prompt(prompt))
	fits := want
	if price.Output > 0 {
		perToken := price.Output / 1e6 * 100 * float64(sia.Credit)
		fits = min(want, int(float64(left-in)/perToken))
	}
	if left < in || fits < min(minOutput, want) {
		return 0
	}
	return fits
}

// contextEnd returns how an attempt ends when its context has ended, and why.
func (b *attemptBudget) contextEnd(ctx context.Context) (sia.AttemptEnd, string) {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTimeUp):
		return sia.EndTime, b.timeUp()
	case errors.Is(cause, context.DeadlineExceeded):
		return sia.EndTime, "the time allowed for the attempt is over"
	case errors.Is(cause, context.Canceled):
		return sia.EndCancelled, "it was cancelled"
	default:
		return sia.EndCancelled, cause.Error()
	}
}

func (b *attemptBudget) timeUp() string {
	return fmt.Sprintf("the time limit of %s was reached", b.limits.Time)
}

// correctEstimate scales an estimate by the ratio of the endpoint's counts to earlier estimates.
func (b *attemptBudget) correctEstimate(estimate int) int {
	return int(math.Ceil(float64(estimate) * b.ratio))
}

// bookAnswer charges an answer and the failed tries before it. prompt is the estimated size of its prompt, in tokens.
func (b *attemptBudget) bookAnswer(prompt int, resp llm.Response) sia.Credits {
	b.turns++
	return b.bookUsage(prompt, resp)
}

// bookUsage is bookAnswer for a turn that is already counted.
func (b *attemptBudget) bookUsage(prompt int, resp llm.Response) sia.Credits {
	u := resp.Usage
	cost := b.bookLoss(resp.Spent())
	if prompt > 0 && u.Input > 0 && !u.Estimated {
		b.ratio = max(1, 1.05*float64(u.Input)/float64(prompt))
	}
	return cost
}

// usedShare returns the used share of the budget, 0–1 or above: the maximum of the shares of turns, time and credits.
func (b *attemptBudget) usedShare() float64 {
	share := max(float64(b.turns)/float64(b.limits.Turns), b.now().Sub(b.started).Seconds()/b.limits.Time.Seconds())
	if b.limits.Credits > 0 {
		share = max(share, float64(b.spent)/float64(b.limits.Credits))
	}
	return share
}

// bookLoss charges usage that produced no answer.
func (b *attemptBudget) bookLoss(u llm.Usage) sia.Credits {
	cost := sia.CreditsOf(u.USD)
	b.spent += cost
	b.usage = b.usage.Add(u)
	return cost
}

// warning returns a warning for the agent, once, when the end is near; otherwise "".
func (b *attemptBudget) warning() string {
	if b.warned {
		return ""
	}
	var why string
	turns := b.limits.Turns - b.turns
	switch {
	case turns <= max(2, b.limits.Turns/10) && b.limits.Turns > 5:
		why = fmt.Sprintf("%d turns are left", turns)
	case b.now().Sub(b.started) >= b.limits.SoftDeadline:
		why = fmt.Sprintf("%s are left", max(0, b.limits.Time-b.now().Sub(b.started)).Round(time.Second))
	case b.price.Output > 0 && b.limits.Credits-b.spent < b.limits.Credits/5:
		why = fmt.Sprintf("%s credits are left", b.limits.Credits-b.spent)
	default:
		return ""
	}
	b.warned = true
	return "Only " + why + " in this attempt. " + b.closing
}
