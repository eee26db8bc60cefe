package visible

import (
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// What GitHub does not show of Markdown outside of code
// (https://spec.commonmark.org/0.31.2/#raw-html,
// https://spec.commonmark.org/0.31.2/#link-reference-definitions).
var (
	// instruction is a processing instruction, a declaration or CDATA. One that begins a
	// line and is not closed hides what follows.
	instruction = lazyregexp.New(`(?s)<\?.*?\?>|<!\[CDATA\[.*?\]\]>|<![A-Za-z][^>]*>`)
	// A comment that begins within another instruction hides what follows, too.
	unclosed = lazyregexp.New(`(?ms)(?:^ {0,3}(?:<\?|<!\[CDATA\[|<![A-Za-z])|(?:<\?|<!\[|<![A-Za-z]).*?<!--).*\z`)
	// rubyFallback is what only a browser without ruby shows.
	rubyFallback = lazyregexp.New(`(?is)<rp\b[^>]*>.*?(?:</rp\s*>|\z)`)
	// tag is a start tag with attributes, of which GitHub shows none.
	tag     = lazyregexp.New(`(?s)<([A-Za-z][A-Za-z0-9-]*)\s((?:[^<>"']|"[^"]*"|'[^']*')*)>`)
	address = lazyregexp.New(`(?is)\b(?:href|src)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+)`)
	// alternative is the text in the place of an image that can't be loaded.
	alternative = lazyregexp.New(`!\[[^\]]*\]`)
	// linkTitle is what is shown while the pointer is over a link or an image.
	linkTitle = lazyregexp.New(`(\]\(\s*(?:<[^<>\n]*>|[^\s()<>]+))\s+(?:"[^"]*"|'[^']*'|\([^()]*\))\s*\)`)
	label     = lazyregexp.New(`\[([^\[\]]+)\]`)
	// definition says where a label leads.
	definition = lazyregexp.New(`(?m)^ {0,3}\[([^\[\]]+)\]:[ \t]*\n?[ \t]*(<[^<>\n]*>|[^\s<]\S*)` +
		`(?:(?:[ \t]*\n[ \t]*|[ \t]+)(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*$`)

	// blockOfHTML is a line that begins a block of HTML, whatever lists, quotes and footnotes it is in. A comment ends
	// its block, and one of those that are kept ends at its own tag.
	blockOfHTML = lazyregexp.New(inAnyBlock + `<(?:(!--)|(?i:(pre|script|style|textarea)\b))?`)
	fence       = lazyregexp.New("^ {0,3}(?:(```+)[^`]*$|(~~~+))")
	fenceWithin = lazyregexp.New(inAnyBlock + "(?:```|~~~)")
	// plainTag has nothing in it that could hide the beginning of code.
	plainTag = lazyregexp.New("^</?[A-Za-z][^<>\"'`]*>")
	markup   = lazyregexp.New(`^<[A-Za-z/!?]`)
	place    = lazyregexp.New("\x00[0-9]+\x00")
)

const inAnyBlock = `^(?:[ \t>]|(?:[-+*]|\d{1,9}[.)]|\[[ xX]\])[ \t]|\[\^[^\]\n]+\]:)*`

// Markdown is Text without what GitHub does not show of an issue or a comment: outside of
// code HTML comments, instructions to processors, attributes other than addresses, titles,
// texts in the place of images, and definitions of links. Title and text of an issue are
// given one by one: a comment that the title leaves open would hide the text.
func Markdown(s string) string {
	s = withoutHidden(s)
	for range 8 { // taking one out can uncover another
		shown := outsideCode(s)
		if shown == s {
			break
		}
		s = shown
	}
	return withoutTurns(s)
}

// shownOnly is prose without what is not shown. A space is in the place of what hid it, so
// that what stood around can't join to a new one.
func shownOnly(s string) string {
	s = closedComment.ReplaceAllString(s, " ")
	s = unclosed.ReplaceAllString(s, " ")
	s = instruction.ReplaceAllString(s, " ")
	s = rubyFallback.ReplaceAllString(s, " ")
	s = tag.ReplaceAllStringFunc(s, func(t string) string {
		m := tag.FindStringSubmatch(t)
		kept := address.FindAllString(m[2], -1)
		end := ">"
		if strings.HasSuffix(m[2], "/") {
			end = "/>"
		}
		return strings.TrimSuffix(strings.Join(append([]string{"<" + m[1]}, kept...), " "), "/") + end
	})
	s = alternative.ReplaceAllString(s, "![]")
	return linkTitle.ReplaceAllString(s, "$1)")
}

// withoutDefinitions leaves out definitions of labels that are not used, and the titles of
// the others.
func withoutDefinitions(s string) string {
	if !definition.MatchString(s) {
		return s
	}
	used := map[string]int{}
	for _, m := range label.FindAllStringSubmatch(s, -1) {
		used[strings.ToLower(strings.TrimSpace(m[1]))]++
	}
	return definition.ReplaceAllStringFunc(s, func(d string) string {
		m := definition.FindStringSubmatch(d)
		if used[strings.ToLower(strings.TrimSpace(m[1]))] < 2 {
			return ""
		}
		return "[" + m[1] + "]: " + m[2]
	})
}

// outsideCode is s with [shownOnly] of what is not code: no code block between fences, and no
// code in a line. A fence in a block of HTML is text, as it is to GitHub. From the first place
// on where GitHub may see other code, nothing is taken for code, and an unclosed comment hides
// all that follows.
func outsideCode(s string) string {
	var out, prose strings.Builder
	flush := func() {
		out.WriteString(outsideSpans(prose.String()))
		prose.Reset()
	}
	open, indent := "", 0      // the fence that is open, and how far it is indented
	html, ends := false, false // in a block of HTML; it ends with its line
	within := false            // a fence was seen that a list or a quote may hold
	for s != "" {
		line, _, _ := strings.Cut(s, "\n")
		words, at := strings.Trim(line, " \t"), len(line)-len(strings.TrimLeft(line, " "))
		mark := ""
		if m := fence.FindStringSubmatch(line); m != nil {
			mark = m[1] + m[2]
		}
		nested := mark == "" && fenceWithin.MatchString(line)
		unsure := words != "" && at < indent || indent > 0 && nested
		if open == "" {
			begins := blockOfHTML.FindStringSubmatch(line)
			ends = ends || !html && begins != nil && begins[1] != ""
			html = words != "" && (html || begins != nil)
			unsure = mark != "" && (html || within && at > 0) || begins != nil && begins[2] != ""
			within = within || nested
		}
		if unsure {
			flush()
			return out.String() + shownOnly(htmlComment.ReplaceAllString(s, " "))
		}
		if begin := strings.Index(line, "<!--"); html && begin >= 0 {
			prose.WriteString(line[:begin] + " ")
			s = s[htmlComment.FindStringIndex(s)[1]:]
			continue
		}
		html, ends = html && !ends, false
		line, s = s[:min(len(line)+1, len(s))], s[min(len(line)+1, len(s)):]
		switch {
		case open == "" && mark == "":
			prose.WriteString(line)
			continue
		case open == "":
			flush()
			open, indent = mark, at
		case strings.HasPrefix(mark, open) && words == mark:
			open, indent = "", 0
		}
		out.WriteString(line)
	}
	flush()
	return out.String()
}

// outsideSpans is a text with [shownOnly] of what is not code in its lines. In a paragraph the
// code ends where a mark has no other in its line, or where HTML or a table's cell may hold it.
func outsideSpans(s string) string {
	var spans []string
	var prose strings.Builder
	sure := true
	for line := range strings.Lines(s) {
		if strings.Trim(line, " \t\n") == "" {
			sure = true
		}
		for sure {
			i := strings.IndexAny(line, "\\`<")
			if i < 0 {
				break
			}
			prose.WriteString(line[:i])
			line = line[i:]
			n := 1 // as much of the line is read
			switch line[0] {
			case '\\':
				n = min(2, len(line))
			case '<':
				n = max(1, len(plainTag.FindString(line)))
				sure = n > 1 || !markup.MatchString(line)
			case '`':
				n = codeSpan(line)
				sure = n > 0 && !strings.Contains(line[:n], "|")
				if sure {
					// NUL stands in no text by now: it is hidden.
					prose.WriteString("\x00" + strconv.Itoa(len(spans)) + "\x00")
					spans = append(spans, line[:n])
					line, n = line[n:], 0
				}
			}
			prose.WriteString(line[:n])
			line = line[n:]
		}
		prose.WriteString(line)
	}
	return place.ReplaceAllStringFunc(withoutDefinitions(shownOnly(prose.String())), func(at string) string {
		n, _ := strconv.Atoi(strings.Trim(at, "\x00")) // as it was written above
		return spans[n]
	})
}

// codeSpan is the length of the code that a line begins with: from one run of backticks to the
// next that is as long. It is 0 when there is no other.
func codeSpan(line string) int {
	mark := len(line) - len(strings.TrimLeft(line, "`"))
	for at := mark; ; {
		i := strings.IndexByte(line[at:], '`')
		if i < 0 {
			return 0
		}
		at += i
		run := len(line[at:]) - len(strings.TrimLeft(line[at:], "`"))
		if at += run; run == mark {
			return at
		}
	}
}
