package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/escalate"
	"github.com/sia-bot/sia/sia/technique"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/visible"
)

// applyHardRules turns an answer into a diagnosis that satisfies the hard rules (docs/rules.md#hard-rules). fallback is
// the reason why the answer is the rules' and not a model's. The returned decision is the log entry for the technique,
// if one was chosen.
func applyHardRules(in Input, a answer, findings []finding, fallback string) (sia.Diagnosis, *sia.Decision, error) {
	if !slices.Contains(sia.Patterns, a.Pattern) {
		a.Pattern = sia.UnknownPattern
	}
	d := sia.Diagnosis{
		Summary: a.Diagnosis, Pattern: a.Pattern, Prompt: a.Prompt, Hypothesis: a.Hypothesis,
		Confidence: clampShare(a.Confidence), Answers: a.Answers, Fallback: fallback,
	}
	d.Candidates = candidates(in, d.Pattern)
	answerSix(&d, in)

	if in.Final || a.asksPerson() && wanted(in) == "" {
		askPerson(&d, in, a, findings)
		return d, nil, nil
	}
	decision, err := choose(in, &d, a)
	if err != nil {
		return sia.Diagnosis{}, nil, err
	}
	i := slices.IndexFunc(d.Candidates, func(c sia.Candidate) bool { return c.Chosen })
	if i < 0 {
		askPerson(&d, in, a, findings)
		return d, nil, nil
	}
	d.Technique = d.Candidates[i].Technique
	t, _ := in.Library.Get(d.Technique)
	if a.Technique != "" && a.Technique != d.Technique { // what it says of its own pick doesn't hold
		d.Hypothesis, a.Steps = "", nil
	}
	d.Brief = makeBrief(in, t, a, d.Pattern)
	d.Prompt = d.Brief.Prompt
	if strings.TrimSpace(d.Hypothesis) == "" {
		d.Hypothesis = fmt.Sprintf("With %s, %s", t.Name, expectedOutcome(in))
	}
	return d, decision, nil
}

// makeBrief applies the technique to the current brief. Instructions of an earlier attempt are dropped, so that the
// technique's own text makes the prompt distinct.
func makeBrief(in Input, t technique.Technique, a answer, p sia.Pattern) sia.Brief {
	task := in.Task
	apply := technique.Input{
		Title: liftableTitle(task), Body: liftableBody(task), Prompt: a.Prompt, Pattern: p,
		Failures: in.Attempt.Failures, Touched: in.Attempt.Diff.Paths,
		Files: in.Files, Read: in.Read, Tools: in.Tools,
		Steps: a.Steps, Unsuitable: a.Unsuitable, Context: a.Context, Examples: a.Examples,
		Constraint: a.Constraint, Level: a.Level,
	}
	if givenBefore(task, a.Prompt) {
		apply.Prompt = ""
	}
	b := technique.Apply(task.Brief, t, apply)
	known := func() bool {
		hash := b.Hash(task.Title, task.Body)
		return strings.TrimSpace(b.Prompt) == "" ||
			slices.ContainsFunc(task.Prompts, func(q sia.Prompt) bool { return q.Hash == hash })
	}
	for n := len(task.Prompts) + 1; known() && n <= len(task.Prompts)*2+2; n++ {
		b.Prompt = strings.TrimSpace(fmt.Sprintf("%s\n\nThis is approach %d to the task. Earlier ones failed with the "+
			"same instructions, so take another way: %s.", b.Prompt, n, t.When))
	}
	return b
}

// isLiftable reports whether the issue's text may become instructions. That of an untrusted author reaches the agent
// only as a labelled issue.
func isLiftable(task sia.Task) bool {
	return task.Author == "" || task.Author == task.AskedBy.Login || sia.MayInstruct(task.Access)
}

// liftableBody returns the issue's text for a technique to turn into instructions; "" if it may not become any.
func liftableBody(task sia.Task) string {
	if !isLiftable(task) {
		return ""
	}
	return visibleText(task.Body)
}

// liftableTitle returns the issue's title for instructions, or its number if the title may not become any.
func liftableTitle(task sia.Task) string {
	if title := visibleText(task.Title); title != "" && isLiftable(task) {
		return title
	}
	return fmt.Sprintf("resolve issue #%d", task.Issue)
}

// visibleText returns the visible text of an issue; see [visible.Markdown].
func visibleText(text string) string { return strings.TrimSpace(visible.Markdown(text)) }

// visibleIssue returns the visible text of an issue. Title and body are processed separately, so that an unclosed
// comment in the title cannot hide the body.
func visibleIssue(title, body string) string {
	return strings.TrimSpace(visibleText(title) + "\n\n" + visibleText(body))
}

// givenBefore reports whether instructions equal those of an earlier attempt or the task's own text.
func givenBefore(task sia.Task, instructions string) bool {
	words := text.OneLine(instructions)
	if words == "" || words == text.OneLine(task.Title+" "+task.Body) || words == text.OneLine(task.Body) {
		return true
	}
	for _, i := range task.Interventions {
		if strings.HasPrefix(text.OneLine(i.Diagnosis.Prompt), words) {
			return true
		}
	}
	return false
}

// answerSix fills in missing answers, and those that code determines better than a model: the techniques that address
// the pattern, and the untried ones among them.
func answerSix(d *sia.Diagnosis, in Input) {
	s := &d.Answers
	if s.Goal == "" {
		s.Goal = taskGoal(in)
	}
	if s.FailedAt == "" {
		s.FailedAt = failurePoint(in)
	}
	if s.Pattern == "" {
		s.Pattern = string(d.Pattern)
	}
	if s.SeenBefore == "" {
		s.SeenBefore = seenBefore(in, d.Pattern)
	}
	s.Addressing, s.Untried = nil, nil
	for _, t := range in.Library.For(d.Pattern) {
		s.Addressing = append(s.Addressing, t.ID)
		if free(in, t.ID) {
			s.Untried = append(s.Untried, t.ID)
		}
	}
}

// taskGoal returns the task's title, or its issue number without one.
func taskGoal(in Input) string {
	if title := text.Clip(text.OneLine(in.Task.Title), 200); title != "" {
		return title
	}
	return fmt.Sprintf("resolve issue #%d", in.Task.Issue)
}

// seenBefore returns, for display, whether the failure or pattern occurred before in the task.
func seenBefore(in Input, p sia.Pattern) string {
	var same, pattern []string
	for _, a := range in.Task.Attempts {
		if a.Number < in.Attempt.Number && sharesSignature(a, in.Attempt) {
			same = append(same, fmt.Sprint(a.Number))
		}
	}
	for _, i := range in.Task.Interventions {
		if i.Diagnosis.Pattern == p {
			pattern = append(pattern, fmt.Sprint(i.After))
		}
	}
	switch {
	case len(same) > 0:
		return "Yes: attempt " + strings.Join(same, ", ") + " failed in the same way."
	case len(pattern) > 0:
		return "The pattern, yes (after attempt " + strings.Join(pattern, ", ") + "); this failure, no."
	}
	return "Not in this task."
}

// askPerson turns the diagnosis into an answerable question: the answer's own question, else the one that follows from
// the evidence.
func askPerson(d *sia.Diagnosis, in Input, a answer, findings []finding) {
	d.Technique, d.Prompt, d.Brief = "", "", sia.Brief{}
	for i := range d.Candidates {
		d.Candidates[i].Chosen = false
	}
	d.Blocker, d.Question = strings.TrimSpace(a.Blocker), strings.TrimSpace(a.Question)
	for _, o := range a.Options {
		d.Options = append(d.Options, sia.Option{Text: o.Text, Fastest: o.Fastest})
	}
	own := questionFor(in, d.Pattern, findings)
	if d.Blocker == "" {
		d.Blocker = own.blocker
	}
	if d.Question == "" {
		// Options belong to their question.
		d.Question, d.Options = own.question, own.options
	}
	e := escalate.FromDiagnosis(*d, in.Task)
	d.Blocker, d.Question, d.Options = e.Blocker, e.Question, e.Options
	if d.Hypothesis == "" {
		d.Hypothesis = "With the answer, the next attempt has what this one lacked."
	}
}

// clampShare returns x clamped to 0–1. NaN becomes 0, and numbers from 1 to 100 are taken as percentages.
func clampShare(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	if x > 1 && x <= 100 {
		x /= 100
	}
	return min(x, 1)
}
