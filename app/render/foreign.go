package render

import (
	"strings"
	"unicode"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
	seen "github.com/sia-bot/sia/sia/visible"
)

// zwsp, U+200B, separates two characters that have a meaning only next to each other: "@" and a login, "<" and "!--".
// It is invisible in prose and in code, so one rule applies everywhere without parsing Markdown.
const zwsp = "\u200b"

// shapes match what foreign text may not contain; zwsp goes before the second group. Sources: docs.github.com
// "Autolinked references and URLs" and "Basic writing and formatting syntax", and the GitHub Flavored Markdown
// specification.
var shapes = []*lazyregexp.Regexp{
	lazyregexp.New(`(<)([A-Za-z/!?])`),  // HTML tags, comments and autolinks
	lazyregexp.New(`(&)([#A-Za-z])`),    // entities, which could spell any of the others
	lazyregexp.New(`(@)([A-Za-z0-9_])`), // mentions
	lazyregexp.New(`(#)([0-9])`),        // issue references
	lazyregexp.New(`(?i)(GH-)([0-9])`),  // another form of them
	lazyregexp.New(`(\[)([ \txX]\])`),   // tick boxes
	lazyregexp.New(`(!)(\[)`),           // images, which reveal readers to a server
	lazyregexp.New(`(\])([(\[:])`),      // links with misleading text, and link definitions
	// words that skip workflows, in a commit message made from a title or a text
	// (https://docs.github.com/en/actions/how-tos/manage-workflow-runs/skip-workflow-runs)
	lazyregexp.New(`(?i)(\[\s*)((?:skip|no|ci|actions)[ _-]?(?:ci|skip|actions)?\s*\])`),
	lazyregexp.New(`(?i)(skip)(-checks\s*:)`),
	lazyregexp.New(`(?i)(no_)(ci)`),
}

// reference matches an address that GitHub would turn into a cross-reference, with adjacent characters.
var reference = lazyregexp.New(`(?i)[^\s]*/(?:issues|pull|discussions|commit)/[0-9a-f][^\s]*`)

var scheme = strings.NewReplacer("://", ":"+zwsp+"//", "www.", "www"+zwsp+".", "WWW.", "WWW"+zwsp+".")

var escapeSequence = lazyregexp.New(`\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])`)

// visible removes terminal colours and invisible characters, and replaces those that reorder or hide text with U+FFFD.
// Lines end in "\n".
func visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	s = escapeSequence.ReplaceAllString(s, "")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u00ad' || r == '\u180e' || r >= '\u200b' && r <= '\u200d' || r == '\u2060' || r == '\ufeff':
			return -1
		case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r):
			return '\uFFFD'
		case r == '\u2028' || r == '\u2029' || r == '\u0085':
			return '\n'
		case unicode.IsControl(r):
			return -1
		case seen.Hidden(r) && r != '\ufe0f': // it ends many emoji
			return '\uFFFD'
		}
		return r
	}, s)
}

// Neutralise makes foreign text safe in Markdown: it can't hold HTML (so no marker), notify or cross-reference, draw a
// tick box, load an image or disguise a link. It reads the same as before, in prose and in code. It does not contain
// block structure; use [Quote] and [Fence] for that.
func Neutralise(foreign string) string {
	s := reference.ReplaceAllStringFunc(visible(foreign), scheme.Replace)
	for _, re := range shapes {
		s = re.ReplaceAllString(s, "${1}"+zwsp+"${2}")
	}
	return s
}

// spaces makes visible what Neutralise adds, and leaves it out where only Markdown has a meaning.
var spaces = strings.NewReplacer("<"+zwsp, "<", "&"+zwsp, "&", zwsp, " ")

// copied is Neutralise for titles and commit messages, which people copy and which are no Markdown: it adds spaces
// instead of invisible characters.
func copied(foreign string) string { return spaces.Replace(Neutralise(foreign)) }

// Line puts foreign text on one line of at most limit characters (0: no limit), neutralised, for headings, list items
// and sentences. It escapes leading block syntax such as "# " or "- ".
func Line(foreign string, limit int) string {
	s := Neutralise(cut(oneLine(foreign), limit))
	// A backslash would escape surrounding words, or the pairs below.
	s = escapes.ReplaceAllStringFunc(s, func(m string) string { return strings.ReplaceAll(m, `\`, `\`+zwsp) })
	// Unpaired backticks and emphasis would affect surrounding words, and three at the start would open a code block.
	if strings.Count(s, "`")%2 != 0 || longestRun(s, '`') > 1 {
		s = strings.ReplaceAll(s, "`", "'")
	}
	if strings.Count(s, "*")%2 != 0 {
		parts := strings.Split(s, "`") // text between pairs of backticks has no emphasis
		for i := 0; i < len(parts); i += 2 {
			parts[i] = strings.ReplaceAll(parts[i], "*", `\*`)
		}
		s = strings.Join(parts, "`")
	}
	if s != "" && strings.ContainsRune("#>-+=~:", rune(s[0])) {
		s = `\` + s
	}
	return s
}

// escapes matches backslashes that would escape a character, or may at the end of a text.
var escapes = lazyregexp.New(`\\+(?:[[:punct:]]|$)`)

// Quote is foreign prose of several lines as a block quote. A fence or a list in it ends with the quote. It can be cut
// after any line without an effect on what follows.
func Quote(foreign string) string {
	s := strings.TrimSpace(Neutralise(foreign))
	if s == "" {
		return ""
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("> "+l, " \t")
	}
	return strings.Join(lines, "\n")
}

// Code is foreign text as inline code, at most limit characters (0: no limit). Its delimiter is longer than any run of
// backticks inside.
func Code(foreign string, limit int) string {
	s := defuseComments(cut(oneLine(foreign), limit))
	if s == "" {
		return ""
	}
	tick := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return tick + s + tick
}

// Fence is foreign text as a code block that it can't escape from: the fence is longer than any run of backticks in the
// text. Lang, such as "text" or "diff", is trusted. Only the beginning of HTML comments and invisible characters are
// changed.
func Fence(lang, foreign string) string {
	s := strings.TrimRight(defuseComments(visible(foreign)), "\n \t")
	tick := strings.Repeat("`", max(3, longestRun(s, '`')+1))
	return tick + lang + "\n" + s + "\n" + tick
}

// cell makes finished Markdown fit for a table cell: a bar would end the cell even inside code.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func defuseComments(s string) string { return strings.ReplaceAll(s, "<!--", "<"+zwsp+"!--") }

// longestRun is the length of the longest run of c in s.
func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := 0; i < len(s); i++ {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// oneLine is a text as displayed, on one line.
func oneLine(s string) string { return text.OneLine(visible(s)) }

// cut shortens s to at most limit characters, an ellipsis included; 0 is no limit.
func cut(s string, limit int) string {
	if limit <= 0 {
		return s
	}
	return text.Clip(s, limit)
}
