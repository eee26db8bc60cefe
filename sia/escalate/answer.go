package escalate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/visible"
)

// maxAnswer is the maximum length of an answer's text, in characters.
const maxAnswer = 4000

// Box formats an option as one line of a Markdown task list, which [ParseBoxes]
// parses.
func Box(o sia.Option, ticked bool) string {
	mark := " "
	if ticked {
		mark = "x"
	}
	return fmt.Sprintf("- [%s] **%s** — %s", mark, o.Letter, text.OneLine(o.Text))
}

// boxLine matches a tick box with a letter, with the variations that a user's editor may make: other bullets, no bold,
// another dash, a letter in lower case. The box itself must be as GitHub writes it, and not be in a quote: untrusted
// text is quoted and can't contain another kind of box.
var boxLine = lazyregexp.New(`^ {0,3}(?:[-*+]|\d{1,2}[.)])\s+\[([ xX])\]\s*(?:\*\*|` +
	`__)?\s*([A-Da-d])\s*(?:\*\*|__)?(?:\s*[—–:.)-]|\s*$)`)

// ParseBoxes returns the letters of the ticked boxes, in upper case and in the
// order of the body. It ignores boxes in code fences, indented code and HTML
// comments. A letter with several boxes is returned if one of them is ticked.
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
			if text.ClosesFence(l, fence) {
				fence = ""
			}
			continue
		}
		if !text.IsIndentedCode(l) {
			fence = text.OpensFence(l)
		}
		if fence != "" {
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
		if m == nil || m[1] == " " {
			continue
		}
		if letter := strings.ToUpper(m[2]); !seen[letter] {
			seen[letter] = true
			ticked = append(ticked, letter)
		}
	}
	return ticked
}

var (
	// A letter alone: "B", "b.", "(b)", "**B**", "Option B!", "answer: b", "let's go with B, please".
	letterAlone = lazyregexp.New(`^(?i:(?:(?:the\s+)?(?:option|answer|choice)|(?:let'?s\s+)?(?:go\s+(?:with|for)|` +
		`take|pick|choose)|i(?:'d|\s+would)?\s+(?:choose|pick|take|go\s+with|go\s+for|` +
		`prefer))\s*:?\s+(?:option\s+)?)?[("'*_\x60]*([A-Za-z])[)"'*_\x60]*\s*[.!:)]*\s*(?i:,?\s*(?:please|pls|thanks|` +
		`thank you))?[.!]*$`)
	// A letter and more: "B, but …", "b) with …", "Option B: …", "B — …", "B because …". Before other words the letter
	// may be the first word of a sentence: "C and C++ …", "A for loop …".
	letterThen = lazyregexp.New(`^(?i:(?:(?:the\s+)?(?:option|answer|` +
		`choice)\s*:?\s+))?[(*_]*([A-Da-d])[*_]*\s*([),.:;—–-]+[*_]*\s|\s+(?i:but|because|except)\b)`)
	// "B …" with the option's own first word. "A …" may be an article.
	capitalThen = lazyregexp.New(`^([B-D])\s+[^\s]`)
	// "Option B is …" and similar phrases discuss the option, and don't choose it.
	ofOption = lazyregexp.New(`^(?i:option|answer|choice)\s+[(*_]*[A-Da-d][)*_]*\s+(?i:is|isn|was|has|does|doesn|can|` +
		`could|will|won|would|wouldn|may|might|should|shouldn|looks|seems|sounds|or|vs)\b`)
	// marked matches a letter of a list: "b) …", "(b) …".
	marked = lazyregexp.New(`(?:^|[\s(])([A-Da-d])\)`)
	// "Option B …" needs no punctuation: the letter can't be an article.
	optionThen = lazyregexp.New(`^(?i:option|answer|choice)\s+[(*_]*([A-Da-d])[)*_]*\s`)
	// More than one letter: "A or B", "a and c", "A/B", "A, B and C".
	twoLetters = lazyregexp.New(`^[A-D]\s*,\s*[A-D]\b|` +
		`^(?i:options?\s+)?[(*_]*([A-Da-d])[)*_]*\s*(?:,\s*(?i:or|and)?|/|&|\+|(?i:or|and))\s*(?i:option\s+)?` +
		`[(*_]*([A-Da-d])[)*_]*\s*(?:[.!?,]|$)`)
	// Nothing but several letters: "A or B?", "a and c", "option A/B".
	lettersAlone = lazyregexp.New(`^(?i:options?\s+)?[(*_]*[A-Da-d][)*_]*` +
		`(?:(?:\s*(?:[,/&+]|\b(?i:or|and)\b))+\s*(?i:option\s+)?[(*_]*[A-Da-d][)*_]*)+\s*[.!?]*$`)
)

// ParseAnswer parses a person's answer to a question. A letter is returned as Letter, with the remaining text as Text.
// The exact text of an option gives only its letter. Any other text is returned as Text, also if it discusses several
// letters or begins with one that no option has. If both are empty the answer is unclear and must be asked for again:
// it is only several letters, or one that no option has. It reports false if the answer is empty.
func ParseAnswer(said string, asked sia.Escalation) (sia.AnswerGiven, bool) {
	options := asked.Options
	said = seenWords(said)
	if !strings.ContainsFunc(said,
		func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSymbol(r) }) {
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
	free := sia.AnswerGiven{Text: text.Clip(said, maxAnswer)}
	first, more, _ := strings.Cut(said, "\n")
	alone := letterAlone.FindStringSubmatch(first)
	if alone != nil {
		if l, ok := has(alone[1]); ok {
			return sia.AnswerGiven{Letter: l, Text: text.Clip(strings.TrimSpace(more), maxAnswer)}, true
		}
	}
	for _, o := range options {
		if sameWords(said, o.Text) || sameWords(said, o.Letter+" "+o.Text) {
			return sia.AnswerGiven{Letter: o.Letter}, true
		}
	}
	if alone != nil && first == said || lettersAlone.MatchString(said) {
		return sia.AnswerGiven{}, true
	}
	if twoLetters.MatchString(said) || severalMarked(said) || ofOption.MatchString(said) {
		return free, true
	}
	if l, rest := plainChoice(said, asked); l != "" {
		return sia.AnswerGiven{Letter: l, Text: text.Clip(rest, maxAnswer)}, true
	}
	for _, re := range []*lazyregexp.Regexp{letterThen, optionThen, capitalThen} {
		m := re.FindStringSubmatchIndex(said)
		if m == nil {
			continue
		}
		l, ok := has(said[m[2]:m[3]])
		if !ok {
			break
		}
		rest := strings.TrimLeft(said[m[3]:], " \t\n)*_.,:;—–-")
		o := options[slices.IndexFunc(options, func(o sia.Option) bool { return o.Letter == l })]
		other := firstWord(rest) != "" && firstWord(rest) != firstWord(o.Text)
		switch {
		case re == capitalThen && other && stops(asked) != nil:
			return sia.AnswerGiven{}, true // free text would count as a request to work on the issue
		case re == capitalThen && other:
			return free, true
		case sameWords(rest, o.Text):
			rest = ""
		}
		return sia.AnswerGiven{Letter: l, Text: text.Clip(rest, maxAnswer)}, true
	}
	return free, true
}

// beginsWithName matches a comment to another user: "@ana …", "Hi @ana, …".
var beginsWithName = lazyregexp.New(`^(?i:(?:hi|hey|hello)\s+)?@[A-Za-z0-9]`)

// IsTalk reports whether a text that chooses no option is meant for other people and not as an answer: it begins with a
// user's name or with code, or its first paragraph ends in a question.
func IsTalk(said string) bool {
	first, _, _ := strings.Cut(text.Reply(said), "\n")
	if text.IsIndentedCode(first) || text.OpensFence(first) != "" {
		return true
	}
	said = seenWords(said)
	paragraph, _, _ := strings.Cut(said, "\n\n")
	end, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(paragraph, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(questionMarks, r) // marks, emoji
	}))
	return strings.ContainsRune(questionMarks, end) || beginsWithName.MatchString(said)
}

// questionMarks are the question marks of several scripts.
const questionMarks = "?？؟"

// severalMarked reports whether a text contains several letters of a list.
func severalMarked(said string) bool {
	all := marked.FindAllStringSubmatch(said, -1)
	return slices.ContainsFunc(all, func(m []string) bool { return !strings.EqualFold(m[1], all[0][1]) })
}

var (
	plainYes = lazyregexp.New(`^(?i:yes|yep|yeah|sure)\b`)
	plainNo  = lazyregexp.New(`^(?i:no|nope|nah|don['’]?t|do not|stop)\b`)
	noNo     = lazyregexp.New(`^(?i:no)\s+(?i:problem|worries|objection)`)
)

// stops returns the pattern of plain answers that choose the second of two options, which ends the task; nil unless the
// question is SIA's own whether to work on the issue.
func stops(asked sia.Escalation) *lazyregexp.Regexp {
	switch {
	case len(asked.Options) != 2:
		return nil
	case asked.Kind == sia.AskAlready && asked.Already != nil && asked.Already.Claimed:
		return plainYes // the question is whether the issue is resolved
	case asked.Kind == sia.AskAlready, asked.Kind == sia.AskEdited:
		return plainNo
	}
	return nil
}

// plainChoice returns the letter that a plain yes or no chooses if one of two options is to stop, and the remaining
// text.
func plainChoice(said string, asked sia.Escalation) (letter, rest string) {
	stop := stops(asked)
	if stop == nil || noNo.MatchString(said) {
		return "", ""
	}
	for _, re := range []*lazyregexp.Regexp{plainYes, plainNo} {
		if at := re.FindStringIndex(said); at != nil {
			chosen := asked.Options[0]
			if re == stop {
				chosen = asked.Options[1]
			}
			return chosen.Letter, strings.TrimLeft(said[at[1]:], " \t\n.,:;!—–-")
		}
	}
	return "", ""
}

// seenWords returns the visible text of a comment, without quoted lines and the signature of a mail.
func seenWords(comment string) string {
	var kept []string
	for l := range strings.Lines(visible.Markdown(text.Reply(comment))) {
		if !strings.HasPrefix(strings.TrimSpace(l), ">") {
			kept = append(kept, strings.TrimRightFunc(l, unicode.IsSpace))
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// sameWords reports whether two texts have the same words, ignoring case, punctuation and markup.
func sameWords(a, b string) bool {
	a, b = letterWords(a), letterWords(b)
	return a != "" && a == b
}

func firstWord(s string) string {
	first, _, _ := strings.Cut(letterWords(s), " ")
	return first
}

func letterWords(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}
