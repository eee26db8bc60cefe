package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// The most characters of people's and models' words in a title, and GitHub's limit.
const (
	maxTitle    = 200
	githubTitle = 256
)

// title is a title for GitHub. Neutralising foreign words adds characters, so it is cut twice.
func title(words string) string { return cut(copied(cut(oneLine(words), maxTitle)), githubTitle) }

// PullTitle is the title of the task's pull request.
func PullTitle(t sia.Task) string {
	if s := title(t.Title); s != "" {
		return s
	}
	return fmt.Sprintf("Resolve issue %d", t.Issue)
}

// PullBody is the text of the task's pull request: its purpose, its state, its changes and their reasons, and its
// validation. files are the changes of the head; none if unknown.
func PullBody(t sia.Task, files []ChangedFile, l Links) string {
	var p page
	p.add(fmt.Sprintf("Closes #%d", t.Issue))
	p.add(pullState(t))
	if edited := editedLine(t); edited != "" && t.State == sia.Passed {
		p.add(edited + " Comment `/sia start`, and SIA goes on with the new text.")
	}
	p.add(requirements(t))
	p.add("### What was asked\n\n**" + Line(t.Title, maxTitle) + "**")
	if plan := t.Brief.Plan; plan != nil {
		p.fold("The plan that was approved", fmt.Sprintf("By %s, %s:\n\n%s", person(plan.By), at(plan.At), planText(*plan)))
	}
	whatWasDone(&p, t, files, l)
	p.add("### How it was validated\n\n" + validation(t))
	if len(t.Answers) > 0 {
		p.add("### What people decided\n\n" + answerList(t))
	}
	p.fold(fmt.Sprintf("Every attempt (%d)", len(t.Attempts)), strings.TrimPrefix(attemptList(t, l), "**Attempts**\n\n"))
	p.add("<sub>" + link("Status, commands and costs", l.Issue(t.Repo, t.Issue)) + " are on the issue. Reviewing and " +
		"merging are yours: SIA does neither.</sub>")
	return p.String()
}

// pullState describes the progress. A pull request that is not open yet is treated as a draft.
func pullState(t sia.Task) string {
	noDraft := t.Pull.Number != 0 && !t.Pull.Draft
	if AwaitsTestAcceptance(t) {
		return pullAwaits(t)
	}
	switch t.State {
	case sia.Passed:
		if t.Pull.LeftDraft {
			return allGreen(t, "is", " on "+Code(t.Head.Short(), 0)) + ". Somebody made this a draft, and it " +
				"stays one until somebody presses **Ready for review**."
		}
		if t.Pull.Refused != "" {
			return allGreen(t, "is", " on "+Code(t.Head.Short(), 0)) + ". SIA may not mark this ready: press " +
				"**Ready for review**."
		}
		done := ""
		if said := doneWords(t); said != "" {
			done = "; " + said
		}
		return allGreen(t, "is", " on "+Code(t.Head.Short(), 0)) + done +
			". This is ready for a person to review."
	case sia.Stopped:
		if checksGreen(t) {
			return "SIA was stopped. Every required check was green on " + Code(t.Head.Short(), 0) +
				" when it last looked. What had been done stays here for you to review, to take further or to close."
		}
		return "SIA was stopped before the checks were all green. What had been done stays here for you to take further " +
			"or to close."
	case sia.Escalated, sia.OnHold:
		const waits = "SIA waits for a person: the status comment on the issue says for what."
		switch {
		case t.Pull.Readied:
			return waits + " It was marked ready for review so that checks run which pass over drafts."
		case noDraft:
			return waits
		}
		return "A draft, and " + waits
	}
	if t.Pull.LeftDraft {
		return "SIA is still working on it. Somebody made this a draft, and it stays one until somebody presses **Ready " +
			"for review**."
	}
	if noDraft {
		return "SIA is still working on it: please don't merge it yet."
	}
	return "A draft: SIA is still working on it, and marks it ready for review when every required check is green."
}

// pullAwaits lists what a person has to accept before the task passes.
func pullAwaits(t sia.Task) string {
	s := allGreen(t, "is", " on "+Code(t.Head.Short(), 0)) + ", but tests or protected files were changed. " +
		"SIA waits until somebody with write access has looked at that and comments `/sia accept-tests`, or `/sia stop`"
	if list := changeList(t, 150); list != "" {
		s += ":\n\n" + list
	} else {
		s += "."
	}
	if t.Pull.LeftDraft {
		s += "\nSomebody made this a draft, and it stays one until somebody presses **Ready for review**."
	}
	return s
}

// allGreen describes the checks of a pass, in the tense of the verb is, and names those that are not green.
func allGreen(t sia.Task, is, where string) string {
	var others []string
	for _, c := range t.Checks {
		switch c.Colour {
		case sia.Red, sia.Excused, sia.Blocked:
			others = append(others, Code(c.Name, 40))
		case sia.Green, sia.Skipped, sia.Running:
		}
	}
	if len(others) == 0 {
		return "Every required check " + is + " green" + where
	}
	if n := len(others) - 2; n > 1 {
		others = append(others[:2], fmt.Sprintf("%d others", n))
	}
	are := map[string]string{"is": "are", "was": "were"}[is]
	not := is
	if len(others) > 1 {
		not = are
	}
	return "The checks that count " + are + " green" + where + ", and " + text.List(others) + " " + not + " not"
}

// allGreenToo is allGreen within a sentence.
func allGreenToo(t sia.Task, where string) string {
	s := allGreen(t, "is", where)
	return strings.ToLower(s[:1]) + s[1:]
}

// checksGreen reports whether every required check of the head was green when it was last judged. That is no verdict:
// changes to tests may wait for acceptance.
func checksGreen(t sia.Task) bool {
	required := 0
	for _, c := range t.Checks {
		if c.Required && c.Colour != sia.Green && c.Colour != sia.Skipped {
			return false
		}
		if c.Required && c.Colour == sia.Green {
			required++
		}
	}
	return required > 0
}

func lastWithWork(t sia.Task) *sia.Attempt {
	for i := len(t.Attempts) - 1; i >= 0; i-- {
		takenOff := t.Omission.StaysUnmet(t.Head) && t.Omission.Attempt == i+1
		if t.Attempts[i].Diff.Files > 0 && !takenOff {
			return &t.Attempts[i]
		}
	}
	return nil
}

// routeLine names the approach that produced the change.
func routeLine(t sia.Task, a sia.Attempt) string {
	if a.Technique == "" {
		return ""
	}
	s := fmt.Sprintf("This is attempt %d, with %s.", a.Number, approach(a))
	for _, iv := range t.Interventions {
		if iv.Diagnosis.Technique == a.Technique && iv.Diagnosis.Hypothesis != "" {
			return s + " The idea behind it: " + Line(iv.Diagnosis.Hypothesis, 400)
		}
	}
	return s
}

// validation is the table of checks of the head.
func validation(t sia.Task) string {
	by := ""
	if t.HeadBy != (sia.Actor{}) {
		by = "\nThe head commit is by " + pushedBy(t.HeadBy) + ", not by SIA.\n"
	}
	if len(t.Checks) == 0 {
		return strings.TrimRight("No check has reported on "+orNone(t.Head.Short())+" yet.\n"+by, "\n")
	}
	var b strings.Builder
	b.WriteString("| check | result | |\n|---|---|---|\n")
	for i, c := range t.Checks {
		if i == 50 {
			fmt.Fprintf(&b, "| %d more | | |\n", len(t.Checks)-i)
			break
		}
		note := Line(CheckNote(c), 200)
		if !c.Required && !strings.HasPrefix(note, "not required") { // the gate says so for checks that are not green
			note = strings.TrimPrefix(note+"; not required", "; ")
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(link(Code(c.Name, 100), c.URL)), colourWords(c.Colour), cell(note))
	}
	b.WriteString(by)
	for _, sha := range t.Accepted {
		if sha == t.Head {
			b.WriteString("\nA person accepted this commit's changes to tests or protected files.\n")
		}
	}
	b.WriteString(askedFor(t))
	if said := finalLine(t, 60); said != "" {
		b.WriteString("\n" + said + "\n")
	}
	return b.String()
}

// askedFor lists the expectations of tests that the head changed, each with the words of the issue that ask for it;
// empty when no such change was made.
func askedFor(t sia.Task) string {
	w := t.Gate.Weighing
	if !w.AskedFor() || w.SHA != t.Head || slices.Contains(t.Accepted, t.Head) {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nExpectations of tests were changed, and the issue asks for it. A reviewer found where; that the " +
		"words stand in the issue was checked:\n\n")
	for i, f := range w.Findings {
		if i == maxAskedFor {
			fmt.Fprintf(&b, "- and %d more\n", len(w.Findings)-i)
			break
		}
		fmt.Fprintf(&b, "- %s — “%s”\n", Line(f, 300), Line(w.Quotes[i], 400))
	}
	return b.String()
}

const maxAskedFor = 20

// CheckNote explains a check's colour; empty where the colour says everything.
func CheckNote(c sia.Check) string {
	if c.Colour == sia.Red && c.Why == "failed" {
		return ""
	}
	return c.Why
}

func colourWords(c sia.CheckColour) string {
	switch c {
	case sia.Green:
		return "✅ green"
	case sia.Red:
		return "❌ red"
	case sia.Excused:
		return "⚪ red, and not this change's doing"
	case sia.Skipped:
		return "⚪ skipped"
	case sia.Blocked:
		return "🚧 waits for a person"
	}
	return "⏳ running"
}

func answerList(t sia.Task) string {
	var b strings.Builder
	for _, a := range t.Answers {
		words := Line(a.Text, 300)
		if a.Letter != "" {
			words = "**" + letter(a.Letter) + "** — " + words
		}
		fmt.Fprintf(&b, "- %s, %s: %s\n", person(a.By), at(a.At), words)
	}
	return b.String()
}

func orNone(sha string) string {
	if sha == "" {
		return "the branch"
	}
	return Code(sha, 0)
}
