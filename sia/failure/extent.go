package failure

// part says how a line stands to the block before it.
type part uint8

const (
	outside part = iota
	inside
	perhaps // inside when a later line is
	last    // inside, and ends the block
)

// extent decides whether a line belongs to an open block.
type extent func(b *block, l *line) part

// single is one line.
func single(*block, *line) part { return outside }

// paragraph goes on to the next blank line.
func paragraph(_ *block, l *line) part {
	if l.blank() {
		return outside
	}
	return inside
}

// indented goes on while lines are indented deeper than the first; blank lines
// may lie between.
func indented(b *block, l *line) part {
	switch {
	case l.blank():
		return perhaps
	case l.indent > b.indent:
		return inside
	default:
		return outside
	}
}

// indentedParagraph goes on while lines are indented deeper than the first, up
// to a blank line.
func indentedParagraph(b *block, l *line) part {
	if !l.blank() && l.indent > b.indent {
		return inside
	}
	return outside
}

// section goes on to a line that matches the rule's stop.
func section(b *block, l *line) part {
	switch {
	case l.blank():
		return perhaps
	case b.rule.stop.Match(l.text):
		return outside
	default:
		return inside
	}
}

// through goes on to a line that matches the rule's stop, and takes that too.
func through(b *block, l *line) part {
	switch {
	case l.blank():
		return perhaps
	case b.rule.stop.Match(l.text):
		return last
	default:
		return inside
	}
}

// matching goes on while lines match the rule's stop.
func matching(b *block, l *line) part {
	if !l.blank() && b.rule.stop.Match(l.text) {
		return inside
	}
	return outside
}

// cluster goes on over what is indented under lines that look like errors. The
// reader lets further such lines follow.
func cluster(b *block, l *line) part {
	if l.blank() || l.n-b.head > 20 || l.indent <= b.indent {
		return outside
	}
	return inside
}
