package failure

import (
	"cmp"
	"slices"
	"sync"

	"github.com/sia-bot/sia/sia/keyword"
)

// ruleset holds all rules and the automaton that finds their keywords. It is read-only and safe for concurrent use.
type ruleset struct {
	rules []rule // heaviest first
	auto  *keyword.Automaton
	byKey [][]uint16   // keyword → rules
	words []scoredWord // keyword → its own score
}

// compiledRules returns the ruleset, which is built at the first call.
var compiledRules = sync.OnceValue(func() *ruleset {
	return newRuleset(slices.Concat(testRules(), generalRules(), jvmRules(), compilerRules(), lintRules(), runtimeRules(),
		environmentRules()), scoredWords())
})

func newRuleset(rs []rule, ws []scoredWord) *ruleset {
	slices.SortStableFunc(rs, func(a, b rule) int { return cmp.Compare(b.weight, a.weight) })
	s := &ruleset{rules: rs}
	id := map[string]uint16{}
	var all []string
	add := func(k string) uint16 {
		i, ok := id[k]
		if !ok {
			i = uint16(len(all))
			id[k] = i
			all = append(all, k)
			s.byKey = append(s.byKey, nil)
			s.words = append(s.words, scoredWord{})
		}
		return i
	}
	for i, r := range rs {
		for _, k := range r.keys {
			key := add(k)
			s.byKey[key] = append(s.byKey[key], uint16(i))
		}
	}
	for _, w := range ws {
		s.words[add(w.text)] = w
	}
	s.auto = keyword.New(all, true)
	return s
}

// maxRules is the maximum number of rules.
const maxRules = 256

// keywordHits is the set of keywords that the automaton found on a line.
type keywordHits struct {
	rules  [maxRules / 64]uint64
	any    bool
	score  float64
	warns  bool
	result bool
	// a network rule is among the rules
	networkRule bool
}

// look returns the rules that may match a line, and the score of its words.
func (s *ruleset) look(b []byte) keywordHits {
	var h keywordHits
	keyword.Scan(s.auto, b, func(k int32, end int) {
		for _, r := range s.byKey[k] {
			h.rules[r/64] |= 1 << (r % 64)
			h.any = true
			h.networkRule = h.networkRule || s.rules[r].class == Network
		}
		if w := &s.words[k]; w.text != "" {
			h.score += w.scoreIn(b, end)
			h.warns = h.warns || w.role == warningWord
			h.result = h.result || w.role == resultWord
		}
	})
	return h
}
