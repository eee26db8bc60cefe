package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// final returns the final result: a red verdict may be by chance, and a green one may have to wait for tests, or for a
// person.
func (j *judgement) final() Result {
	switch j.result.Verdict {
	case sia.VerdictRed:
		j.fail()
	case sia.VerdictGreen:
		j.pass()
	}
	return j.result
}

// fail explains a red verdict, or runs the red checks again. Without a doubt, one failure decides, so re-running other
// checks would change nothing.
func (j *judgement) fail() {
	if j.result.Doubt = j.weighDoubt(); j.result.Doubt != nil && j.result.Doubt.Rerun {
		j.result.Verdict, j.result.Rerun = sia.VerdictRerun, j.rerun
		for _, r := range j.assessment.blamed() {
			j.result.Rerun = append(j.result.Rerun, r.ID)
		}
		j.sentences(j.red)
		return
	}
	j.sentences(j.red)
	j.sentences(j.again)
	j.explainBlocked()
	j.tampered()
}

// explainBlocked explains what a person has to do.
func (j *judgement) explainBlocked() {
	for _, b := range j.blocked {
		j.explain("%s %s.", b.Check, strings.TrimSuffix(b.Reason, "."))
	}
}

// pass explains a green verdict, or says what it waits for.
func (j *judgement) pass() {
	if j.awaitTests() {
		return
	}
	if j.tampered() && !j.facts.Accepted && !j.askedFor() {
		j.result.Verdict = sia.VerdictTampered
		if j.facts.expectations {
			j.result.Weigh = j.facts.findings
		}
		return
	}
	skipped := ""
	if j.skips > 0 { // GitHub counts it as green
		skipped = fmt.Sprintf(", %d skipped", j.skips)
	}
	j.explain("%s green%s.", text.Count(len(j.green), "required check is", "required checks are"), skipped)
	if len(j.rests) == 0 { // the only required check may be one job that needs the others
		j.rests = j.beside
	}
	j.explain("It rests on %s.", names(j.rests))
	j.sentences(j.facts.Tests.Shown)
}

// touched is the prefix of a sentence of [Result.Explain] about changes to tests or
// protected paths.
const touched = "The attempt changed how it is checked: "

// TamperingIn returns the finding of [Input.Tampering] in a sentence of
// [Result.Explain], without its final full stop, and whether the sentence contains one.
func TamperingIn(sentence string) (finding string, ok bool) {
	finding, ok = strings.CutPrefix(sentence, touched)
	return strings.TrimSuffix(finding, "."), ok
}

// Findings returns the findings in the sentences of [Result.Explain].
func Findings(explain []string) []string {
	found := []string{}
	for _, s := range explain {
		if f, ok := TamperingIn(s); ok {
			found = append(found, f)
		}
	}
	return found
}

// tampered reports whether the attempt changed tests or protected files, and explains it.
func (j *judgement) tampered() bool {
	for i, t := range j.facts.findings {
		j.explain(touched+"%s.", strings.TrimSuffix(t, "."))
		if j.askedFor() {
			j.explain("The issue asks for that: “%s”.", j.facts.Weighing.Quotes[i])
		}
	}
	switch {
	case len(j.facts.findings) == 0:
		return false
	case j.facts.Accepted:
		j.explain("A person with write access accepted that.")
	case j.askedFor():
	default:
		j.explain("It does not pass until a person with write access accepts that.")
	}
	return true
}

// askedFor reports whether the issue asks for all of the changed expectations.
func (j *judgement) askedFor() bool {
	f := j.facts
	return f.expectations && f.Weighing.AskedFor() && slices.Equal(f.Weighing.Findings, f.findings)
}

// awaitTests reports whether a pass has to wait for the tests that SIA runs itself, at most for the time in the
// settings.
func (j *judgement) awaitTests() bool {
	limit := j.facts.Settings.Evidence.D()
	if !j.facts.Tests.Running || j.facts.Accepted || j.facts.Now.Sub(j.facts.Since) >= limit {
		return false
	}
	j.wait(fmt.Sprintf("Every required check is green; SIA still runs the tests that the change can reach, for %s at "+
		"most", limit))
	return true
}
