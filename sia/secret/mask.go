package secret

import (
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Mask writes "[secret: rule]" in the place of what has a secret's shape. It keeps a secret's line
// breaks, so that lines keep their numbers, and is idempotent. Mask a text before you cut it: half
// a token may have no shape.
func Mask(text string) string { return (*Masker)(nil).Mask(text) }

// markBegins is how a mark begins that Mask leaves behind.
const markBegins = "[secret: "

// maskMark is what Mask leaves behind.
var maskMark = lazyregexp.New(`\[secret: [a-z0-9-]{1,60}\]`)

// maxDepth is how often the text between marks is read again, because cutting a secret out can
// reveal another beside it. A text where this goes on longer was made for that, and is masked as a
// whole.
const maxDepth = 6

// Mask is [Mask] with what the masker knows.
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

// mask writes a part that holds no marks, masked, and reports whether that changed it. Nothing is
// found in what is left between the new marks. So Mask is idempotent: read again, the text falls
// into the same parts.
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

// eachPart calls f for a text's marks and what stands between them, with the
// offset of each.
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
