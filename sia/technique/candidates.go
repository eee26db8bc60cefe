package technique

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
)

const (
	lastRank  = 7   // rank of a technique that is not listed for the pattern
	unmetOdds = 0.5 // factor for the odds per unmet precondition
)

// Candidates ranks the techniques that could be tried on a pattern in a task, best first, by prior knowledge.
// Techniques that were used in the task or refused are left out. A technique that a user asked for comes first. A fresh
// start comes last for every pattern, unless only a user can help with the pattern. An empty result means that nothing
// is left to try.
//
// Rank is set where it differs from the built-in table: for a repository's own technique, and where the task's prompt
// decides the order. The policy maps ranks to expectations. The caller sets Chosen.
func (l *Library) Candidates(task sia.Task, p sia.Pattern) []sia.Candidate {
	open := func(id sia.TechniqueID) bool { return !task.Used(id) && !slices.Contains(task.Refused, id) }
	wordy, tokens := wordyPrompt(task)
	var cs []sia.Candidate
	for _, t := range l.For(p) {
		if open(t.ID) {
			rank, why := choiceRank(t, p, wordy, tokens)
			cs = append(cs, newCandidate(task, t, rank, !t.Shipped || rank != t.Ranks[p], why))
		}
	}
	if t, ok := l.Get(sia.FreshStart); ok && open(t.ID) && !t.Answers(p) && !needsUser(p) {
		cs = append(cs, newCandidate(task, t, lastRank, false, "the last resort: nothing that earlier attempts left behind "+
			"can be in the way"))
	}
	slices.SortStableFunc(cs, func(a, b sia.Candidate) int { return cmp.Compare(b.Score, a.Score) })

	if t, ok := l.Get(task.Wanted); ok && open(t.ID) {
		cs = slices.DeleteFunc(cs, func(c sia.Candidate) bool { return c.Technique == t.ID })
		cs = slices.Insert(cs, 0, newCandidate(task, t, 1, false, "a person asked for it"))
	}
	return cs
}

// Unlisted returns a candidate for a technique that is not listed for the pattern. why is the reason to consider it,
// for display.
func (l *Library) Unlisted(task sia.Task, id sia.TechniqueID, why string) sia.Candidate {
	t, _ := l.Get(id)
	return newCandidate(task, t, lastRank, false, why)
}

// choiceRank returns a technique's rank for a pattern and the reason. When the prompt is wordy and the pattern concerns
// the model's instructions, restructuring comes first, then pruning.
func choiceRank(t Technique, p sia.Pattern, wordy bool, tokens int) (rank int, why string) {
	rank = t.Ranks[p]
	if wordy && (p == sia.UnclearInstructions || p == sia.ContextOverload || p == sia.UnknownPattern) {
		switch t.ID {
		case sia.PromptRestructuring:
			return 1, fmt.Sprintf("the instructions have about %d tokens, most of them without an instruction", tokens)
		case sia.ContextPruning:
			return 2, fmt.Sprintf("second choice while the instructions have about %d tokens, most of them without an "+
				"instruction", tokens)
		}
		return max(rank, 3), "answers " + string(p)
	}
	switch rank {
	case 1:
		return rank, fmt.Sprintf("first choice for %s: %s", p, t.When)
	case 2:
		return rank, fmt.Sprintf("second choice for %s: %s", p, t.When)
	default:
		return rank, fmt.Sprintf("also answers %s: %s", p, t.When)
	}
}

// newCandidate returns a candidate. own means that the rank is the task's or the repository's.
func newCandidate(task sia.Task, t Technique, rank int, own bool, why string) sia.Candidate {
	c := sia.Candidate{Technique: t.ID, Odds: 1}
	if own {
		c.Rank = rank
	}
	reasons := []string{why}
	for _, pre := range t.Preconditions {
		if unmet := unmetPrecondition(task, pre); unmet != "" {
			c.Odds *= unmetOdds
			reasons = append(reasons, "ranked lower because "+unmet)
		}
	}
	c.Score = c.Odds / float64(rank+2)
	c.Reason = strings.Join(reasons, "; ")
	return c
}

// needsUser reports whether only a user can supply what is missing.
func needsUser(p sia.Pattern) bool {
	return p == sia.UnclearSpecification || p == sia.MissingCredentials
}

// unmetPrecondition returns why a precondition does not hold, for display; "" when it holds.
func unmetPrecondition(task sia.Task, pre Precondition) string {
	switch a := task.Attempt(); pre {
	case NeedsFailure:
		if a == nil || !slices.ContainsFunc(a.Failures,
			func(f sia.CheckFailure) bool { return strings.TrimSpace(f.Excerpt) != "" }) {
			return "no failing check could be read"
		}
	case NeedsConstraint:
		if len(constraintsIn(task.Title+"\n"+task.Body)) == 0 {
			return "the task's text names no constraint that could be lifted"
		}
	case NeedsParts:
		if len(listItems(task.Body)) < 2 && (a == nil || len(a.Diff.Paths) < 2 && failedTests(a.Failures) < 2) {
			return "the task seems to have only one part"
		}
	case NeedsCommits:
		if task.Head == "" {
			return "no earlier attempt left anything behind"
		}
	}
	return ""
}

// failedTests returns the number of failed tests in all checks.
func failedTests(fs []sia.CheckFailure) (n int) {
	for _, f := range fs {
		n += len(f.Tests)
	}
	return n
}
