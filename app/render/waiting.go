package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// Waiting says what a task waits for, with what a person can do about it, or why it was stopped; empty while it runs,
// and when it has passed with nothing left but to review it. It contains foreign text unchanged.
func Waiting(t sia.Task) string {
	switch {
	case t.State == sia.Stopped:
		return t.Ended
	case t.State == sia.OnHold && t.Pause != nil:
		return strings.TrimRight(t.Pause.Reason, ".") + ". " + advice(*t.Pause)
	case t.State == sia.Escalated && t.Escalation != nil:
		return awaitedAnswer(*t.Escalation)
	case t.State == sia.Checking && t.Gate.AwaitsPerson:
		return "The checks are green, but tests or protected files were changed. Somebody with write access decides: " +
			"`/sia accept-tests`, or `/sia stop`." + lapsedAcceptance(t)
	case t.Temperature() == sia.Cool && t.Pull.LeftDraft:
		return fmt.Sprintf("Pull request #%d is green, and a draft because somebody made it one. Somebody presses “Ready "+
			"for review” there when it is.", t.Pull.Number)
	case t.Temperature() == sia.Cool:
		return fmt.Sprintf("Pull request #%d is green and still a draft, because SIA may not change that. Press “Ready for "+
			"review” there.", t.Pull.Number)
	}
	return ""
}

// advice says what can be done about a pause.
func advice(p sia.Pause) string {
	switch p.Kind {
	case sia.PausedByHalt:
		return sentenceCase(p.Scope.LiftedBy(p.By.Operator)) + "."
	case sia.PausedByTrouble:
		return "`/sia resume` tries again."
	case sia.PausedByCredits:
		return "`/sia resume +50` adds 50 credits (0.50 USD) and goes on; `/sia stop` ends the task."
	case sia.PausedByWorth:
		return "`/sia resume` has it go on all the same; `/sia stop` ends the task."
	case sia.PausedByPushes:
		return "Stop pushing to it, then `/sia resume` tries again."
	}
	return "`/sia resume` goes on where it stopped."
}

// awaitedAnswer says what an open question waits for.
func awaitedAnswer(e sia.Escalation) string {
	const yes = "Somebody's yes to the plan: `/sia go`, or 👍 on its comment."
	switch {
	case e.Kind == sia.AskAlready && e.Already != nil:
		return sentenceCase(e.Already.What) + ". `/sia start anyway` has SIA work on it, `/sia stop` ends the task."
	case e.Kind == sia.AskEdited:
		return "The issue was edited after it was asked for. `/sia start` has SIA work on it as it reads now, `/sia stop` " +
			"ends the task."
	case e.Kind != sia.AskPlan:
		return "A person's answer to the question that SIA asked."
	case e.Stale:
		return yes + " The issue was edited after the plan was made; `/sia retry` has a new one made."
	}
	return yes
}
