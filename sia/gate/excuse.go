package gate

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/sia-bot/sia/sia"
)

// excuse excuses red checks that are red on the base commit too, if no other failure than there is known. A failure
// that the issue asks to fix is never excused.
func (j *judgement) excuse() {
	for i := range j.checks {
		c := &j.checks[i]
		alike := j.counterparts(*c)
		isRed := func(b check) bool { return b.outcome == red }
		if c.app == workflowApp && j.succeededOnBase(*c.workflow) {
			continue
		}
		if c.outcome != red || len(alike) == 0 || slices.ContainsFunc(alike, func(b check) bool { return !isRed(b) }) {
			continue
		}
		switch more := failsInMore(c.run, alike); {
		case j.namedByIssue(*c):
			c.why += "; so it does on the base commit, and the issue asks to mend that"
		case more != "":
			c.why += "; so it does on the base commit, and not " + more
		default:
			c.outcome = excused
			c.why = "red on the base commit too"
		}
	}
}

// failsInMore describes the failures of a run that no run on the base commit has; empty if there are none, or if the
// logs don't show them.
func failsInMore(r Run, base []check) string {
	var tests, signatures []string
	for _, b := range base {
		tests = append(tests, b.run.Failed...)
		signatures = append(signatures, b.run.Signature)
	}
	if len(r.Failed) > 0 && len(tests) > 0 {
		var more []string
		for _, t := range r.Failed {
			if !slices.Contains(tests, t) {
				more = append(more, t)
			}
		}
		if len(more) == 0 {
			return ""
		}
		return "in " + names(more)
	}
	if r.Signature == "" || slices.Contains(signatures, "") || slices.Contains(signatures, r.Signature) {
		return ""
	}
	return "in the same way"
}

// unmergeable returns the obstacle for an excused check that a rule requires; not ok if no rule does, or if a person
// waived it. GitHub counts a skipped check as green.
func (j *judgement) unmergeable(c check) (o sia.Obstacle, ok bool) {
	if c.run.Conclusion == "skipped" || !j.requiredByRule(c) || j.waived(c) {
		return o, false
	}
	return sia.Obstacle{Check: c.label, URL: c.url, Waivable: true,
		Reason: "is red on the base commit too, so this change is not to blame; a rule requires it, and GitHub will not " +
			"merge this while it is red there"}, true
}

var (
	// asksForGreen matches a request to make checks green.
	asksForGreen = regexp.MustCompile(`(?i)\b(ci|checks|pipelines?|workflows?|test suite|tests|builds?)\b[^.!?\n]{0,60}` +
		`\b(red|fail(s|ed|ing|ures?)?|broken|breaks?|green)\b|` +
		`\b(fix|mend|repair|green|unbreak|broken|failing|red)\b[^.!?\n]{0,30}\b(ci|pipelines?|workflows?|test suite)\b|` +
		`\b(main|master)( branch)? (is|has been|turned|stays|goes) (red|broken|failing|green)\b`)
	// placed matches a position in a file, as tools print it.
	placed = regexp.MustCompile(`([\w./\\-]+\.\w+)[:(]\d+`)
)

// namedByIssue reports whether the issue names a check, a failed test of it, its message or the file in which it
// failed, or asks for green checks in general.
func (f *facts) namedByIssue(c check) bool {
	switch {
	case strings.TrimSpace(f.Issue) == "":
		return false
	case asksForGreen.MatchString(f.Issue), namesCheck(f.Issue, c.name):
		return true
	}
	for _, t := range c.run.Failed {
		last := t[strings.LastIndexAny(t, "./:> ")+1:]
		if mentions(f.Issue, t) || len(last) >= minName && mentions(f.Issue, last) {
			return true
		}
	}
	for _, m := range placed.FindAllStringSubmatch(c.run.Telling, -1) {
		if mentions(f.Issue, m[1]) {
			return true
		}
	}
	message := c.run.Telling
	if at := placed.FindStringIndex(message); at != nil {
		message = strings.TrimLeft(message[at[1]:], ":) 0123456789")
	}
	message = strings.TrimPrefix(message, "error: ")
	return len(message) >= 2*minName && mentions(f.Issue, message)
}

// minName is the minimum length, in bytes, of a word that counts as mentioned and not as a coincidence.
const minName = 6

// namesCheck reports whether a text names a check. A name of letters alone may be an ordinary word, unless it is quoted
// or next to a word such as check.
func namesCheck(in, name string) bool {
	if name == "" || !mentions(in, name) {
		return false
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return true
	}
	is := regexp.QuoteMeta(name)
	return regexp.MustCompile("(?i)[`\"'“‘]" + is + "[`\"'”’]|\\b(job|check|workflow|status)s? " + is +
		"\\b|\\b" + is + " (job|check|workflow|status)\\b").MatchString(in)
}

// mentions reports whether a text contains words, case-insensitively and as whole words.
func mentions(in, words string) bool {
	in, words = strings.ToLower(in), strings.ToLower(words)
	for from := 0; words != ""; {
		i := strings.Index(in[from:], words)
		if i < 0 {
			return false
		}
		at := from + i
		before, after := in[:at], in[at+len(words):]
		if !endsInWord(before) && !beginsWord(after) {
			return true
		}
		from = at + 1
	}
	return false
}

func endsInWord(s string) bool { return len(s) > 0 && isWordRune(rune(s[len(s)-1])) }

func beginsWord(s string) bool { return len(s) > 0 && isWordRune(rune(s[0])) }

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
