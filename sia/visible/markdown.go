package visible

import (
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Parts of Markdown outside of code that GitHub does not show
// (https://spec.commonmark.org/0.31.2/#raw-html,
// https://spec.commonmark.org/0.31.2/#link-reference-definitions).
var (
	// instruction matches a processing instruction, a declaration or CDATA. One that begins a
	// line and is not closed hides the following text.
	instruction = lazyregexp.New(`(?s)<\?.*?\?>|<!\[CDATA\[.*?\]\]>|<![A-Za-z][^>]*>`)
	// A comment that begins within another instruction hides the following text, too.
	unclosed = lazyregexp.New(`(?ms)(?:^ {0,3}(?:<\?|<!\[CDATA\[|<![A-Za-z])|(?:<\?|<!\[|<![A-Za-z]).*?<!--).*\z`)
	// rubyFallback matches text that only a browser without ruby support shows.
	rubyFallback = lazyregexp.New(`(?is)<rp\b[^>]*>.*?(?:</rp\s*>|\z)`)
	// tag matches a start tag with attributes, none of which GitHub shows.
	tag     = lazyregexp.New(`(?s)<([A-Za-z][A-Za-z0-9-]*)\s((?:[^<>"']|"[^"]*"|'[^']*')*)>`)
	address = lazyregexp.New(`(?is)\b(?:href|src)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+)`)
	// alternative matches the alternative text of an image.
	alternative = lazyregexp.New(`!\[[^\]]*\]`)
	// linkTitle matches the title of a link or an image, which is shown only as a tooltip.
	linkTitle = lazyregexp.New(`(\]\(\s*(?:<[^<>\n]*>|[^\s()<>]+))\s+(?:"[^"]*"|'[^']*'|\([^()]*\))\s*\)`)
	label     = lazyregexp.New(`\[([^\[\]]+)\]`)
	// definition matches a link reference definition.
	definition = lazyregexp.New(`(?m)^ {0,3}\[([^\[\]]+)\]:[ \t]*\n?[ \t]*(<[^<>\n]*>|[^\s<]\S*)` +
		`(?:(?:[ \t]*\n[ \t]*|[ \t]+)(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*$`)

	// blockOfHTML matches a line that begins a block of HTML, in any lists, quotes and footnotes. A comment ends its
	// block, and a block of pre, script, style or textarea ends at its own tag.
	blockOfHTML = lazyregexp.New(inAnyBlock + `<(?:(!--)|(?i:(pre|script|style|textarea)\b))?`)
	fence       = lazyregexp.New("^ {0,3}(?:(```+)[^`]*$|(~~~+))")
	fenceWithin = lazyregexp.New(inAnyBlock + "(?:```|~~~)")
	// plainTag matches a tag without characters that could hide the beginning of code.
	plainTag = lazyregexp.New("^</?[A-Za-z][^<>\"'`]*>")
	markup   = lazyregexp.New(`^<[A-Za-z/!?]`)
	place    = lazyregexp.New("\x00[0-9]+\x00")
)

const inAnyBlock = `^(?:[ \t>]|(?:[-+*]|\d{1,9}[.)]|\[[ xX]\])[ \t]|\[\^[^\]\n]+\]:)*`

// Markdown returns Text without the parts of an issue or a comment that GitHub does not show:
// outside of code, HTML comments, processing instructions, attributes other than addresses,
// titles, alternative texts of images, and link reference definitions. Pass title and text of
// an issue separately: an unclosed comment in the title would hide the text.
func Markdown(s string) string {
	s = withoutHidden(s)
	for range 8 { // removing one can uncover another
		shown := outsideCode(s)
		if shown == s {
			break
		}
		s = shown
	}
	return BreakTurns(s)
}

// shownOnly returns prose without hidden parts. A space replaces each of them, so that the
// text around it can't join to a new hidden part.
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

// withoutDefinitions removes definitions of labels that are not used, and the titles of the
// others.
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

// outsideCode applies [shownOnly] to the parts of s that are neither fenced code blocks nor code
// spans. A fence in a block of HTML is text, as for GitHub. From the first place where GitHub may
// detect code differently, nothing is treated as code, and an unclosed comment hides all of the
// following text.
func outsideCode(s string) string {
	var out, prose strings.Builder
	flush := func() {
		out.WriteString(outsideSpans(prose.String()))
		prose.Reset()
	}
	open, indent := "", 0      // the open fence, and its indentation
	html, ends := false, false // in a block of HTML; the block ends with this line
	within := false            // a fence was seen that may be in a list or a quote
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

// outsideSpans applies [shownOnly] to the parts of s that are not code spans. In a paragraph no
// more spans are detected after a backtick without a match in its line, or where HTML or a table
// cell may contain it.
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
			n := 1 // number of bytes consumed
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
					// The text contains no NUL any more, because NUL is hidden.
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

// codeSpan returns the length of the code span with which a line begins: from one run of backticks
// to the next of the same length. It returns 0 if there is no such run.
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
