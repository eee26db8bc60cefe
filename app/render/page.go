package render

import (
	"strings"
	"unicode/utf8"
)

// MaxBody bounds a body from this package, in bytes. GitHub refuses comment, issue and pull request bodies over 65,536
// characters and check-run fields over 65,535 ("Create a check run" of the REST reference); bytes are never fewer than
// characters. The rest is for a marker.
const MaxBody = 65_000

// page is a body under construction: blocks, separated by blank lines.
type page struct{ blocks []block }

// block is one piece of a page. A folded block has a summary, and its content may be shortened line by line when the
// page would be too long.
type block struct {
	summary string // plain words of ours; "" when the block is not folded
	text    string
}

// add appends a block that is not shortened; an empty text adds nothing.
func (p *page) add(text string) {
	if text = strings.TrimSpace(text); text != "" {
		p.blocks = append(p.blocks, block{text: text})
	}
}

// fold appends a collapsed block. Any line of text must be removable together with all following lines, as in quotes,
// lists, tables and the result of [Fence].
func (p *page) fold(summary, text string) {
	if text = strings.TrimSpace(text); text != "" {
		p.blocks = append(p.blocks, block{summary: summary, text: text})
	}
}

const shortened = "\n\n*Shortened here: a comment on GitHub holds 65,536 characters. The memory file has the whole " +
	"text.*"

// text is the page as the content of a fold.
func (p *page) text() string {
	if len(p.blocks) == 0 {
		return ""
	}
	return assemble(p.blocks)
}

// String assembles the page within MaxBody. It shortens the longest folded block first; when there is nothing folded
// left to shorten, it cuts the end.
func (p *page) String() string {
	blocks := append([]block(nil), p.blocks...)
	short := make([]bool, len(blocks))
	for {
		s := assemble(blocks)
		excess := len(s) - MaxBody
		if excess <= 0 {
			return s
		}
		i := longestFold(blocks, short)
		if i < 0 {
			return cutAtLine(s, MaxBody-len(shortened)) + shortened
		}
		limit := max(0, len(blocks[i].text)-excess-len(shortened))
		text := cutAtLine(blocks[i].text, limit)
		if fence := openFence(text); fence != "" {
			text = cutAtLine(text, max(0, limit-len(fence)-1))
			if fence = openFence(text); fence != "" {
				text += "\n" + fence
			}
		}
		blocks[i].text = text + shortened
		short[i] = true
	}
}

func assemble(blocks []block) string {
	var b strings.Builder
	for i, bl := range blocks {
		if i > 0 {
			b.WriteString("\n\n")
		}
		if bl.summary == "" {
			b.WriteString(bl.text)
			continue
		}
		b.WriteString("<details><summary>" + bl.summary + "</summary>\n\n" + bl.text + "\n\n</details>")
	}
	b.WriteString("\n")
	return b.String()
}

// longestFold is the folded block with the longest text that was not yet shortened, or -1.
func longestFold(blocks []block, short []bool) int {
	best := -1
	for i, b := range blocks {
		if b.summary != "" && !short[i] && (best < 0 || len(b.text) > len(blocks[best].text)) {
			best = i
		}
	}
	return best
}

// openFence is the fence that a text of ours opens and does not close, "" when there is none. Only [Fence] begins a
// line with one.
func openFence(s string) string {
	open := ""
	for line := range strings.Lines(s) {
		fence := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case len(fence) < 3:
		case open == "":
			open = fence
		case strings.TrimSpace(line) == open:
			open = ""
		}
	}
	return open
}

// cutAtLine cuts s to at most limit bytes at the end of a line, or of a character if the first line alone is longer.
func cutAtLine(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	limit = max(0, limit)
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	s = s[:limit]
	if i := strings.LastIndexByte(s, '\n'); i > 0 {
		s = s[:i]
	}
	return strings.TrimRight(s, "\n ")
}
