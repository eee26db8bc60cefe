package diagnose

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/technique"
	"github.com/sia-bot/sia/sia/text"
)

//go:embed prompts/*.tmpl
var promptFiles embed.FS

// PromptFiles returns the prompts for diagnoses and reviews.
func PromptFiles() fs.FS { return promptFiles }

// bytesPerToken is a conservative estimate. Prose has more bytes per token, dense code about this many.
const bytesPerToken = 3

// Shares of the evidence's size, in percent. Space that one part leaves goes to the parts after it. Of each part the
// oldest is cut first.
const (
	shareFailures   = 25
	shareTask       = 20
	shareHistory    = 15
	shareTranscript = 50 // of the rest
	shareLessons    = 5
)

type techniqueLine struct {
	ID            sia.TechniqueID
	When, Answers string
	Note          string
}

// promptValues returns the values for the template of a diagnosis prompt.
func promptValues(in Input) map[string]any {
	return map[string]any{
		"Patterns":   patternList(),
		"Techniques": techniqueLines(in),
		"Rated":      len(rateable(in)) > 0,
		"Final":      in.Final,
		"Wanted":     wanted(in),
	}
}

func patternList() string {
	var names []string
	for _, p := range sia.Patterns {
		names = append(names, "`"+string(p)+"`")
	}
	return strings.Join(names, ", ")
}

func techniqueLines(in Input) []techniqueLine {
	var lines []techniqueLine
	for _, t := range in.Library.All() {
		l := techniqueLine{ID: t.ID, When: text.OneLine(cleanText(t.When))}
		var answers []string
		for _, p := range sia.Patterns {
			if t.Answers(p) {
				answers = append(answers, string(p))
			}
		}
		l.Answers = strings.Join(answers, ", ")
		switch {
		case in.Task.Used(t.ID):
			l.Note = "Used already in this task"
		case slices.Contains(in.Task.Refused, t.ID):
			l.Note = "Refused by the reviewer for this failure"
		}
		lines = append(lines, l)
	}
	return lines
}

func wanted(in Input) sia.TechniqueID {
	if _, ok := in.Library.Get(in.Task.Wanted); ok && free(in, in.Task.Wanted) {
		return in.Task.Wanted
	}
	return ""
}

// free reports whether a technique is known, unused and not refused.
func free(in Input, id sia.TechniqueID) bool {
	_, known := in.Library.Get(id)
	return known && !in.Task.Used(id) && !slices.Contains(in.Task.Refused, id)
}

// rateable returns the techniques that a model is asked to rate: the free ones, or none when a user is asked in any
// case.
func rateable(in Input) (ids []sia.TechniqueID) {
	if in.Final {
		return nil
	}
	for _, t := range in.Library.All() {
		if free(in, t.ID) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// fromLogs labels output of checks.
const fromLogs = "From the logs of the repository's checks, which print what the code under test wants."

// evidence formats the input, within room bytes.
func evidence(in Input, findings []finding, room int) string {
	var b strings.Builder
	left := room
	add := func(heading, from, content string, limit int, keep text.End) {
		if content = cleanText(content); content == "" {
			return
		}
		section := "## " + heading + "\n\n" + from + "\n\n" + text.Fence(text.Fit(content, max(limit, 200), keep)) + "\n\n"
		if len(section) > left {
			fmt.Fprintf(&b, "## %s\n\n(left out: no room)\n\n", heading)
			return
		}
		left -= len(section)
		b.WriteString(section)
	}
	// The failures are rendered newest first, so what is cut is the oldest.
	add("What failed, newest first", fromLogs, failuresText(in), room*shareFailures/100, text.Head)
	task := visibleIssue(in.Task.Title, in.Task.Body)
	add("The task", in.Task.IssueBy(), task, room*shareTask/100, text.Head)
	add("What people answered", "From people with write access.", strings.Join(in.Task.Brief.Answers, "\n"),
		room*shareHistory/100, text.Tail) // the newest come last
	if p := in.Task.Brief.Plan; p != nil {
		add("The plan that a person approved", "By the coding agent, and read by a person with write access, who wants it "+
			"kept.", p.String(), room*shareHistory/100, text.Head)
	}
	add("What was tried before, newest first", "From SIA's record, in a model's words.", history(in),
		room*shareHistory/100, text.Head)
	add("Why SIA steps in", "From SIA's rules, which quote logs.", signalsText(in), room*shareLessons/100, text.Head)
	add("What the rules found (they read words only, and may be wrong)", "From SIA's rules, which quote logs.",
		suspicionsText(in, findings), room*shareLessons/100, text.Head)
	add("Lessons of earlier tasks", "From SIA's memory.", strings.Join(in.Lessons, "\n"), room*shareLessons/100, text.Head)
	add("The agent's own summary, which proves nothing", "From the coding agent.", in.Attempt.Summary,
		room*shareLessons/100, text.Tail)
	add("The tools that the agent has", "From SIA.", strings.Join(in.Tools, ", "), room*shareLessons/100, text.Head)
	add("Files of the repository", "From the base branch.", strings.Join(in.Files, "\n"), room*shareLessons/100, text.Head)
	headings := 600
	add("The attempt's change", "From the coding agent.", in.Diff, left*(100-shareTranscript)/100-headings/2, text.Head)
	add("The attempt's transcript, newest last", "From the coding agent and its tools: files and output of commands, "+
		"whoever wrote them.", in.Transcript, left-headings, text.Tail)
	return strings.TrimSpace(b.String())
}

// failuresText returns the failures of the current attempt, then different ones of earlier attempts.
func failuresText(in Input) string {
	var b strings.Builder
	seen := map[string]bool{}
	show := func(a sia.Attempt) {
		var unknown []string
		for _, f := range a.Failures {
			if f.Excerpt == "" {
				unknown = append(unknown, f.Check)
				continue
			}
			key := f.Check + "\x00" + f.Signature
			if f.Signature != "" && seen[key] {
				fmt.Fprintf(&b, "Attempt %d, check %s: the same failure as above.\n\n", a.Number, text.OneLine(f.Check))
				continue
			}
			seen[key] = true
			fmt.Fprintf(&b, "Attempt %d, check %s", a.Number, text.OneLine(f.Check))
			if f.Class != "" {
				fmt.Fprintf(&b, " (%s)", f.Class)
			}
			fmt.Fprintf(&b, ":\n%s\n", strings.TrimSpace(f.Excerpt))
			if len(f.Tests) > 0 {
				fmt.Fprintf(&b, "Failed tests: %s\n", text.OneLine(strings.Join(f.Tests[:min(len(f.Tests), 20)], ", ")))
			}
			b.WriteString("\n")
		}
		if len(unknown) > 0 {
			fmt.Fprintf(&b, "Attempt %d, checks that failed for an unknown reason: %s\n\n", a.Number,
				text.Clip(text.OneLine(strings.Join(unknown, ", ")), 1000))
		}
		if len(a.Failures) == 0 && a.Reason != "" {
			fmt.Fprintf(&b, "Attempt %d: %s\n\n", a.Number, text.OneLine(a.Reason))
		}
	}
	show(in.Attempt)
	for i := len(in.Task.Attempts) - 1; i >= 0; i-- {
		if a := in.Task.Attempts[i]; a.Number < in.Attempt.Number && a.Worked() {
			show(a)
		}
	}
	return b.String()
}

// history returns the interventions, newest first.
func history(in Input) string {
	var b strings.Builder
	for i := len(in.Task.Interventions) - 1; i >= 0; i-- {
		x := in.Task.Interventions[i]
		outcome := "did not resolve it"
		if x.Resolved != nil && *x.Resolved {
			outcome = "resolved it then"
		}
		fmt.Fprintf(&b, "After attempt %d: pattern %s, technique %s, %s.\nDiagnosis: %s\nInstructions given: %s\n\n",
			x.After, x.Diagnosis.Pattern, x.Diagnosis.Technique, outcome, text.OneLine(x.Diagnosis.Summary),
			text.Clip(text.OneLine(x.Diagnosis.Prompt), 1200))
	}
	if n := in.Task.Next; n != nil && in.Task.Rounds > 0 {
		fmt.Fprintf(&b, "Proposed just now and rejected by the reviewer: technique %s. Objections: %s\n",
			n.Diagnosis.Technique, text.OneLine(strings.Join(n.Review.Points, " ")))
	}
	return b.String()
}

func signalsText(in Input) string {
	ss := in.Attempt.Signals
	if n := in.Task.Next; n != nil && len(n.Signals) > 0 {
		ss = n.Signals
	}
	var b strings.Builder
	for _, s := range ss {
		fmt.Fprintf(&b, "- %s: %s\n", s.Name, text.OneLine(s.Evidence))
	}
	return b.String()
}

// suspicionsText returns the findings of the rules, each with the first techniques.
func suspicionsText(in Input, findings []finding) string {
	var b strings.Builder
	for _, f := range findings[:min(len(findings), 3)] {
		fmt.Fprintf(&b, "- %s: %s\n", f.pattern, text.OneLine(f.evidence))
		cs := candidates(in, f.pattern)
		for _, c := range cs[:min(len(cs), 3)] {
			fmt.Fprintf(&b, "  - %s: %s", c.Technique, text.OneLine(c.Reason))
			if c.Tried > 0 {
				fmt.Fprintf(&b, "; it resolved %d of %d here", c.Resolved, c.Tried)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// candidates ranks techniques for a pattern. Used, refused and unknown ones are removed from any ranking.
func candidates(in Input, p sia.Pattern) []sia.Candidate {
	var cs []sia.Candidate
	if in.Candidates != nil {
		cs = slices.Clone(in.Candidates(p))
	} else {
		cs = in.Library.Candidates(in.Task, p)
	}
	var seen []sia.TechniqueID
	return slices.DeleteFunc(cs, func(c sia.Candidate) bool {
		if !free(in, c.Technique) || slices.Contains(seen, c.Technique) {
			return true
		}
		seen = append(seen, c.Technique)
		return false
	})
}

// library returns l, or the built-in library if l is nil.
func library(l *technique.Library) *technique.Library {
	if l == nil {
		l, _ = technique.LoadLibrary(nil)
	}
	return l
}
