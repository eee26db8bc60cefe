package failure

import "github.com/sia-bot/sia/sia/lazyregexp"

// rule recognises the line where a tool begins to report a failure, and the lines that belong to it. A row of the
// tables in rules_*.go is one rule.
type rule struct {
	name   string             // the tool and what it reports, for display
	keys   []string           // keywords in lower case; each matching line contains one of them
	match  *lazyregexp.Regexp // pattern of the first line, without timestamp and colours; nil where the keywords suffice
	extent extent             // decides which of the following lines belong to the block
	stop   *lazyregexp.Regexp // the pattern that untilStop, throughStop and whileMatching use
	unless *lazyregexp.Regexp // the block is dropped when its last line matches
	under  *lazyregexp.Regexp // the rule applies only when the line above matches
	above  int                // number of non-blank lines above that belong to the block
	grows  *lazyregexp.Regexp // matching lines above belong to the block, too
	max    int                // maximum number of lines of a block; 0: maxBlock

	weight  float64 // how well it explains a failure, 0–100
	class   Class
	opens   listHeading // the line is the heading of a list of failures, not a failure
	needs   listHeading // the rule applies only under such a heading
	result  bool        // it reports that something above has failed, not why
	soft    bool        // words that count for nothing in a warning, and less the farther above the end
	errs    bool        // does not apply to warnings and stack frames
	item    bool        // idWords one thing that failed: not a line that counts failures or judges a whole run
	joins   bool        // another match right under its block continues the block
	lifts   bool        // inside another block it begins no block, but overrides the class of that one
	absorbs bool        // matches of other rules inside belong to the block
	summary bool        // the tool's own summary of the failure, shown in addition to the explanation
}

// listHeading is the kind of a heading of a list of failures. Some patterns, such as " 1) ", begin a failure only under
// one.
type listHeading uint8

const (
	noHeading    listHeading = iota
	numberedList             // "2 failing", "There were 3 failures:", "Failures:"
	toxSummary               // tox's "___ summary ___", which looks like a failed test of pytest's
	headingKinds             // number of headings
)

// Names of groups in a rule's match.
const (
	groupTest = "test"
	groupFile = "file"
	groupLine = "line"
)
