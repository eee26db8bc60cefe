package secret

import (
	"regexp"
	"strings"
)

// Mask writes "[secret: rule]" in the place of what [Find] finds, and keeps the
// line breaks of a secret that has some, so that lines keep their numbers. It is
// idempotent. Mask before cutting a text: half a token may have no shape.
func Mask(text string) string { return (*Masker)(nil).Mask(text) }

// markBegins is how a mark begins that Mask leaves behind.
const markBegins = "[secret: "

// mark is what Mask leaves behind.
var mark = regexp.MustCompile(`\[secret: [a-z0-9-]{1,60}\]`)

// deepest is how often what is left between marks is read again. Cutting a
// secret out can reveal another beside it; a text in which this goes on was made
// for it, and is masked as a whole.
const deepest = 6

// Mask is [Mask] with what the masker knows.
func (m *Masker) Mask(text string) string {
	var b strings.Builder
	changed := false
	between(text, func(part string, _ int, isMark bool) {
		if isMark || !m.mask(&b, part, 0) {
			if isMark {
				b.WriteString(part)
			}
			return
		}
		changed = true
	})
	if !changed {
		return text
	}
	return b.String()
}

// mask writes a part without marks, masked, and reports whether that changed it.
// What is left of it has no finding of its own, which makes Mask idempotent:
// read again, the text falls into the same parts.
func (m *Masker) mask(b *strings.Builder, part string, depth int) bool {
	found := m.find(part)
	if len(found) == 0 {
		b.WriteString(part)
		return false
	}
	if depth == deepest {
		found = []Finding{{Rule: found[0].Rule, Start: 0, End: len(part)}}
	}
	at := 0
	for _, f := range found {
		m.mask(b, part[at:f.Start], depth+1)
		b.WriteString(markBegins + f.Rule + "]" + strings.Repeat("\n", strings.Count(part[f.Start:f.End], "\n")))
		at = f.End
	}
	m.mask(b, part[at:], depth+1)
	return true
}

// between calls f for a text's marks and what stands between them, with the
// offset of each.
func between(text string, f func(part string, at int, isMark bool)) {
	at := 0
	if strings.Contains(text, markBegins) {
		for _, m := range mark.FindAllStringIndex(text, -1) {
			f(text[at:m[0]], at, false)
			f(text[m[0]:m[1]], m[0], true)
			at = m[1]
		}
	}
	f(text[at:], at, false)
}
