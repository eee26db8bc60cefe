package failure

import "regexp"

// rule recognises where a tool begins to tell of a failure, and how far it goes on.
type rule struct {
	name   string         // the tool and what it tells, for people
	keys   []string       // lower case; one of them is on each line that matches
	match  *regexp.Regexp // the first line, without timestamp and colours
	extent extent         // which of the following lines belong to it
	weight float64        // how well it explains a failure, 0–100
	class  Class
	above  int            // lines above that belong to it when not blank
	stop   *regexp.Regexp // for extents that go on until something
	opens  heading        // the line heads a list of failures
	needs  heading        // only under such a heading
	max    int            // lines of a block at most; 0 means maxBlock
	unless *regexp.Regexp // no failure after all when the last line matches
	lifts  bool           // inside another block it does not begin its own but lends that its weight and class
	grows  *regexp.Regexp // lines above that match belong to it, too
	tells  bool           // the tool's own verdict, worth showing beside the explanation
	body   bool           // its first line alone says nothing
	result bool           // it says that something above has failed, not why
	hard   bool           // not soft, though it is among rules that are
	exit   bool           // the CI system's word that a step has failed
	takes  bool           // whatever matches inside belongs to the block
	soft   bool           // words that mean nothing in a warning
}

// heading is a line after which a pattern that would mean nothing elsewhere, such
// as "  1) ", begins a failure.
type heading uint8

const (
	noHeading heading = iota
	numbered          // "2 failing", "There were 3 failures:", "Failures:"
	headings          // number of headings
)

// Groups that a rule's match may name.
const (
	groupTest = "test"
	groupFile = "file"
	groupLine = "line"
)

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
