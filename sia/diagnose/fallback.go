package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// byRules returns the answer without a model. It is about the first finding with an available technique, else about the
// first one. Its instructions quote the failing lines and name the files.
func byRules(in Input, findings []finding) answer {
	f := findings[0]
	for _, g := range findings {
		if len(candidates(in, g.pattern)) > 0 {
			f = g
			break
		}
	}
	a := answer{Pattern: f.pattern, Confidence: f.confidence * confidenceFactor(in)}
	a.Diagnosis = text.Capital(f.evidence) + "."
	at := failurePoint(in)
	switch {
	case at == "" || strings.Contains(a.Diagnosis, strings.TrimPrefix(at, "it ")) || f.check != "":
	case len(in.Attempt.Failures) == 0: // at is the reason why the attempt ended
		a.Diagnosis += " It ended so: " + strings.TrimSuffix(at, ".") + "."
	default:
		a.Diagnosis += " It failed at " + at + "."
	}
	a.Answers.Goal = taskGoal(in)
	a.Answers.FailedAt = failurePoint(in)
	a.Answers.Pattern = fmt.Sprintf("%s: %s", f.pattern, f.evidence)
	a.Prompt = fallbackPrompt(in, f)
	a.Hypothesis = text.Capital(expectedOutcome(in))
	if f.line != "" {
		a.Hypothesis = fmt.Sprintf("The line `%s` does not come back, and %s", text.Clip(f.line, 200), expectedOutcome(in))
	}
	if f.pattern == sia.ExternalDependencyBlocker || f.pattern == sia.MissingCredentials {
		a.Level = "up"
	}
	return a
}

// confidenceFactor returns a factor for the confidence of the rules. It drops with each intervention, because rules
// that were wrong before are likely to be wrong again.
func confidenceFactor(in Input) float64 {
	return 1 / (1 + 0.25*float64(len(in.Task.Interventions)))
}

// fallbackPrompt returns the next attempt's instructions for a finding.
func fallbackPrompt(in Input, f finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The last attempt at “%s” failed", text.Clip(text.OneLine(liftableTitle(in.Task)), 200))
	if f.check != "" {
		fmt.Fprintf(&b, " in the check %s", f.check)
	}
	b.WriteString(".")
	lines := quotedLines(in, f)
	for _, l := range lines {
		fmt.Fprintf(&b, "\n\n> %s", l)
	}
	b.WriteString("\n\n" + findingAdvice(f) + "\n")
	if files := namedFiles(in, lines); files != "" {
		fmt.Fprintf(&b, "\nThe lines above speak of %s.\n", files)
	}
	if files := touchedPaths(in); files != "" {
		fmt.Fprintf(&b, "\nThe last attempt changed %s. Read these first.\n", files)
	}
	if tests := failedTests(in.Attempt); tests != "" {
		fmt.Fprintf(&b, "\nThese tests failed and must pass: %s.\n", tests)
	}
	b.WriteString("\nIt is done when every check is green; no test or check may be changed to get there.")
	return b.String()
}

// findingAdvice returns the advice for a finding. It names the finding's subject if there is one.
func findingAdvice(f finding) string {
	about := func(with, without string) string {
		if f.subject == "" {
			return without
		}
		return fmt.Sprintf(with, "`"+text.Clip(f.subject, 200)+"`")
	}
	switch f.pattern {
	case sia.MissingCredentials:
		return about("%s is not there and will not be. ", "The credentials are not there and will not be. ") +
			"Don't require them, don't invent them and don't read them where tests run: put an interface in front of the " +
			"service and use a local double that needs none."
	case sia.ExternalDependencyBlocker:
		return about("%s can't be reached from the checks. ", "What the code tries to reach can't be reached from the "+
			"checks. ") +
			"Don't call it in tests or at start-up; put an interface in front of it and use a local double."
	case sia.Environment:
		return about("%s is not available where the checks run. ", "Something is not available where the checks run. ") +
			"Use what the repository already depends on, or declare the dependency the way the repository declares its others."
	case sia.WrongOrder:
		return about("%s is used before it is there. ", "Something is used before it is there. ") +
			"Begin with what nothing else rests on, and go up from there."
	case sia.AccumulatedCruft:
		return about("%s exists twice. ", "Pieces of earlier tries are in the way of each other. ") +
			"Keep one version of each thing, and take out whatever the task does not need."
	case sia.WrongAbstractionLevel:
		return about("The border at %s does not fit. ", "The pieces don't fit at their border. ") +
			"Look at how the interface is declared and at every user of it before you change either side."
	case sia.MissingExample:
		return "The result does not have the form that is wanted. Find an existing file of the same kind and follow it " +
			"exactly, down to names and order."
	case sia.OverConstrained:
		return "Two demands can't both be met as they stand. Meet the task's first, in the plainest way, and then find " +
			"the smallest change that meets the other."
	case sia.UnclearSpecification:
		return "Take the smallest reading of the issue that a user would notice. Say in your closing words which reading " +
			"you took."
	case sia.UnclearInstructions:
		return "Write down in one sentence each what the issue wants, what must stay as it is, and how a check will tell " +
			"that it is done. Take the smallest reading that fits, and do only that."
	case sia.WrongTool:
		return about("The tool kept missing at %s. ", "The tool kept missing its target. ") +
			"Look at what is there before you write; create what does not exist, and rewrite what edits can't hit."
	case sia.InterdependentComponents:
		return about("Changing one part broke others (%s). ", "Changing one part broke others. ") +
			"Find every user of what you change before you change it, and keep the repository building after each step."
	case sia.RepeatedError:
		return "The same error has come back. Whatever was done about it before does not work: find the line that " +
			"produces it, and explain it, before you change anything."
	case sia.ContextOverload:
		return "The attempt used up its room. Read only what the failing lines name, run one test at a time, and begin to " +
			"write early."
	case sia.FlakyCheck:
		return "Time or chance plays a part. Make the code under test independent of both: wait for events, not for " +
			"durations; fix the order; inject the clock."
	}
	return "Begin with the lines above: find what produces the first of them, mend that, and only then look at the next."
}

// namedFiles returns up to four files that the lines name and that are in the repository or in the attempt's change.
func namedFiles(in Input, lines []string) string {
	var files []string
	for _, l := range lines {
		for _, p := range fileName.FindAllString(l, -1) {
			p = strings.TrimPrefix(p, "./")
			known := slices.Contains(in.Files, p) || slices.Contains(in.Attempt.Diff.Paths, p)
			if known && !slices.Contains(files, "`"+p+"`") && len(files) < 4 {
				files = append(files, "`"+p+"`")
			}
		}
	}
	return strings.Join(files, ", ")
}

// expectedOutcome returns the end of a sentence "if this is right, …".
func expectedOutcome(in Input) string {
	var names []string
	for _, f := range in.Attempt.Failures[:min(len(in.Attempt.Failures), 3)] {
		names = append(names, text.OneLine(f.Check))
	}
	switch len(names) {
	case 0:
		return "the next attempt has a change that the checks can pass."
	case 1:
		return "the check " + names[0] + " turns green."
	}
	return "the checks " + strings.Join(names, ", ") + " turn green."
}

// quotedLines returns the lines to show: the finding's own, then the most important ones of each failure.
func quotedLines(in Input, f finding) []string {
	var ls []string
	seen := map[string]bool{}
	add := func(l string) {
		if l = text.Clip(text.OneLine(cleanText(l)), 300); l != "" && !seen[l] && len(ls) < 4 {
			seen[l] = true
			ls = append(ls, l)
		}
	}
	if !f.ofIssue || isLiftable(in.Task) {
		add(f.line)
	}
	for _, x := range in.Attempt.Failures {
		for _, l := range text.Telling(x.Excerpt, 2) {
			add(l)
		}
	}
	return ls
}

// errorLine returns the first line of the attempt's failures that describes the error.
func errorLine(a sia.Attempt) string {
	for _, f := range a.Failures {
		if l := text.MostTelling(cleanText(f.Excerpt)); l != "" {
			return text.Clip(l, 300)
		}
	}
	return text.Clip(text.OneLine(a.Reason), 300)
}

// failurePoint returns where the attempt failed: check, place, line.
func failurePoint(in Input) string {
	if len(in.Attempt.Failures) == 0 {
		return text.Clip(text.OneLine(in.Attempt.Reason), 300)
	}
	f := in.Attempt.Failures[0]
	check, l := "check "+text.OneLine(f.Check), errorLine(sia.Attempt{Failures: []sia.CheckFailure{f}})
	if at := codePlace.FindString(l); at != "" {
		return check + ", at " + at
	}
	if l != "" {
		return check + ": " + l
	}
	return check
}

var (
	codePlace = lazyregexp.New(`[\w./\\-]+\.[A-Za-z]\w{0,5}[:(]\d+`)
	fileName  = lazyregexp.New(`[\w./\\@-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,5}\b`)
)

// firstPath returns the first word of a line that looks like a file name.
func firstPath(l string) string {
	if at := codePlace.FindString(l); at != "" {
		return strings.TrimPrefix(at[:strings.LastIndexAny(at, ":(")], "./")
	}
	return strings.TrimPrefix(fileName.FindString(l), "./")
}

func firstCheck(in Input) string {
	if len(in.Attempt.Failures) == 0 {
		return ""
	}
	return text.OneLine(in.Attempt.Failures[0].Check)
}

func touchedPaths(in Input) string {
	paths := in.Attempt.Diff.Paths
	if len(paths) == 0 {
		return ""
	}
	s := strings.Join(paths[:min(len(paths), 8)], ", ")
	if n := len(paths) - 8; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

func failedTests(a sia.Attempt) string {
	var tests []string
	for _, f := range a.Failures {
		for _, t := range f.Tests {
			if t = text.OneLine(t); len(tests) < 10 {
				tests = append(tests, t)
			}
		}
	}
	return strings.Join(tests, ", ")
}
