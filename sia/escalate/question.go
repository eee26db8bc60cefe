package escalate

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// Question is the package for a person.
type Question struct {
	Title      string // of the escalation issue
	Status     string // where the task stands, one sentence
	Approaches int    // distinct prompts tried
	Of         int    // how many may be tried in all
	Tried      []Line
	Blocker    string // quoted: may have several lines
	Question   string
	Options    []sia.Option
	Spent      sia.Credits
	Assign     string // login of whoever asked for the task; may be empty
	Kind       sia.EscalationKind
	Links      Links
}

// Line is one attempt and how it ended.
type Line struct {
	Attempt   int
	Technique sia.TechniqueID // empty: as the issue says, or after a person's answer
	Outcome   sia.AttemptOutcome
	Text      string // what came of it, one line
}

// Links say where to look. Empty ones are left out.
type Links struct {
	Issue       int    // the task's issue
	Pull        int    // its pull request; 0: none yet
	PullURL     string // address of the pull request
	Branch      string
	Head        string
	Memory      string   // path of the memory file on MemoryBranch
	Transcripts []string // paths of the transcripts on MemoryBranch, oldest first
	MemoryRef   string   // the memory branch
}

// Limits of what is put before a person.
const (
	maxTitle   = 120 // bytes
	maxBlocker = 1500
	maxLine    = 200
	maxOption  = 300
)

// Package makes the package for a person out of a task that has, or is about to
// have, an escalation. A task without one is asked about with [FromDiagnosis] of
// nothing, so that the result can always be shown.
func Package(t sia.Task) Question {
	e := FromDiagnosis(sia.Diagnosis{}, t)
	if t.Escalation != nil {
		e = valid(*t.Escalation, t)
	}
	q := Question{
		Title:      title(t, e),
		Approaches: len(t.Prompts), Of: max(t.Approaches, len(t.Prompts)),
		Blocker: e.Blocker, Question: e.Question, Options: e.Options, Kind: e.Kind,
		Spent: t.Credits.Spent + t.Credits.Overrun, Assign: t.AskedBy.Login,
		Links: Links{
			Issue: t.Issue, Pull: t.Pull.Number, PullURL: t.Pull.URL, Branch: t.Branch, Head: t.Head,
			MemoryRef: t.Settings.Memory.Branch, Memory: fmt.Sprintf(".sia/tasks/%d.md", t.Issue),
		},
	}
	q.Status = status(t, e)
	for _, a := range t.Attempts {
		q.Tried = append(q.Tried, Line{Attempt: a.Number, Technique: a.Technique, Outcome: a.Outcome, Text: outcome(a)})
		q.Links.Transcripts = append(q.Links.Transcripts, fmt.Sprintf(".sia/transcripts/%d/%d.md", t.Issue, a.Number))
	}
	return q
}

func title(t sia.Task, e sia.Escalation) string {
	what := oneLine(t.Title)
	if what == "" {
		what = fmt.Sprintf("issue #%d", t.Issue)
	}
	lead := "SIA needs an answer: "
	if e.Kind == sia.AskNoChecks {
		lead = "SIA needs a check: "
	}
	return clip(lead+what, maxTitle)
}

// status says where the task stands.
func status(t sia.Task, e sia.Escalation) string {
	switch {
	case e.Kind == sia.AskNoChecks:
		return "The work is pushed, but nothing has checked it."
	case e.Kind == sia.AskQuestion:
		return "Nothing has been changed yet: the answer decides how the work begins."
	case len(t.Prompts) == 0:
		return "No approach has been tried yet."
	case t.ApproachesLeft() == 0:
		return fmt.Sprintf("%s tried, which is all that may be; none passed the checks.", count(len(t.Prompts), "approach", "approaches"))
	}
	return fmt.Sprintf("%s of %d tried, and only a person can give what is missing now.", count(len(t.Prompts), "approach", "approaches"), max(t.Approaches, len(t.Prompts)))
}

// outcome is one line on how an attempt ended.
func outcome(a sia.Attempt) string {
	for _, f := range a.Failures {
		if l := telling(f.Excerpt); l != "" {
			return clip(fmt.Sprintf("%s: %s", oneLine(f.Check), l), maxLine)
		}
	}
	if len(a.Failures) > 0 {
		return clip(oneLine(a.Failures[0].Check)+" failed", maxLine)
	}
	if r := oneLine(a.Reason); r != "" {
		return clip(r, maxLine)
	}
	switch a.Outcome {
	case sia.AttemptPass:
		return "passed"
	case sia.AttemptFail:
		return "failed"
	case sia.AttemptCheckpoint:
		return "stopped at a limit; its work was kept"
	case sia.AttemptError:
		return "could not be judged"
	case sia.AttemptCancelled:
		return "stopped by a person"
	case sia.AttemptAsked:
		return "asked before working"
	}
	return "not judged yet"
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// telling is the line of an excerpt that says most: the first that speaks of an
// error, else the first that is not empty.
func telling(excerpt string) string {
	first := ""
	for l := range strings.Lines(excerpt) {
		l = oneLine(l)
		if l == "" {
			continue
		}
		if first == "" {
			first = l
		}
		if errorWords.MatchString(l) {
			return l
		}
	}
	return first
}
