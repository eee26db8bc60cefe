package tamper

import (
	"cmp"
	"slices"
)

// What a scope is worth as another's successor, beside the share of lines that
// they have in common: the same place and name, the same name, or that it stands
// where the old one stood.
const (
	samePath  = 0.6
	sameName  = 0.35
	inPlace   = 0.25
	successor = 0.5 // what it takes to be one
)

// candidate is a new scope that an old one may have become.
type candidate struct {
	old, new *scope
	score    float64
}

// pairScopes finds for old scopes without a pair the new ones that they became,
// the likest first, whatever their order and names.
func (s *search) pairScopes(olds, news []*scope) {
	by := map[string][]*scope{}
	for _, n := range news {
		if n.pair != nil {
			continue
		}
		by["path "+n.path] = append(by["path "+n.path], n)
		by["name "+n.name] = append(by["name "+n.name], n)
		for line := range n.lines() {
			by[line] = append(by[line], n)
		}
	}
	var all []candidate
	for _, o := range olds {
		if o.pair != nil {
			continue
		}
		seen := map[*scope]bool{}
		look := func(ns []*scope, bonus float64) {
			for _, n := range ns {
				if seen[n] || n.group != o.group || n.side.lang != o.side.lang || !s.spend(len(o.lines())) {
					continue
				}
				seen[n] = true
				if n.before == o.before && n.side.path == o.side.path {
					bonus += inPlace
				}
				if score := alikeLines(o, n) + bonus; score > successor {
					all = append(all, candidate{o, n, score})
				}
			}
		}
		look(by["path "+o.path], samePath)
		look(by["name "+o.name], sameName)
		if !o.group && len(news) <= maxRenamed {
			for _, n := range news {
				look([]*scope{n}, sameName*alikeNames(o.words(), n.words()))
			}
		}
		for line := range o.lines() {
			if ns := by[line]; len(ns) <= maxAlike {
				look(ns, 0)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(-cmp.Compare(a.score, b.score), cmp.Compare(a.old.decl, b.old.decl),
			cmp.Compare(a.new.decl, b.new.decl))
	})
	for _, c := range all {
		if c.old.pair == nil && c.new.pair == nil {
			c.old.pair, c.new.pair = c.new, c.old
		}
	}
}

// maxAlike bounds in how many scopes a line may stand that tells them apart.
const maxAlike = 8

// maxRenamed bounds among how many new tests one is looked for by a likely name.
const maxRenamed = 300

// words are the words of a scope's name, but those of every test's.
func (s *scope) words() []string {
	if s.named == nil {
		s.named = slices.DeleteFunc(nameWords(s.name), func(w string) bool { return w == "test" || w == "should" })
	}
	return s.named
}

// alikeNames is the share of the words of the shorter name that the other has too,
// 0 to 1. One word alone says nothing.
func alikeNames(a, b []string) float64 {
	both := 0
	for _, w := range a {
		if slices.Contains(b, w) {
			both++
		}
	}
	return float64(both) / float64(max(min(len(a), len(b)), 2))
}

// pairUnchanged pairs the scopes no line of which differs, and notes of all how many
// lines before them don't.
func pairUnchanged(old, new *side) {
	at := map[int]*scope{} // by the number of fixed lines before the declaration
	fixed := func(s *side) []int {
		n := make([]int, len(s.rows)+1)
		for i := range s.rows {
			n[i+1] = n[i]
			if s.rows[i].fixed {
				n[i+1]++
			}
		}
		return n
	}
	before, after := fixed(old), fixed(new)
	for _, sc := range old.scopes {
		sc.before = before[sc.first]
	}
	for _, sc := range new.scopes {
		sc.before = after[sc.first]
	}
	same := func(n []int, sc *scope) bool { return n[sc.end]-n[sc.first] == sc.end-sc.first }
	for _, n := range new.scopes {
		if same(after, n) {
			at[after[n.first]] = n
		}
	}
	for _, o := range old.scopes {
		n := at[before[o.first]]
		if n != nil && n.pair == nil && same(before, o) && n.path == o.path && n.end-n.first == o.end-o.first {
			o.pair, n.pair, o.unchanged, n.unchanged = n, o, true, true
		}
	}
}

// settleRows notes which rows stand on both sides, and which of them in the same scope.
func settleRows(old, new *side) {
	j := 0
	for i := range old.rows {
		if !old.rows[i].fixed {
			continue
		}
		for !new.rows[j].fixed {
			j++
		}
		same := old.rows[i].scope.pair == new.rows[j].scope
		old.rows[i].settled, new.rows[j].settled = same, same
		old.rows[i].twin, new.rows[j].twin = j, i
		j++
	}
}

// lines counts the lines of a scope by what they say.
func (s *scope) lines() map[string]int {
	if s.said == nil {
		s.said = map[string]int{}
		for i := s.decl + 1; i < s.end; i++ {
			if text := s.side.rows[i].text; len(text) > 4 {
				s.said[text]++
				s.count++
			}
		}
	}
	return s.said
}

// alikeLines is the share of the lines of two scopes that both have, 0 to 1.
func alikeLines(a, b *scope) float64 {
	both, few, many := 0, a.lines(), b.lines()
	if a.count+b.count == 0 {
		return 0
	}
	for line, n := range few {
		both += min(n, many[line])
	}
	return 2 * float64(both) / float64(a.count+b.count)
}
