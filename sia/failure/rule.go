package failure

import "github.com/sia-bot/sia/sia/lazyregexp"

// rule recognises the line on which a tool begins to tell of a failure, and how far it goes on.
// A row of the tables in rules_*.go is one rule. Patterns are split at alternatives, or stay whole
// and may then be longer than other lines.
type rule struct {
	name   string             // the tool and what it tells, for people
	keys   []string           // lower case; one of them is on each line that matches
	match  *lazyregexp.Regexp // the first line, without timestamp and colours; nil where the keywords say enough
	extent extent             // which of the following lines belong to it
	stop   *lazyregexp.Regexp // the pattern that untilStop, throughStop and whileMatching use
	unless *lazyregexp.Regexp // no failure after all when the last line matches
	under  *lazyregexp.Regexp // no failure unless the line above matches
	above  int                // lines above that belong to it when not blank
	grows  *lazyregexp.Regexp // lines above that match belong to it, too
	max    int                // lines of a block at most; 0 means maxBlock

	weight float64 // how well it explains a failure, 0–100
	class  Class
	opens  listHeading // the line heads a list of failures and is none itself
	needs  listHeading // only under such a heading
	result bool        // it says that something above has failed, not why
	soft   bool        // words that mean nothing in a warning, or far above the end
	errs   bool        // means nothing in a warning or as a stack frame
	item   bool        // names one thing that failed: not a line that counts failures or judges a whole run
	joins  bool        // what it matches again, right under its block, goes on with the block
	lifts  bool        // inside another block it begins no block, but lends that one its weight and class
	takes  bool        // whatever matches inside belongs to the block
	tells  bool        // the tool's own verdict, to be shown beside the explanation
}

// listHeading is a line after which a pattern that would mean nothing elsewhere, such
// as "  1) ", begins a failure.
type listHeading uint8

const (
	noHeading    listHeading = iota
	numberedList             // "2 failing", "There were 3 failures:", "Failures:"
	toxSummary               // tox's "___ summary ___", which looks like a failed test of pytest's
	headingKinds             // number of headings
)

// Groups that a rule's match may name.
const (
	groupTest = "test"
	groupFile = "file"
	groupLine = "line"
)
