package failure

import "regexp"

// rule recognises where a tool begins to tell of a failure, and how far it goes on.
type rule struct {
	name   string         // the tool and what it tells, for people
	keys   []string       // lower case; one of them is on each line that matches
	match  *regexp.Regexp // the first line, without timestamp and colours
	extent extent         // which of the following lines belong to it
	stop   *regexp.Regexp // what the extent goes by
	unless *regexp.Regexp // no failure after all when the last line matches
	above  int            // lines above that belong to it when not blank
	grows  *regexp.Regexp // lines above that match belong to it, too
	max    int            // lines of a block at most; 0 means maxBlock

	weight float64 // how well it explains a failure, 0–100
	class  Class
	opens  heading // the line heads a list of failures and is none itself
	needs  heading // only under such a heading
	body   bool    // its first line alone says nothing
	result bool    // it says that something above has failed, not why
	soft   bool    // words that mean nothing in a warning, or far above the end
	lifts  bool    // inside another block it begins none of its own, but lends that its weight and class
	takes  bool    // whatever matches inside belongs to the block
	tells  bool    // the tool's own verdict, worth showing beside the explanation
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
