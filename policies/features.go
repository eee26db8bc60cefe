package policies

import (
	"math"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Kind is the kind of a task.
type Kind string

// The kinds of task.
const (
	KindBug      Kind = "bug"
	KindFeature  Kind = "feature"
	KindRefactor Kind = "refactoring"
	KindTests    Kind = "tests"
	KindDocs     Kind = "docs"
	KindChore    Kind = "chore" // dependencies, builds, releases
	KindOther    Kind = "other"
)

// Kinds lists every kind of task.
func Kinds() []Kind {
	return []Kind{KindBug, KindFeature, KindRefactor, KindTests, KindDocs, KindChore, KindOther}
}

// Features are the features of an issue's text. Scores are 0–1. They are computed by counting words: the same text has
// the same features.
type Features struct {
	Kind         Kind    `json:"kind"`
	Words        int     `json:"words"`
	Complexity   float64 `json:"complexity"`             // number of things that it asks for and names, as a score
	CodeRefs     int     `json:"code_refs,omitempty"`    // number of distinct files and symbols that it names
	Ambiguity    float64 `json:"ambiguity"`              // open questions and vague words without checkable criteria
	Architecture bool    `json:"architecture,omitempty"` // it touches interfaces, schemas, storage, security or builds
	Demands      int     `json:"demands,omitempty"`      // number of list items
	Order        int     `json:"order,omitempty"`        // number of words that specify an order
}

// kindWords are the words that indicate a kind; a label with such a word counts as much as three in the title.
var kindWords = []struct {
	kind  Kind
	words *lazyregexp.Regexp
}{
	{KindBug, words(`bugs?|fix(es|ed)?|broken|crash(es|ed)?|\w*errors?|fail(s|ed|ing|ure)?|wrong(ly)?|regressions?|` +
		`panics?|exceptions?|incorrect(ly)?|unexpected(ly)?|instead of|traceback|defects?`)},
	{KindFeature, words(`features?|add|support(s)?|implement|enhancements?|allow|introduce|new|provide|enable|proposal`)},
	{KindRefactor, words(`refactor(s|ing)?|clean ?up|simplify|rename|restructure|deduplicate|extract|tech(nical)? debt`)},
	{KindTests, words(`tests?|coverage|test cases?|flaky`)},
	{KindDocs, words(`docs?|documentation|readme|typos?|docstrings?|changelog|comments?`)},
	{KindChore, words(`chore|bump|upgrade|dependenc(y|ies)|ci|release|build|version|lint`)},
}

var (
	codeSpan = lazyregexp.New("`[^`\n]{2,80}`")
	fence    = lazyregexp.New("(?ms)^ {0,3}```.*?^ {0,3}```[ \t\r]*$")
	filePath = lazyregexp.New(`\b[\w.-]+/[\w./-]+\.\w{1,5}\b|` +
		`\b\w[\w-]*\.(?:go|py|js|ts|tsx|jsx|rs|java|rb|c|h|cpp|cs|php|kt|swift|yml|yaml|json|toml|sql|md)\b`)
	symbol     = lazyregexp.New(`\b[A-Za-z_][\w.]*\(\)|\b[a-z]+[A-Z]\w+\b|\b[a-z]+_[a-z]\w*\b`)
	demand     = lazyregexp.New(`(?m)^\s*(?:[-*+]|\d+[.)])\s+\S`)
	obligation = words(`must|should|shall|needs? to|has to|have to|also|and then|as well as|additionally`)
	order      = words(`firstly|secondly|then|afterwards?|after (that|this)|before that|finally|lastly|in this order|` +
		`step \d+|followed by|depends? on|rel(y|ies) on|builds? on|prerequisites?|subsequent(ly)?`)
	openQuestion = lazyregexp.New(`\?(\s|$)`)
	vague        = words(`maybe|perhaps|somehow|something like|or so|etc|possibly|probably|not sure|unclear|better|` +
		`nicer|improve|various|several|some kind|tbd|to be decided|ideally|could we|what do you think|thoughts|` +
		`properly|appropriate(ly)?|robust|flexible`)
	checkable = words(`expected|actual|steps to reproduce|reproduce|acceptance|done when|given|returns?|raises?|throws?|` +
		`exit code|example|should (return|be|raise|print|fail|pass|equal|contain)`)
	architecture = words(`api|apis|interfaces?|schemas?|migrations?|database|protocol|architecture|` +
		`backwards?[- ]compatib\w*|breaking change|authentication|authorization|security|permissions?|` +
		`concurren\w*|deadlocks?|cache|storage|dependency injection|build system|public contract|serialization|threads?`)
)

// words returns an expression that matches any of the alternatives as whole words, case-insensitively.
func words(alternatives string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?i)\b(?:` + alternatives + `)\b`)
}

// maxRead is the length of the prefix of an issue's text that is read, in bytes.
const maxRead = 32 << 10

// Read returns the features of an issue. Markdown fences count as examples, not as words.
func Read(title, body string, labels []string) Features {
	if len(body) > maxRead {
		body = strings.ToValidUTF8(body[:maxRead], "")
	}
	outside := fence.ReplaceAllString(body, " ")
	prose := title + "\n" + outside
	f := Features{Kind: kindOf(title, prose, labels), Words: len(strings.Fields(prose))}
	f.CodeRefs = codeRefs(prose)
	f.Demands, f.Order = len(demand.FindAllString(outside, -1)), len(order.FindAllString(prose, -1))
	asked := f.Demands + len(obligation.FindAllString(prose, -1))
	f.Complexity = saturate(0.12*float64(asked) + 0.08*float64(f.CodeRefs) + 0.002*float64(f.Words))
	touches := architecture.FindAllString(prose, -1)
	f.Architecture = architecture.MatchString(title) || len(touches) >= 3
	f.Ambiguity = ambiguity(f, prose, body)
	return f
}

// ambiguity returns a score that increases with open questions and vague words per sentence and for short texts, and
// decreases with checkable criteria.
func ambiguity(f Features, prose, body string) float64 {
	open := 1.5*float64(len(openQuestion.FindAllString(prose, -1))) + float64(len(vague.FindAllString(prose, -1)))
	open /= 1 + float64(f.Words)/40
	if f.Words < 12 {
		open += 0.6 // a title alone
	}
	firm := 0.5*float64(min(len(checkable.FindAllString(prose, -1)), 3)) + 0.3*float64(min(f.CodeRefs, 3))
	if fence.MatchString(body) {
		firm++
	}
	return saturate(open * math.Exp(-firm/2))
}

// saturate maps x ≥ 0 to 0–1; 1 maps to .63.
func saturate(x float64) float64 { return 1 - math.Exp(-x) }

func kindOf(title, prose string, labels []string) Kind {
	best, most := KindOther, 0
	for _, k := range kindWords {
		n := min(len(k.words.FindAllString(prose, -1)), 4) + 2*len(k.words.FindAllString(title, -1))
		for _, l := range labels {
			if k.words.MatchString(l) {
				n += 6
			}
		}
		if n > most {
			best, most = k.kind, n
		}
	}
	return best
}

func codeRefs(prose string) int {
	var seen []string
	for _, re := range []*lazyregexp.Regexp{codeSpan, filePath, symbol} {
		for _, ref := range re.FindAllString(prose, 50) {
			seen = append(seen, strings.Trim(ref, "`()"))
		}
	}
	slices.Sort(seen)
	return len(slices.Compact(seen))
}
