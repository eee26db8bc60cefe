package sia

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// The questions that SIA words itself. They are worded here and not in app/render,
// because people are not their only readers: an answer is matched against the options,
// it is stored with its question in memory, and the text of an option is an instruction
// to the next attempt.

// The letters of the options of a plan.
const (
	planGo   = "A" // the plan is approved
	planStop = "B" // the task ends
)

// OpenQuestion returns the question about a task that SIA has no other question about.
func OpenQuestion() (question string, options []Option) {
	return "How should SIA go on with this task?", []Option{
		{Letter: "A", Text: "Start over from the base branch, keeping the change as small as possible", Fastest: true},
		{Letter: "B", Text: "Leave out what can't be done and do the rest of the issue"},
	}
}

// diagnosisQuestion returns the question of a diagnosis that can't lead to another attempt,
// with defaults for what the diagnosis lacks. failure describes the last failure.
func diagnosisQuestion(d Diagnosis, failure string) Escalation {
	e := Escalation{Kind: AskIssue, Blocker: d.Blocker, Question: d.Question, Options: d.Options}
	if e.Blocker == "" {
		e.Blocker = failure
	}
	question, options := OpenQuestion()
	e.Question = cmp.Or(e.Question, question)
	if len(e.Options) < 2 {
		e.Options = options
	}
	return e
}

// planQuestion returns the question whether to approve a plan.
func planQuestion(p Plan) Escalation {
	return Escalation{
		Kind: AskPlan, Blocker: "This repository wants to see a plan before anything is done (`agent.plan: approve`).",
		Question: "Shall it be done like this?", Plan: &p,
		Options: []Option{{Letter: planGo, Text: "Go ahead", Fastest: true}, {Letter: planStop, Text: "Stop here"}},
	}
}

// noChecksQuestion returns the question what to do when no check of the head has a usable
// result: there is none, or every required one is excused.
func noChecksQuestion(t *Task) Escalation {
	if len(t.Checks) > 0 {
		return noEvidenceQuestion(t)
	}
	return Escalation{
		Kind: AskNoChecks,
		Blocker: fmt.Sprintf("No check run and no commit status appeared on %s within %s. Without a check, SIA can't "+
			"tell whether the work is right, and it never takes anybody's word for it.", t.Head.Short(),
			t.Settings.Checks.Wait.D()),
		Question: "How should this change be checked?",
		Options: []Option{
			{Letter: "A", Text: "Checks run now (a workflow was added or started): look again", Fastest: true},
			{Letter: "B", Text: "There will be no checks: stop here and leave the draft pull request to a person"},
		},
	}
}

// noEvidenceQuestion returns the question what to do when none of the head's checks tests the work. A person can
// confirm checks that SIA can't classify.
func noEvidenceQuestion(t *Task) Escalation {
	e := Escalation{
		Kind: AskNoChecks,
		Blocker: fmt.Sprintf("No required check of %s says anything about the work: %s. So none of them can tell "+
			"whether it is right, and SIA never takes anybody's word for it.", t.Head.Short(), excuses(t.Checks)),
		Question: "How should this change be checked?",
		Options:  []Option{{Letter: "A", Text: "The checks are mended now: look again", Fastest: true}},
	}
	for _, c := range t.Checks {
		if c.Unsure {
			e.Vouches = append(e.Vouches, c.Name)
		}
	}
	stop := "B"
	if len(e.Vouches) > 0 {
		e.Blocker += " What is named in `checks.required` counts on every pull request."
		e.Options, stop = append(e.Options, Option{Letter: "B", Vouches: true,
			Text: "“" + strings.Join(e.Vouches, "”, “") + "” builds or tests the code: let it count for this task"}), "C"
	}
	e.Options = append(e.Options,
		Option{Letter: stop, Text: "They stay as they are: stop here and leave the draft pull request to a person"})
	return e
}

// blockedQuestion asks a person to remove the obstacles that keep checks from having a result.
func blockedQuestion(t *Task, by []Obstacle) Escalation {
	e := Escalation{
		Kind:     AskBlocked,
		Question: "Can you see to it that these checks say something?",
		Options:  []Option{{Letter: "A", Text: "It is seen to: look again at the commit that is there", Fastest: true}},
	}
	switch {
	case len(by) == 1 && by[0].Pull:
		e.Question = "Can you see to it that the pull request shows " + t.Head.Short() + "?"
	case len(by) == 1:
		e.Question = "Can you see to it that “" + text.Clip(text.OneLine(by[0].Check), 60) + "” says something?"
	}
	var said []string
	absent, missed, waivable := false, false, false
	for _, o := range by[:min(len(by), 5)] {
		check := "“" + o.Check + "”"
		if o.Pull {
			check = "The pull request"
		}
		line := check + " " + strings.TrimSuffix(o.Reason, ".") + "."
		if o.URL != "" {
			line += " " + o.URL
		}
		said = append(said, line)
		absent, missed = absent || o.Absent && !o.Missed, missed || o.Missed
		waivable = waivable || o.Waivable
	}
	e.Blocker = fmt.Sprintf("The checks of %s don't say whether the work is right, for a reason that lies "+
		"outside of it:\n\n%s", t.Head.Short(), strings.Join(said, "\n"))
	if n := len(by) - len(said); n > 0 {
		e.Blocker += fmt.Sprintf("\nand %d more.", n)
	}
	if absent {
		e.Blocker += "\n\nA check that never reports is often one whose name is misspelt in the rule or in " +
			"`checks.required`, whose workflow has a filter of paths or branches, or which runs in a merge queue alone."
		e.Options = append(e.Options, Option{Letter: "B",
			Text: "It should not be required, and I took it out of the rule or of `checks.required`: look again"})
	}
	if missed || waivable {
		for _, o := range by {
			if o.Missed || o.Waivable {
				e.Waives = append(e.Waives, o.Check)
			}
		}
		without := "It need not report on this pull request: go on without it"
		if waivable {
			without = "It need not be green for this task: go on without “" + strings.Join(e.Waives, "”, “") + "”"
		}
		e.Options = append(e.Options, Option{Letter: string(rune('A' + len(e.Options))), Waives: true, Text: without})
	}
	letter := string(rune('A' + len(e.Options)))
	e.Options = append(e.Options, Option{Letter: letter,
		Text: "Nothing can be done: stop here and leave the pull request to a person"})
	return e
}

// excuses explains why required checks do not count, at most five.
func excuses(checks []Check) string {
	var said []string
	for _, c := range checks {
		why := c.Why
		switch {
		case !c.Required || len(said) == 5:
			continue
		case c.Unsure:
			why = "SIA can't tell whether it builds or tests the code"
		case c.Colour == Green && !c.Code:
			why = "it does not run the code"
		case c.Colour != Excused && c.Colour != Skipped:
			continue
		}
		said = append(said, c.Name+" ("+why+")")
	}
	return strings.Join(said, ", ")
}

// letters returns the letters of the options, as text for people.
func (e Escalation) letters() string {
	all := make([]string, len(e.Options))
	for i, o := range e.Options {
		all[i] = o.Letter
	}
	return text.List(all)
}

// CommentNumber returns the id in the address of a comment on an issue; 0 for another address.
func CommentNumber(url string) int64 {
	_, digits, _ := strings.Cut(url, "#issuecomment-")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
