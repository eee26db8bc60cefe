package policies

import (
	"cmp"
	"embed"
	"path"
	"slices"
	"sync"

	"github.com/sia-bot/sia/policies/bandit"
)

// Layer is the origin of a policy. A higher layer takes precedence over lower ones.
type Layer int

// The layers, lowest first.
const (
	Shipped    Layer = iota // shipped with SIA
	Owner                   // in the owner's .github repository
	Repository              // in the repository itself
)

// String returns the layer's name.
func (l Layer) String() string { return [...]string{"shipped", "owner", "repository"}[l] }

// Dir is the folder of policies in a repository, or in its owner's .github repository.
const Dir = ".sia/policies"

// IsFile reports whether a slash-separated path in such a repository is that of a policy file.
func IsFile(name string) bool {
	return path.Dir(name) == Dir && (path.Ext(name) == ".yml" || path.Ext(name) == ".yaml")
}

// Set is the set of policies of a repository. It is immutable and safe for concurrent use.
type Set struct{ policies []Policy }

//go:embed defaults/*.yml
var shipped embed.FS

// shippedSet parses the embedded policies once. It panics on error; a test parses them.
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

// ShippedSet returns the shipped policies, one for each type of decision, which fits every context.
func ShippedSet() *Set { return shippedSet() }

// With returns the set with more policies of a layer.
func (s *Set) With(l Layer, more ...Policy) *Set {
	out := &Set{policies: slices.Clone(s.policies)}
	for _, p := range more {
		p.Layer = l
		out.policies = append(out.policies, p)
	}
	return out
}

// Instead returns the set with a policy of a layer instead of the one with the given id. A shipped one is kept, because
// others may still fall back on it, but has lower precedence.
func (s *Set) Instead(id string, l Layer, p Policy) *Set {
	out := s.With(l, p)
	out.policies = slices.DeleteFunc(out.policies, func(was Policy) bool { return was.Layer != Shipped && was.ID() == id })
	return out
}

// All returns the policies by type of decision, the highest layer and the most specific first.
func (s *Set) All() []Policy {
	order := Types()
	return slices.SortedFunc(slices.Values(s.policies), func(a, b Policy) int {
		return cmp.Or(slices.Index(order, a.Decision)-slices.Index(order, b.Decision), before(a, b))
	})
}

// before compares policies of one type by layer, then by the number of conditions, then by name.
func before(a, b Policy) int {
	return cmp.Or(int(b.Layer)-int(a.Layer), b.Selector.specific()-a.Selector.specific(), cmp.Compare(a.Name, b.Name))
}

// For returns the policy in force for a type of decision in a context: the most specific matching one of the highest
// layer with a match; the first by name for ties.
func (s *Set) For(t Type, c Context) (best Policy) {
	for _, p := range s.policies {
		if p.Decision == t && p.Selector.Fits(c) && (best.body == nil || before(p, best) < 0) {
			best = p
		}
	}
	return best
}

// Find returns the policy with an id or a name; of several with that name, one of the highest layer.
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

// ShippedAssign returns the body of the shipped assign policy.
func ShippedAssign() Assign { return ShippedSet().For(TypeAssign, Context{}).Assign() }

// ShippedTechnique returns the body of the shipped technique policy.
func ShippedTechnique() bandit.Policy { return ShippedSet().For(TypeTechnique, Context{}).Technique() }
