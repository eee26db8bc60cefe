package failure

import (
	"bytes"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// placement says how a line stands to the block before it.
type placement uint8

const (
	outsideBlock placement = iota
	insideBlock
	maybeInside // inside when a later line is
	lastInside  // inside, and ends the block
)

// extent decides whether a line belongs to an open block.
type extent func(b *block, l *line) placement

// singleLine is one line.
func singleLine(*block, *line) placement { return outsideBlock }

// toBlankLine goes on to the next blank line.
func toBlankLine(_ *block, l *line) placement {
	if l.blank() {
		return outsideBlock
	}
	return insideBlock
}

// indentedLines goes on while lines are indented deeper than the first; blank lines
// may lie between.
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

// indentedParagraph goes on while lines are indented deeper than the first, up
// to a blank line.
func indentedParagraph(b *block, l *line) placement {
	if !l.blank() && l.indent > b.indent {
		return insideBlock
	}
	return outsideBlock
}

// untilStop goes on to a line that matches the rule's stop.
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

// throughStop goes on to a line that matches the rule's stop, and takes that too.
func throughStop(b *block, l *line) placement {
	p := untilStop(b, l)
	if p == outsideBlock {
		return lastInside
	}
	return p
}

// whileMatching goes on while lines match the rule's stop.
func whileMatching(b *block, l *line) placement {
	if !l.blank() && b.rule.stop.Match(l.text) {
		return insideBlock
	}
	return outsideBlock
}

// boxSide begins the lines of a box that a tool draws around an error.
const boxSide = "│"

// errorTag is what a tool begins each line of its error with: "npm error". What such a line says may be advice.
var errorTag = lazyregexp.New(`^\w+ (error|ERR!)`)

// Bounds of what lines that look like errors may head, in lines.
const (
	maxCluster = 20
	maxTrace   = 120 // with stack frames
)

// errorCluster goes on over what is indented under lines that look like errors, over stack frames, over what stands
// under a line that ends in a colon, and to the end of a box. The reader lets further such lines follow.
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
