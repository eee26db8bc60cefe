package policies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/invalid"
	"github.com/sia-bot/sia/sia/text"
)

// Selector selects the contexts in which a policy or a rule applies: those that match all set conditions. The zero
// selector matches all contexts.
type Selector struct {
	Language   []string `yaml:"language,omitempty" json:"language,omitempty"` // any of them
	Labels     []string `yaml:"labels,omitempty" json:"labels,omitempty"`     // the issue has any of them
	Kind       []string `yaml:"kind,omitempty" json:"kind,omitempty"`         // kind of task, see [Kinds]
	Class      []string `yaml:"class,omitempty" json:"class,omitempty"`       // class of the last failure, see [Classes]
	Pattern    []string `yaml:"pattern,omitempty" json:"pattern,omitempty"`   // last diagnosis, see [Patterns]
	Part       []string `yaml:"part,omitempty" json:"part,omitempty"`         // kind of part, see [Parts]
	Repository []string `yaml:"repository,omitempty" json:"repository,omitempty"`
	Owner      []string `yaml:"owner,omitempty" json:"owner,omitempty"`
	Size       Size     `yaml:"size,omitempty" json:"size,omitzero"`
	// minimum number of failures; 0: any
	Failures int `yaml:"failures,omitempty" json:"failures,omitempty"`
}

// Size is a range of the number of words of an issue, inclusive; 0: no bound.
type Size struct {
	Least int `yaml:"least,omitempty" json:"least,omitempty"`
	Most  int `yaml:"most,omitempty" json:"most,omitempty"`
}

// conditions returns, for each condition of the selector, whether it is set and whether a context matches it.
func (s Selector) conditions(c Context) [][2]bool {
	one := func(words []string, v string) [2]bool {
		return [2]bool{len(words) > 0, slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, v) })}
	}
	labelled := slices.ContainsFunc(c.Labels, func(l string) bool { return one(s.Labels, l)[1] })
	return [][2]bool{
		one(s.Language, c.Language), {len(s.Labels) > 0, labelled}, one(s.Kind, string(c.Task.Kind)),
		one(s.Class, c.Class), one(s.Pattern, c.Pattern), one(s.Part, c.Part),
		one(s.Repository, c.Repository), one(s.Owner, c.Owner),
		{s.Size.Least > 0, c.Task.Words >= s.Size.Least}, {s.Size.Most > 0, c.Task.Words <= s.Size.Most},
		{s.Failures > 0, c.Failures >= s.Failures},
	}
}

// Fits reports whether a context matches all set conditions.
func (s Selector) Fits(c Context) bool {
	return !slices.ContainsFunc(s.conditions(c), func(x [2]bool) bool { return x[0] && !x[1] })
}

// check returns the invalid conditions below a path: those that no context can match.
func (s Selector) check(path string) (wrong []invalid.Problem) {
	note := func(key, nearest, format string, args ...any) {
		wrong = append(wrong,
			invalid.Problem{Path: path + "." + key, Nearest: nearest, Message: fmt.Sprintf(format, args...)})
	}
	among := func(key string, words, known []string) {
		for _, w := range words {
			if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, w) }) {
				note(key, text.Nearest(w, known), "%q is none of %s", w, strings.Join(known, ", "))
			}
		}
	}
	among("kind", s.Kind, plainWords(Kinds()))
	among("class", s.Class, Classes())
	among("pattern", s.Pattern, Patterns())
	among("part", s.Part, Parts())
	if size := s.Size; size.Least < 0 || size.Most < 0 || size.Most > 0 && size.Least > size.Most {
		note("size", "", "want a least and a most number of words, from 1")
	}
	if s.Failures < 0 {
		note("failures", "", "want a number of failures, from 1")
	}
	return wrong
}

// specific returns the number of set conditions.
func (s Selector) specific() (n int) {
	for _, x := range s.conditions(Context{}) {
		if x[0] {
			n++
		}
	}
	return n
}
