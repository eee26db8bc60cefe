package policies

import (
	"cmp"
	"embed"
	"path"
	"slices"
	"sync"

	"github.com/sia-bot/sia/policies/bandit"
)

// Layer is the owner of a policy. A higher layer outranks the lower ones.
type Layer int

// The layers, from below.
const (
	Shipped    Layer = iota // with SIA
	Owner                   // in the owner's .github repository
	Repository              // in the repository itself
)

// String names the layer for people.
func (l Layer) String() string { return [...]string{"shipped", "owner", "repository"}[l] }

// Dir is where a repository, or its owner's .github repository, keeps policies of its own.
const Dir = ".sia/policies"

// IsFile reports whether a path in such a repository, slash-separated, is a policy file's.
func IsFile(name string) bool {
	return path.Dir(name) == Dir && (path.Ext(name) == ".yml" || path.Ext(name) == ".yaml")
}

// Set is every policy that may hold in a repository. It is immutable and safe for
// concurrent use.
type Set struct{ policies []Policy }

//go:embed defaults/*.yml
var shipped embed.FS

// shippedSet is read once: it is a part of the program, and a test reads it.
var shippedSet = sync.OnceValue(func() *Set {
	s := &Set{}
	for _, t := range Types() {
		name := string(t) + ".yml"
		b, err := shipped.ReadFile("defaults/" + name)
		if err != nil {
			panic("policies: " + err.Error())
		}
		p, err := parse(name, b, nil)
		if err != nil {
			panic("policies: " + err.Error())
		}
		s.policies = append(s.policies, p)
	}
	return s
})

// ShippedSet is the policies as they ship, one for each type of decision, which fits every context.
func ShippedSet() *Set { return shippedSet() }

// With is the set with more policies of a layer.
func (s *Set) With(l Layer, more ...Policy) *Set {
	out := &Set{policies: slices.Clone(s.policies)}
	for _, p := range more {
		p.Layer = l
		out.policies = append(out.policies, p)
	}
	return out
}

// Instead is the set in which a policy of a layer stands in the place of one that is given by its
// id. A shipped one stays, for others may still fall back on it, and is outranked.
func (s *Set) Instead(id string, l Layer, p Policy) *Set {
	out := s.With(l, p)
	out.policies = slices.DeleteFunc(out.policies, func(was Policy) bool { return was.Layer != Shipped && was.ID() == id })
	return out
}

// All lists the policies by type of decision, the highest layer and the most specific first.
func (s *Set) All() []Policy {
	order := Types()
	return slices.SortedFunc(slices.Values(s.policies), func(a, b Policy) int {
		return cmp.Or(slices.Index(order, a.Decision)-slices.Index(order, b.Decision), before(a, b))
	})
}

// before orders policies of one type: by layer, then by how specific they are, then by name.
func before(a, b Policy) int {
	return cmp.Or(int(b.Layer)-int(a.Layer), b.Selector.specific()-a.Selector.specific(), cmp.Compare(a.Name, b.Name))
}

// For is the policy in force for a type of decision in a context: of the highest layer
// that has one that fits, the most specific; the first by name where they tie.
func (s *Set) For(t Type, c Context) (best Policy) {
	for _, p := range s.policies {
		if p.Decision == t && p.Selector.Fits(c) && (best.body == nil || before(p, best) < 0) {
			best = p
		}
	}
	return best
}

// Find is the policy of an id, or of a name where it is the only one.
func (s *Set) Find(idOrName string) (Policy, bool) {
	var found []Policy
	for _, p := range s.policies {
		if p.ID() == idOrName {
			return p, true
		}
		if p.Name == idOrName {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return Policy{}, false
	}
	return slices.MaxFunc(found, func(a, b Policy) int { return int(a.Layer) - int(b.Layer) }), true
}

// ShippedAssign is what the shipped assign policy decides by.
func ShippedAssign() Assign { return ShippedSet().For(TypeAssign, Context{}).Assign() }

// ShippedTechnique is what the shipped technique policy decides by.
func ShippedTechnique() bandit.Policy { return ShippedSet().For(TypeTechnique, Context{}).Technique() }
