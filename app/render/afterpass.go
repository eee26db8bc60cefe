package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// afterPass describes the changes on the pull request since the task passed, in at most room words. The pass remains
// that of its commit.
func afterPass(t sia.Task, room int) string {
	if t.State != sia.Passed || t.Pull.Merged || t.Aftermath == sia.Abandoned {
		return ""
	}
	var said []string
	if m := t.Moved; m != nil && m.SHA != "" {
		said = append(said, fmt.Sprintf("⚠️ Since then %s pushed %s, which SIA has not judged: the pass is that of %s.",
			pushedBy(m.By), Code(m.SHA.Short(), 0), Code(t.Head.Short(), 0)))
	}
	if a := t.Afterwards; a != nil && len(a.Red) > 0 {
		more := ""
		if n := len(a.Red) - 1; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		said = append(said, fmt.Sprintf("⚠️ Since then %s%s turned red on %s.", fewCode(a.Red[0].Name, 3), more,
			Code(a.SHA.Short(), 0)))
	}
	if t.MergeBlocked {
		said = append(said, fmt.Sprintf("⚠️ GitHub says that the merge is blocked for SIA; it may be allowed to you. "+
			"#%d shows by what.", t.Pull.Number))
	}
	for len(said) > 1 && words(strings.Join(said, " ")) > room {
		said = said[:len(said)-1]
	}
	return strings.Join(said, " ")
}

// abandonedText names who closed the pull request of a passed task, and how to continue.
func abandonedText(t sia.Task) string {
	return loginOr(t.Pull.ClosedBy, "Somebody") + " closed the pull request without merging it. Nothing runs any more. " +
		"`/sia start` begins anew; SIA takes the pull request up again when somebody reopens it."
}

// mergeRulesLine lists what else the base branch requires before a merge; empty where it requires nothing.
func mergeRulesLine(t sia.Task) string {
	if len(t.MergeRules) == 0 || t.Pull.Merged || t.Aftermath == sia.Abandoned {
		return ""
	}
	return fmt.Sprintf("Before a merge, the rules of %s also want %s; no check tells whether that is given.",
		Code(t.BaseBranch, 100), Line(strings.Join(t.MergeRules, ", "), 300))
}

// PassChecks names the checks that a pass is based on, each with its app or workflow: required, green, and runs of the
// repository's code. Empty before the task has passed.
func PassChecks(t sia.Task) []string {
	if t.State != sia.Passed {
		return nil
	}
	var out []string
	for _, c := range t.Checks {
		if !c.Required || c.Colour != sia.Green || !c.Code {
			continue
		}
		said := c.Name
		if c.From != "" {
			said += " (" + c.From + ")"
		}
		out = append(out, said)
	}
	return out
}

// passChecksLine is PassChecks on one line.
func passChecksLine(t sia.Task) string {
	const most = 10
	rests := PassChecks(t)
	if len(rests) == 0 {
		return ""
	}
	for i, r := range rests {
		rests[i] = Code(r, 150)
	}
	more := ""
	if n := len(rests) - most; n > 0 {
		rests, more = rests[:most], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("**The pass of %s rests on** %s%s.", Code(t.Head.Short(), 0),
		strings.Join(slices.Compact(rests), ", "), more)
}
