package secret

import (
	"cmp"
	"slices"
	"sync"

	"github.com/sia-bot/sia/sia/keyword"
)

// Finding is one secret in a text.
type Finding struct {
	Rule       string // lower-case letters, digits and hyphens, such as "github-pat"
	Start, End int    // bytes of the text: [Start, End)
	Sure       bool   // its shape alone makes it a credential: a commit with it is rejected
}

// ruleScanner holds all rules and an automaton for their keywords.
type ruleScanner struct {
	rules    []*shapeRule
	keywords *keyword.Automaton
	of       [][]int32 // keyword → rules
	length   []int     // keyword → its length in bytes
}

// allShapes returns the scanner of all rules, built on first use in about two milliseconds, since expressions are
// compiled on demand.
var allShapes = sync.OnceValue(func() *ruleScanner { return newRuleScanner(append(ownRules(), gitleaksRules()...)) })

func newRuleScanner(rules []*shapeRule) *ruleScanner {
	s := &ruleScanner{rules: rules}
	ids := map[string]int{}
	var keys []string
	for i, r := range rules {
		for _, k := range r.keywords {
			id, known := ids[k]
			if !known {
				id = len(keys)
				ids[k] = id
				keys = append(keys, k)
				s.length = append(s.length, len(k))
				s.of = append(s.of, nil)
			}
			s.of[id] = append(s.of[id], int32(i))
		}
	}
	s.keywords = keyword.New(keys, true)
	return s
}

// byteSpan is a range of bytes [start, end) of a text.
type byteSpan struct{ start, end int }

// find returns the rules' findings in a text, overlaps included.
func (s *ruleScanner) find(text string) []Finding {
	var out []Finding
	var windows [][]byteSpan // by rule
	keyword.Scan(s.keywords, text, func(key int32, end int) {
		for _, i := range s.of[key] {
			r := s.rules[i]
			if r.at != nil {
				out = r.around(out, text, end-s.length[key], end)
				continue
			}
			if windows == nil {
				windows = make([][]byteSpan, len(s.rules))
			}
			w := byteSpan{max(0, end-s.length[key]-r.before), min(len(text), end+r.after)}
			if all := windows[i]; len(all) > 0 && all[len(all)-1].end >= w.start {
				last := &all[len(all)-1]
				last.start, last.end = min(last.start, w.start), max(last.end, w.end)
				continue
			}
			windows[i] = append(windows[i], w)
		}
	})
	for i, spans := range windows {
		for _, w := range spans {
			out = s.rules[i].find(out, text, w)
		}
	}
	return out
}

// mergeFindings sorts findings by position. It joins overlapping findings and adjacent findings of the same rule. A
// joined finding has the rule of a sure one, else of the first.
func mergeFindings(all []Finding) []Finding {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	out := all[:0]
	for _, f := range all {
		if len(out) == 0 || f.Start > out[len(out)-1].End ||
			f.Start == out[len(out)-1].End && f.Rule != out[len(out)-1].Rule {
			out = append(out, f)
			continue
		}
		last := &out[len(out)-1]
		last.End = max(last.End, f.End)
		if f.Sure && !last.Sure {
			last.Rule, last.Sure = f.Rule, true
		}
	}
	return out
}
