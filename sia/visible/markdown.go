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
	unclosed    = lazyregexp.New(`(?ms)^ {0,3}(?:<\?|<!\[CDATA\[|<![A-Za-z]).*\z`)
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

	fence    = lazyregexp.New("^ {0,3}(```+|~~~+)")
	codeSpan = lazyregexp.New("`[^`\n]*`|``[^`\n]+(?:`[^`\n]+)*``")
	place    = lazyregexp.New("\x00[0-9]+\x00")
)

// Markdown is Text without what GitHub does not show of an issue or a comment: HTML
// comments, and outside of code instructions to processors, attributes other than
// addresses, titles, texts in the place of images, and definitions of links.
func Markdown(s string) string {
	// A space in its place, so that what stood around it can't join to a new one.
	s = htmlComment.ReplaceAllString(withoutHidden(s), " ")
	for range 8 { // taking one out can uncover another
		shown := outsideCode(s, shownOnly)
		if shown == s {
			break
		}
		s = shown
	}
	return withoutTurns(htmlComment.ReplaceAllString(s, " "))
}

func shownOnly(s string) string {
	s = instruction.ReplaceAllString(s, " ")
	s = unclosed.ReplaceAllString(s, " ")
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

// outsideCode applies f to what is not code: no code block between fences, and no code in
// a line. A fence in a block of HTML is text, as it is to GitHub.
func outsideCode(s string, f func(string) string) string {
	var out, prose strings.Builder
	flush := func() {
		out.WriteString(outsideSpans(prose.String(), f))
		prose.Reset()
	}
	open, inHTML := "", false
	for line := range strings.Lines(s) {
		mark := ""
		if m := fence.FindStringSubmatch(line); m != nil && !inHTML {
			mark = m[1]
		}
		switch {
		case open == "" && mark == "":
			trimmed := strings.TrimSpace(line)
			inHTML = trimmed != "" && (inHTML || strings.HasPrefix(trimmed, "<"))
			prose.WriteString(line)
			continue
		case open == "":
			flush()
			open = mark
		case strings.HasPrefix(mark, open) && strings.TrimSpace(line) == mark:
			open = ""
		}
		out.WriteString(line)
	}
	flush()
	return out.String()
}

// outsideSpans applies f to a text without the code in its lines, which is put back where
// its place is left.
func outsideSpans(s string, f func(string) string) string {
	var spans []string
	// NUL stands in no text by now: it is hidden.
	s = codeSpan.ReplaceAllStringFunc(s, func(span string) string {
		spans = append(spans, span)
		return "\x00" + strconv.Itoa(len(spans)-1) + "\x00"
	})
	return place.ReplaceAllStringFunc(withoutDefinitions(f(s)), func(at string) string {
		n, _ := strconv.Atoi(strings.Trim(at, "\x00")) // as it was written above
		return spans[n]
	})
}
