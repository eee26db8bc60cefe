package failure

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Hindrance is why a job was never started. Values are stored and shown, so a spelling never changes.
type Hindrance string

// The hindrances.
const (
	Billing     Hindrance = "billing"      // payments failed, or a spending limit is reached
	Quota       Hindrance = "quota"        // the minutes that are paid for are used up
	NoRunner    Hindrance = "no_runner"    // nothing runs jobs with these labels
	OtherReason Hindrance = "other_reason" // it was not started, and the words tell no more
)

// hindrances are GitHub's words for each; the first that matches counts. They are annotations of a
// job without steps and without a log, or the error with which the log of its preparation ends.
var hindrances = []struct {
	kind Hindrance
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

// NeverStarted reads what a job without a log was marked with, and says whether it never began: why,
// and in which words. The annotations of a job that ran may hold anything; don't ask about those.
func NeverStarted(as []Annotation) (why Hindrance, words string, ok bool) {
	for _, h := range hindrances {
		for _, a := range as {
			if !ranTooLong.MatchString(a.Message) && h.re.MatchString(a.Message) {
				return h.kind, strings.Join(strings.Fields(a.Message), " "), true
			}
		}
	}
	return "", "", false
}

// ranTooLong are GitHub's words for a job that ran into its timeout-minutes. It concludes it as cancelled.
var ranTooLong = lazyregexp.New(`exceeded the maximum execution time of`)

// TimedOut reports whether a check is marked as a job that GitHub ended at its time limit.
func TimedOut(as []Annotation) bool {
	return slices.ContainsFunc(as, func(a Annotation) bool { return ranTooLong.MatchString(a.Message) })
}

// neverStarted is the report of a job that GitHub failed before its first step, in the words of the last error in its
// log.
func (r *logReader) neverStarted() (rep Report, ok bool) {
	e := r.lastError
	// A log that names the step on each line has a step from its first line on.
	if e.line == 0 || len(r.begun) > 0 || r.step > 0 && r.group == 0 {
		return rep, false
	}
	why, words, ok := NeverStarted([]Annotation{{Message: e.text}})
	return Report{Excerpt: []Span{{e.line, e.line}}, Places: []Place{{Text: words, Line: e.line, Belief: 1}}, Text: words,
		Line: e.line, Signature: string(why), Class: NotStarted,
		Why: []string{"what GitHub says before the first step"}}, ok
}
