package technique

import (
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// wordyTokens is the length above which a prompt's signal is measured (docs/rules.md#techniques). bytesPerToken is the
// usual estimate for English and code.
const (
	wordyTokens   = 2000
	bytesPerToken = 4
)

// wordyPrompt reports whether the task's instructions are long with little signal, and returns their approximate number
// of tokens. A line is signal if it asks for something, names a file, or is a list item or a heading. Less than a third
// of the lines is little.
func wordyPrompt(task sia.Task) (bool, int) {
	instructions := task.Title + "\n" + task.Body + "\n" + task.Brief.Prompt
	tokens := len(instructions) / bytesPerToken
	if tokens <= wordyTokens {
		return false, tokens
	}
	signal, lines := 0, 0
	for line := range strings.Lines(instructions) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		// A paragraph on one line counts as the number of lines to which it would wrap.
		n := 1 + len(line)/120
		lines += n
		if asksWords.MatchString(line) || listMark.MatchString(line) || strings.HasPrefix(line, "#") ||
			len(pathsIn(line)) > 0 && len(line) < 200 {
			signal++
		}
	}
	return signal*3 < lines, tokens
}

var (
	asksWords = lazyregexp.New(`(?i)\b(must|should|shall|need(s|ed)? to|has to|have to|add|remove|return|create|` +
		`implement|rename|fix|make|support|ensure|reject|accept|when|expected|never|only)\b`)
	listMark = lazyregexp.New(`^([-*+]|\d{1,2}[.)])\s+(\[[ xX]\]\s+)?`)
)

// Patterns for the introduction of a list that only reports, and for items that are done or are statements of the
// issue's author, as in forms.
var (
	reportIntro = lazyregexp.New(`(?i)\b(reproduc(e[sd]?|ing|tion)|repro|(expected|actual|current|observed) ` +
		`(behaviou?r|results?|output)|please complete the following)\b|^\W*what happen(s|ed)\b|` +
		`^\W*((your|my|test|system|runtime|additional) )?(environment|desktop|smartphone|system|device|browser|version|os|` +
		`platform|screenshot|context)s?( (info(rmation)?|details))?\W*$`)
	boldLine    = lazyregexp.New(`^(\*\*|__).+(\*\*|__):?$`)
	openBox     = lazyregexp.New(`\[ \]\s+$`)
	tickedBox   = lazyregexp.New(`\[[xX]\]\s+$`)
	firstPerson = lazyregexp.New(`^I['’ ]`)
)

const shortIntro = 60 // maximum length of a line that introduces a list without a colon, in bytes

// listItems returns the items of the task's lists that ask for something, in order, outside code: open boxes, and items
// of lists that neither a heading nor the line before introduces as a report.
func listItems(body string) []string {
	var items []string
	fenced := false
	section, reports := false, false // the section is a report; the next list is
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			fenced = !fenced
			continue
		}
		m := listMark.FindString(line)
		switch {
		case fenced:
		case m != "":
			item := text.Clip(text.OneLine(line[len(m):]), maxStepText)
			if len(item) > 3 && (!reports || openBox.MatchString(m)) && !tickedBox.MatchString(m) &&
				!firstPerson.MatchString(item) {
				items = append(items, item)
			}
		case strings.HasPrefix(line, "#") || boldLine.MatchString(line):
			section = reportIntro.MatchString(line)
			reports = section
		case strings.HasSuffix(line, ":"):
			reports = section || reportIntro.MatchString(line)
		case len(line) <= shortIntro:
			reports = reports || reportIntro.MatchString(line)
		}
	}
	return items
}

var (
	limitWords = lazyregexp.New(`(?i)\b(must( not|n't)?|only|without|never|no more than|at most|at least|exactly|` +
		`should not|shouldn't|cannot|can't|may not|do not|don't|has to|no new|no external)\b`)
	// Constraints that are never lifted: tests, checks, security and privacy.
	neverLifted = lazyregexp.New(`(?i)\b(tests?|checks?|ci|secur\w*|secrets?|passwords?|tokens?|credentials?|` +
		`auth\w*|` +
		`permissions?|licen[cs]\w*|privacy|personal|gdpr|encrypt\w*|sanitiz\w*|escap\w*|injection|delet\w*|workflows?)\b`)
	sentenceEnd = lazyregexp.New(`[.;!?]\s+|\n+`)
)

// constraintsIn returns the sentences that name a constraint which may be lifted temporarily.
func constraintsIn(body string) []string {
	var cs []string
	fenced := false
	for line := range strings.Lines(body) {
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			fenced = !fenced
			continue
		}
		if fenced {
			continue
		}
		for _, s := range sentenceEnd.Split(line, -1) {
			s = strings.TrimSpace(s)
			s = strings.TrimRight(text.OneLine(strings.TrimPrefix(s, listMark.FindString(s))), ".;!")
			if isLiftable(s) {
				cs = append(cs, text.Clip(s, maxStepText))
			}
		}
	}
	return cs
}

// isLiftable reports whether a sentence is a constraint that may be lifted.
func isLiftable(s string) bool {
	return len(s) > 8 && limitWords.MatchString(s) && !neverLifted.MatchString(s)
}

// chooseConstraint returns the constraint to lift: the diagnosis' proposal, else the first that the task names, else a
// general one about completeness.
func chooseConstraint(in Input) string {
	if c := text.Clip(text.OneLine(in.Constraint), maxStepText); len(c) > 8 && !neverLifted.MatchString(c) {
		return c
	}
	if cs := constraintsIn(in.Title + "\n" + in.Body); len(cs) > 0 {
		return cs[0]
	}
	return "The result has to be complete and general from the start."
}

// pathWord matches the path of a file in prose or a log. Its last part has at least one dot. URLs, versions and numbers
// do not count.
var (
	pathWord   = lazyregexp.New(`[A-Za-z0-9_@+.\-/\\]*[A-Za-z0-9_+\-]\.[A-Za-z][A-Za-z0-9]{0,9}\b`)
	webAddress = lazyregexp.New(`[a-z][a-z0-9+]*://\S+`)
)

// pathsIn returns the distinct words of a text that look like file names, in order.
func pathsIn(prose string) []string {
	var ps []string
	seen := map[string]bool{}
	for _, p := range pathWord.FindAllString(webAddress.ReplaceAllString(prose, " "), -1) {
		p = strings.TrimPrefix(strings.ReplaceAll(p, `\`, "/"), "./")
		if !seen[p] {
			seen[p] = true
			ps = append(ps, p)
		}
	}
	return ps
}
