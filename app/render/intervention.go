package render

import (
	"fmt"
	"math"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

const (
	shownFailures = 3    // failing checks that are quoted; the rest are only named
	excerptLines  = 15   // lines of a log in a comment
	excerptWidth  = 500  // characters of one such line
	maxProse      = 6000 // characters of each text of a model
)

// Intervention is the comment that explains why an attempt failed and what the next one is given. It is posted before
// that attempt starts. Three lines are visible, however long a model's text: what failed, what happens next, and how to
// prevent that.
func Intervention(t sia.Task, iv sia.Intervention, l Links) string {
	next := nextLine(t, iv)
	const prevent = "**To stop this attempt:** comment `/sia stop`, or `/sia pause` to look first. Rate this with 👍 or 👎."
	var p page
	p.add(failedLine(t, iv, maxDiagnosis-words(next)-words(prevent)))
	p.add(next)
	p.add(prevent)
	p.fold("Why it failed, and what changes", reasoning(t, iv, l))
	p.fold("The evidence, and the new instructions", grounds(iv.Diagnosis))
	return p.String()
}

// failedLine names the failed check and quotes the relevant line of its log, in about room words.
func failedLine(t sia.Task, iv sia.Intervention, room int) string {
	a := failedAttempt(t, iv.After)
	room = min(room-7, 16) // minus the check's name and the words around it
	if lost := lostPart(a); lost > 0 {
		return lostLine(a, lost, room)
	}
	if len(a.Failures) == 0 {
		s := fmt.Sprintf("❌ **Attempt %d did not pass", a.Number)
		if a.Reason != "" {
			return s + ":** " + few(a.Reason, room)
		}
		return s + ".**"
	}
	f := a.Failures[0]
	s := "❌ **" + fewCode(f.Check, 3)
	if n := len(a.Failures) - 1; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	said := text.MostTelling(visible(f.Excerpt))
	if said == "" {
		return s + " failed.** " + link("The log", f.URL)
	}
	return s + " failed:** " + link(fewCode(said, room), f.URL)
}

// nextLine describes the next step, with the objections to it.
func nextLine(t sia.Task, iv sia.Intervention) string {
	next := len(t.Attempts) + 1
	most := max(iv.Number, iv.Number+t.ApproachesLeft()-1)
	s := fmt.Sprintf("➡️ **Next:** attempt %d of %d, with *%s* (intervention %d of %d).", next, max(next, mostAttempts(t)),
		few(TechniqueName(iv.Diagnosis.Technique), 5), iv.Number, most)
	switch iv.Review.Verdict {
	case sia.Approved, sia.Minor:
	case sia.Major:
		s += " ⚠️ The reviewer objects to this."
	case sia.Rejected:
		s += " ⚠️ The reviewer rejected this; no better is left."
	case sia.ReviewFailed:
		s += " ⚠️ Not reviewed: the review failed."
	default:
		s += " Not reviewed: that is switched off."
	}
	if iv.Diagnosis.Fallback != "" {
		s += " ⚠️ SIA's model failed; its fixed rules chose this."
	}
	if iv.Warning != "" {
		s += " ⚠️ A warning follows."
	}
	return s
}

// mostAttempts is the number of the last attempt if each remaining approach takes one.
func mostAttempts(t sia.Task) int { return len(t.Attempts) + t.ApproachesLeft() }

// reasoning explains in full why an attempt failed and what changes.
func reasoning(t sia.Task, iv sia.Intervention, l Links) string {
	d := iv.Diagnosis
	var p page
	if iv.Warning != "" {
		p.add("> [!WARNING]\n> " + Line(iv.Warning, 1000))
	}
	p.add(whatFailed(t, iv, l))
	p.add("### Why\n\n" + diagnosisText(t, iv))
	p.add(fmt.Sprintf("### What the next attempt does differently: %s\n\n%s", TechniqueName(d.Technique),
		newApproach(t, d)))
	p.add("### What SIA expects\n\n" + expectation(d))
	p.add("### Independent review\n\n" + reviewText(iv.Review))
	p.add(signals(iv))
	p.add("### What happens next\n\n" + interventionFoot(t, iv, l))
	return p.text()
}

// grounds is the evidence of the diagnosis, and the next attempt's instructions.
func grounds(d sia.Diagnosis) string {
	var p page
	if why := whyTechnique(d); why != "" {
		p.add("### Why this technique\n\n" + why)
	}
	p.add("### The six questions SIA asked itself\n\n" + sixAnswers(d.Answers))
	p.add("### The new instructions in full\n\n" + Quote(d.Prompt))
	return p.text()
}

// signals explains the intervention, with every signal that fired.
func signals(iv sia.Intervention) string {
	if len(iv.Signals) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("### Why SIA stepped in\n\nSIA measured this; it is nobody's opinion:\n\n")
	for _, s := range iv.Signals {
		b.WriteString("- **" + Line(string(s.Name), 80) + "**")
		if s.Evidence != "" {
			b.WriteString(" — " + Line(s.Evidence, 300))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// failedAttempt is the attempt before the intervention.
func failedAttempt(t sia.Task, number int) sia.Attempt {
	for _, a := range t.Attempts {
		if a.Number == number {
			return a
		}
	}
	return sia.Attempt{Number: number}
}

func whatFailed(t sia.Task, iv sia.Intervention, l Links) string {
	a := failedAttempt(t, iv.After)
	s := fmt.Sprintf("### What failed\n\nAttempt %d (%s)", a.Number, approach(a))
	if a.Head != "" {
		s += ", commit " + link(Code(a.Head.Short(), 0), l.Commit(t.Repo, a.Head))
	}
	if lost := lostPart(a); lost > 0 {
		return s + ". " + lostText(a, lost)
	}
	if len(a.Failures) == 0 {
		if a.Reason != "" {
			return s + ": " + Line(a.Reason, 500) + "."
		}
		return s + " did not pass."
	}
	s += ":"
	for i, f := range a.Failures {
		if i == shownFailures {
			return s + "\n\nAlso red: " + codes(failing(a)[i:], 20) + "."
		}
		s += "\n\n" + failureText(f)
	}
	return s
}

func failureText(f sia.CheckFailure) string {
	s := "**" + Code(f.Check, 100) + "**"
	if len(f.Tests) > 0 {
		s += " — " + codes(f.Tests, 5)
	}
	where := "the log"
	if f.Line > 0 {
		where = fmt.Sprintf("the log, from line %d", f.Line)
	}
	if linked := link(where, f.URL); linked != where {
		s += " (" + linked + ")"
	}
	if text := excerpt(f.Excerpt); text != "" {
		s += "\n\n" + Fence("text", text)
	}
	return s + otherPlaces(f)
}

// otherPlaces are other lines of the log that may explain the failure. They are in the fold of the failures, not in a
// nested one: a fold that is cut must not leave another one open.
func otherPlaces(f sia.CheckFailure) string {
	s := ""
	for _, other := range f.Others {
		if text := excerpt(other); text != "" {
			s += "\n\nOr, elsewhere in the log:\n\n" + Fence("text", text)
		}
	}
	return s
}

// excerpt keeps at most excerptLines lines.
func excerpt(s string) string {
	lines := strings.Split(strings.Trim(visible(s), "\n"), "\n")
	for i, l := range lines {
		lines[i] = cut(l, excerptWidth)
	}
	if len(lines) > excerptLines {
		lines = append(lines[:excerptLines-1], fmt.Sprintf("… (%d more lines)", len(lines)-excerptLines+1))
	}
	return strings.Join(lines, "\n")
}

func diagnosisText(t sia.Task, iv sia.Intervention) string {
	d := iv.Diagnosis
	s := Quote(cut(d.Summary, maxProse))
	if d.Fallback != "" {
		s += "\n\n> [!NOTE]\n> SIA's model could not be used, so its fixed rules made this diagnosis. They are simpler " +
			"than the model. The reason: " + Line(d.Fallback, 300)
	}
	return s + "\n\n" + patternText(t, iv)
}

// patternText names the pattern, its frequency in this repository and in this task, and the results of techniques tried
// on it.
func patternText(t sia.Task, iv sia.Intervention) string {
	d := iv.Diagnosis
	s := "**Pattern:** " + Code(string(d.Pattern), 60)
	earlier := 0
	for _, old := range t.Interventions {
		if old.Number < iv.Number && old.Diagnosis.Pattern == d.Pattern {
			earlier++
		}
	}
	switch seen := max(d.Seen, earlier); {
	case seen == 0:
		s += ", not seen here before"
	case earlier == 0:
		s += ", seen " + times(seen) + " here before"
	default:
		s += fmt.Sprintf(", seen %s here before, %s of that in this task", times(seen), times(earlier))
	}
	tried, resolved := 0, 0
	for _, c := range d.Candidates {
		tried += c.Tried
		resolved += c.Resolved
	}
	if tried > 0 {
		s += fmt.Sprintf(". The techniques below were tried on it %s here and resolved it %s", times(tried), times(resolved))
	}
	return s + "."
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// newApproach is two or three sentences: what the technique does, how it changes the next attempt's input, and which
// parts of that bind commands.
func newApproach(t sia.Task, d sia.Diagnosis) string {
	s := "A technique of this repository's own is applied: " + TechniqueName(d.Technique) + "."
	if w, ok := techniqueWords[d.Technique]; ok {
		s = w.does
	}
	if changes := mechanism(d.Brief); len(changes) > 0 {
		s += " Besides new instructions, the next attempt " + text.List(changes) + "."
		if t.Settings.Agent.Kind == "command" && len(d.Brief.Tools)+len(d.Brief.WithoutTools) > 0 {
			s += " Its agent is a command: it is told of the tools, and nothing enforces that."
		}
		return s
	}
	return s + " It gets new instructions; tools, context and starting point stay as they were."
}

// mechanism lists the changes by the brief that don't depend on the model following instructions.
func mechanism(b sia.Brief) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if b.FromBase {
		add("starts at the base commit")
	}
	if len(b.Steps) > 0 {
		add("works through %s in order, each with its own test of being done", text.Count(len(b.Steps), "step"))
	}
	if len(b.Tools) > 0 {
		add("is offered only the tools %s", codes(b.Tools, 8))
	}
	if len(b.WithoutTools) > 0 {
		add("does without %s", codes(b.WithoutTools, 8))
	}
	if len(b.OnlyFiles) > 0 {
		add("is given only %s to begin with", codes(b.OnlyFiles, 5))
	}
	if b.DropHistory {
		add("is told only the notes of the earlier attempts")
	}
	if len(b.Examples) > 0 {
		paths := make([]string, len(b.Examples))
		for i, e := range b.Examples {
			paths[i] = e.Path
		}
		add("is shown %s as examples", codes(paths, 5))
	}
	if b.Relaxed != "" {
		add("leaves one constraint for the last step (%s)", Line(b.Relaxed, 200))
	}
	if len(b.Quotes) > 0 {
		add("is shown %s that it has to avoid", text.Count(len(b.Quotes), "error line"))
	}
	return out
}

func expectation(d sia.Diagnosis) string {
	s := Quote(cut(d.Hypothesis, maxProse))
	c := d.Confidence
	if math.IsNaN(c) {
		c = 0
	}
	c = min(1, max(0, c))
	word := "low"
	switch {
	case c >= 0.75:
		word = "high"
	case c >= 0.45:
		word = "moderate"
	}
	return s + fmt.Sprintf("\n\n**Confidence:** %.2f of 1, %s. It is SIA's own estimate and decides nothing; the "+
		"checks do.", c, word)
}

func reviewText(r sia.Review) string {
	var s string
	switch r.Verdict {
	case sia.Approved:
		s = "✅ **Approved.** A second model call, which saw only the failure and the new instructions, found nothing " +
			"that speaks against them."
	case sia.Minor:
		s = "✅ **Approved, with remarks.** The reviewer sees small weaknesses; its remarks were added to the instructions."
	case sia.Major:
		s = "⚠️ **Serious objections.** SIA goes ahead because the alternatives met with objections too; these were " +
			"added to the instructions. Weigh it accordingly."
	case sia.Rejected:
		s = "❌ **Rejected.** The reviewer would not do this. SIA goes ahead because the alternatives were rejected too; " +
			"weigh it accordingly."
	case sia.ReviewFailed:
		s = "⚠️ **Not reviewed.** The review failed, which does not hold the task up."
	default:
		s = "This repository has the independent review switched off (`sia.reviewer`)."
	}
	s += reviewPoints(r.Points)
	if len(r.Amended) > 0 {
		s = "✏️ **Amended.** The first review had serious objections, which were added to the instructions:\n" +
			strings.TrimPrefix(reviewPoints(r.Amended), "\n") + "\n\nA fresh review of the amended instructions:\n\n" + s
	}
	return s
}

// reviewPoints lists a reviewer's points below the summary.
func reviewPoints(points []string) string {
	var b strings.Builder
	for i, point := range points {
		if i == 10 {
			fmt.Fprintf(&b, "\n- and %d more", len(points)-i)
			break
		}
		b.WriteString("\n- " + Line(point, 600))
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + b.String()
}

func sixAnswers(a sia.SixAnswers) string {
	techniques := func(ids []sia.TechniqueID) string {
		if len(ids) == 0 {
			return "none"
		}
		names := make([]string, len(ids))
		for i, id := range ids {
			names[i] = TechniqueName(id)
		}
		return text.List(names)
	}
	prose := func(s string) string {
		if s = Line(s, 2000); s == "" {
			return "*no answer*"
		}
		return s
	}
	return "1. **What was the agent trying to do?** " + prose(a.Goal) +
		"\n2. **Where did it fail?** " + prose(a.FailedAt) +
		"\n3. **What pattern of failure is this?** " + prose(a.Pattern) +
		"\n4. **Have we seen it before?** " + prose(a.SeenBefore) +
		"\n5. **Which techniques address it?** " + techniques(a.Addressing) +
		"\n6. **Which of those are untried?** " + techniques(a.Untried)
}

func interventionFoot(t sia.Task, iv sia.Intervention, l Links) string {
	s := fmt.Sprintf("Intervention %d: attempt %d starts with these instructions, and the checks judge it as "+
		"they judged this one.", iv.Number, len(t.Attempts)+1)
	if left := t.ApproachesLeft(); left > 1 {
		s += fmt.Sprintf(" After it, %s left before SIA asks a person.", text.Count(left-1, "approach is", "approaches are"))
	} else {
		s += " It is the last approach: if it fails, SIA asks a person."
	}
	s += fmt.Sprintf("\n\nWith %s access, you can comment `/sia stop` to end the task, `/sia pause` to hold it while "+
		"you look, or `/sia explain` for every decision so far.", permission(t))
	places := []string{link("what SIA remembers of this task", l.Memory(t)),
		link("the attempt's transcript", l.Transcript(t, iv.After))}
	if u := l.Task(t.ID); u != "" {
		places = append(places, link("the timeline", u))
	}
	s += "\n\nMore: " + strings.Join(places, " · ") + "."
	return s + "\n\nA 👍 or 👎 on this comment is evidence that SIA learns from."
}
