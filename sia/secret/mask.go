package secret

import (
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Mask replaces text in the shape of a secret by "[secret: rule]". It keeps a secret's line breaks, so that line
// numbers do not change, and is idempotent. Mask a text before truncating it, because part of a token may not be
// recognised.
func Mask(text string) string { return (*Masker)(nil).Mask(text) }

// markBegins is the beginning of a mark.
const markBegins = "[secret: "

// maskMark matches a mark.
var maskMark = lazyregexp.New(`\[secret: [a-z0-9-]{1,60}\]`)

// maxDepth is the number of times the text between marks is scanned again, because removing a secret can reveal another
// next to it. A text that needs more was crafted for that and is masked as a whole.
const maxDepth = 6

// Mask is [Mask] that also masks the values known to m.
func (m *Masker) Mask(text string) string {
	var b strings.Builder
	changed := false
	eachPart(text, func(part string, _ int, isMark bool) {
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

// mask writes a part without marks, masked, and reports whether that changed it. The text between the new marks has no
// findings, and is split into the same parts when masked again, so Mask is idempotent.
func (m *Masker) mask(b *strings.Builder, part string, depth int) bool {
	found := m.find(part)
	if len(found) == 0 {
		b.WriteString(part)
		return false
	}
	if depth == maxDepth {
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

// eachPart calls f for a text's marks and the parts between them, with the offset of each.
func eachPart(text string, f func(part string, at int, isMark bool)) {
	at := 0
	if strings.Contains(text, markBegins) {
		for _, m := range maskMark.FindAllStringIndex(text, -1) {
			f(text[at:m[0]], at, false)
			f(text[m[0]:m[1]], m[0], true)
			at = m[1]
		}
	}
	f(text[at:], at, false)
}
