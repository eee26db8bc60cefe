package gate

import (
	"regexp"
	"strings"
	"unicode"
)

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
