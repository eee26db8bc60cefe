package escalate

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/sia-bot/sia/sia"
)

// maxAnswer is how much of a person's words is kept, in bytes.
const maxAnswer = 4000

// Box is an option as a tick box, as [ParseBoxes] reads it: one line of a
// Markdown task list.
func Box(o sia.Option, ticked bool) string {
	mark := " "
	if ticked {
		mark = "x"
	}
	return fmt.Sprintf("- [%s] **%s** — %s", mark, o.Letter, oneLine(o.Text))
}

// boxLine is a tick box with a letter, however a person's editor left it: other
// bullets, no bold, another dash, a letter in lower case.
var boxLine = regexp.MustCompile(`^\s{0,3}(?:>\s?)?(?:[-*+]|\d{1,2}[.)])\s+\[\s*([xX✓✔]?)\s*\]\s*(?:\*\*|__)?\s*([A-Da-d])\s*(?:\*\*|__)?(?:\s*[—–:.)-]|\s*$)`)

// ParseBoxes returns the letters, in upper case and in the order of the body, of
// the boxes that are ticked. Boxes within code fences, indented code and HTML
// comments don't count. A letter that stands in several boxes counts when one of
// them is ticked.
func ParseBoxes(body string) []string {
	var ticked []string
	seen := map[string]bool{}
	fence, comment := "", false
	for l := range strings.Lines(body) {
		l = strings.TrimRight(l, "\r\n")
		if comment {
			_, after, ends := strings.Cut(l, "-->")
			if !ends {
				continue
			}
			comment, l = false, after
		}
		if fence != "" {
			if t := strings.TrimSpace(l); len(t) >= len(fence) && strings.Trim(t, fence[:1]) == "" {
				fence = ""
			}
			continue
		}
		if fence = opensFence(l); fence != "" {
			continue
		}
		for {
			before, rest, opens := strings.Cut(l, "<!--")
			if !opens {
				break
			}
			_, after, ends := strings.Cut(rest, "-->")
			if l = before + after; !ends {
				l, comment = before, true
				break
			}
		}
		m := boxLine.FindStringSubmatch(l)
		if m == nil || m[1] == "" {
			continue
		}
		if letter := strings.ToUpper(m[2]); !seen[letter] {
			seen[letter] = true
			ticked = append(ticked, letter)
		}
	}
	return ticked
}

// opensFence is the run of backticks or tildes with which a line opens a code
// fence (CommonMark §4.5); empty when it does not.
func opensFence(l string) string {
	t := strings.TrimLeft(l, " ")
	if len(l)-len(t) > 3 {
		return ""
	}
	for _, c := range []string{"`", "~"} {
		run := t[:len(t)-len(strings.TrimLeft(t, c))]
		if len(run) >= 3 && (c == "~" || !strings.Contains(t[len(run):], "`")) {
			return run
		}
	}
	return ""
}

var (
	// A letter alone: "B", "b.", "(b)", "**B**", "Option B!", "answer: b", "let's go with B, please".
	letterAlone = regexp.MustCompile(`^(?i:(?:(?:the\s+)?(?:option|answer|choice)|(?:let'?s\s+)?(?:go\s+(?:with|for)|take|pick|choose)|i(?:'d|\s+would)?\s+(?:choose|pick|take|go\s+with|go\s+for|prefer))\s*:?\s+(?:option\s+)?)?[("'*_\x60]*([A-Da-d])[)"'*_\x60]*\s*[.!:)]*\s*(?i:,?\s*(?:please|pls|thanks|thank you))?[.!]*$`)
	// A letter and more: "B, but …", "b) with …", "Option B: …", "B — …", "B because …", "B and …".
	letterThen = regexp.MustCompile(`^(?i:(?:(?:the\s+)?(?:option|answer|choice)\s*:?\s+))?[(*_]*([A-Da-d])[*_]*\s*([),.:;—–-]+[*_]*\s|\s+(?i:but|and|because|with|without|if|except|only|then|plus|for)\b)`)
	// "Option B …" needs no punctuation: nobody means an article by it.
	optionThen = regexp.MustCompile(`^(?i:option|answer|choice)\s+[(*_]*([A-Da-d])[)*_]*\s`)
	// More than one letter: "A or B", "a and c", "A/B".
	twoLetters = regexp.MustCompile(`^(?i:options?\s+)?[(*_]*([A-Da-d])[)*_]*\s*(?:,|/|&|\+|(?i:or|and))\s*(?i:option\s+)?[(*_]*([A-Da-d])[)*_]*\s*(?:[.!?,]|$)`)
)

// ParseAnswer understands what a person said to a question with the options. A
// letter with or without more words gives Letter, and Text holds whatever goes
// beyond the letter; an option's exact words give its letter alone; everything
// else is Text. A letter that is no option's is Text too, since nobody can tell
// what was meant, and so are several letters. It reports false when nothing was
// said.
func ParseAnswer(text string, options []sia.Option) (sia.AnswerGiven, bool) {
	text = visible(text)
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSymbol(r) }) {
		return sia.AnswerGiven{}, false
	}
	has := func(letter string) (string, bool) {
		letter = strings.ToUpper(letter)
		for _, o := range options {
			if o.Letter == letter {
				return letter, true
			}
		}
		return "", false
	}
	free := sia.AnswerGiven{Text: clip(text, maxAnswer)}
	if m := letterAlone.FindStringSubmatch(text); m != nil {
		if l, ok := has(m[1]); ok {
			return sia.AnswerGiven{Letter: l}, true
		}
	}
	for _, o := range options {
		if same(text, o.Text) || same(text, o.Letter+" "+o.Text) {
			return sia.AnswerGiven{Letter: o.Letter}, true
		}
	}
	if twoLetters.MatchString(text) {
		return free, true
	}
	for _, re := range []*regexp.Regexp{letterThen, optionThen} {
		m := re.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		l, ok := has(text[m[2]:m[3]])
		if !ok {
			break
		}
		rest := strings.TrimLeft(text[m[3]:], " \t\n)*_.,:;—–-")
		for _, o := range options {
			if o.Letter == l && same(rest, o.Text) {
				rest = ""
			}
		}
		return sia.AnswerGiven{Letter: l, Text: clip(rest, maxAnswer)}, true
	}
	return free, true
}

// visible is what a person sees of a text: without HTML comments, quoted lines
// of an earlier comment, and characters that show nothing.
func visible(s string) string {
	s = strings.ToValidUTF8(s, "")
	for {
		before, rest, opens := strings.Cut(s, "<!--")
		if !opens {
			break
		}
		_, after, _ := strings.Cut(rest, "-->")
		s = before + after
	}
	var kept []string
	for l := range strings.Lines(s) {
		if !strings.HasPrefix(strings.TrimSpace(l), ">") {
			kept = append(kept, strings.TrimRightFunc(l, unicode.IsSpace))
		}
	}
	s = strings.Join(kept, "\n")
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// same compares words without case, punctuation and markup.
func same(a, b string) bool {
	a, b = letterWords(a), letterWords(b)
	return a != "" && a == b
}

func letterWords(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}
