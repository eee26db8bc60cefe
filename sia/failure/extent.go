package failure

import (
	"bytes"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// placement is the position of a line relative to the block before it.
type placement uint8

const (
	outsideBlock placement = iota
	insideBlock
	maybeInside // inside if a later line is
	lastInside  // inside, and ends the block
)

// extent decides whether a line belongs to an open block.
type extent func(b *block, l *line) placement

// singleLine is one line.
func singleLine(*block, *line) placement { return outsideBlock }

// toBlankLine continues to the next blank line.
func toBlankLine(_ *block, l *line) placement {
	if l.blank() {
		return outsideBlock
	}
	return insideBlock
}

// indentedLines continues while lines are indented deeper than the first; blank lines may stand between them.
func indentedLines(b *block, l *line) placement {
	switch {
	case l.blank():
		return maybeInside
	case l.indent > b.indent:
		return insideBlock
	default:
		return outsideBlock
	}
}

// indentedParagraph continues while lines are indented deeper than the first, up to a blank line.
func indentedParagraph(b *block, l *line) placement {
	if !l.blank() && l.indent > b.indent {
		return insideBlock
	}
	return outsideBlock
}

// untilStop continues up to a line that matches the rule's stop pattern.
func untilStop(b *block, l *line) placement {
	switch {
	case l.blank():
		return maybeInside
	case b.rule.stop.Match(l.text):
		return outsideBlock
	default:
		return insideBlock
	}
}

// throughStop continues up to and including a line that matches the rule's stop pattern.
func throughStop(b *block, l *line) placement {
	p := untilStop(b, l)
	if p == outsideBlock {
		return lastInside
	}
	return p
}

// whileMatching continues while lines match the rule's stop pattern.
func whileMatching(b *block, l *line) placement {
	if !l.blank() && b.rule.stop.Match(l.text) {
		return insideBlock
	}
	return outsideBlock
}

// boxSide begins the lines of a box that a tool draws around an error.
const boxSide = "│"

// errorTag matches a tag that a tool puts before each line of its error: "npm error". Such a line may be advice.
var errorTag = lazyregexp.New(`^\w+ (error|ERR!)`)

// Maximum lengths of a block headed by lines that look like errors, in lines.
const (
	maxCluster = 20
	maxTrace   = 120 // with stack frames
)

// errorCluster continues over lines indented under lines that look like errors, over stack frames, over the lines under
// one that ends in a colon, and to the end of a box. The reader adds further lines that look like errors.
func errorCluster(b *block, l *line) placement {
	if hasPrefix(l.text, boxSide) && strings.HasPrefix(b.first[0].text, boxSide) {
		return insideBlock
	}
	if tag := errorTag.FindString(b.first[0].text); tag != "" && hasPrefix(l.text, tag) {
		return insideBlock
	}
	t := bytes.TrimLeft(l.text, " \t")
	switch {
	case l.blank():
		if b.heading {
			return maybeInside
		}
		return outsideBlock
	case isCauseLine(t), isStackFrame(t) && (b.frames > 0 || l.n == b.end+1):
		b.frames++
		return insideBlock
	case l.n-b.head > maxTrace, b.frames == 0 && l.n-b.head > maxCluster:
		return outsideBlock
	case l.indent > b.indent:
		return insideBlock
	case l.text[len(l.text)-1] == ':' && !b.blankBefore:
		b.heading = true
		b.indent = l.indent
		return maybeInside
	}
	return outsideBlock
}
