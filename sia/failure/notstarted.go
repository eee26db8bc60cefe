package failure

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/view"
)

// StartFailure is the reason why a job was never started. Values are stored and shown, so a spelling never changes.
type StartFailure string

// The reasons.
const (
	Billing     StartFailure = "billing"      // payments failed, or a spending limit is reached
	Quota       StartFailure = "quota"        // the included minutes are used up
	NoRunner    StartFailure = "no_runner"    // no runner has the job's labels
	OtherReason StartFailure = "other_reason" // not started for a reason that the message does not give
)

// startFailures are GitHub's messages for each reason; the first match counts. A message is an annotation of a job
// without steps and without a log, or the error that ends the log of the job's preparation.
var startFailures = []struct {
	kind StartFailure
	re   *lazyregexp.Regexp
}{
	{Billing, lazyregexp.New(`(?i)(payments? (have|has) failed|spending limit|billing|payment method)`)},
	{Quota, lazyregexp.New(`(?i)(execution quota|(minutes|quota|allowance|budget)\b.{0,60}\b(exhausted|exceeded|` +
		`used up|reached|depleted)|(exhausted|exceeded|used up|reached|out of)\b.{0,60}\b(minutes|quota|allowance|budget))`)},
	{NoRunner, lazyregexp.New(`(?i)(not acquired by runner|no (\w+ )*runners?\b|(any|find a) (\w+ )*runners?\b|` +
		`runner.{0,60}\b(labels?|not (found|available|registered))|labels?\b.{0,80}\brunner|awaiting a runner)`)},
	{OtherReason, lazyregexp.New(`(?i)(job was not (started|acquired|run)|due to environment protection|` +
		`deployment was rejected|request has been automatically failed|scheduled .* brownout)`)},
}

// NeverStarted reports whether the annotations of a job without a log show that it was never started, and returns the
// reason and the message. Annotations of a job that ran may contain anything; don't pass those.
func NeverStarted(as []view.Annotation) (why StartFailure, words string, ok bool) {
	for _, h := range startFailures {
		for _, a := range as {
			if !timeoutMessage.MatchString(a.Message) && h.re.MatchString(a.Message) {
				return h.kind, strings.Join(strings.Fields(a.Message), " "), true
			}
		}
	}
	return "", "", false
}

// timeoutMessage matches GitHub's message for a job that exceeded its timeout-minutes. The job's conclusion is then
// cancelled.
var timeoutMessage = lazyregexp.New(`exceeded the maximum execution time of`)

// TimedOut reports whether a check's annotations show that GitHub ended the job at its time limit.
func TimedOut(as []view.Annotation) bool {
	return slices.ContainsFunc(as, func(a view.Annotation) bool { return timeoutMessage.MatchString(a.Message) })
}

// neverStarted returns the report of a job that failed before its first step: the last error in its log.
func (r *logReader) neverStarted() (rep Report, ok bool) {
	e := r.lastError
	// A log that names the step on each line has a step from the first line.
	if e.line == 0 || len(r.stepStarts) > 0 || r.step > 0 && r.group == 0 {
		return rep, false
	}
	why, words, ok := NeverStarted([]view.Annotation{{Message: e.text}})
	return Report{Excerpt: []Span{{e.line, e.line}}, Places: []Place{{Text: words, Line: e.line, Belief: 1}}, Text: words,
		Line: e.line, Signature: string(why), Class: NotStarted,
		Why: []string{"what GitHub says before the first step"}}, ok
}
