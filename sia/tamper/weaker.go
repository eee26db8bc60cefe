package tamper

import (
	"slices"
	"strings"
)

// A weakening is a way in which a new assertion says less than the old one, or,
// without words, a sign that it says as much.
type weakening struct {
	kind FindingKind
	says string
	is   func(old, new *claim) bool
}

// weakenings of an assertion. The first that is there counts.
var weakenings = []weakening{
	{LoosenedAssertion, "an assertion became a mere message", func(_, new *claim) bool { return new.kind == logged }},
	{LoosenedAssertion, "an assertion can't fail any more", func(old, new *claim) bool {
		return new.strength == 0 && (old.strength > 0 || !keeps(old.literals, new.literals))
	}},
	{LoosenedAssertion, "an assertion was weakened: a part of it was removed", shortened},
	{LoosenedAssertion, "an assertion was turned round", func(old, new *claim) bool {
		return old.boolean && new.boolean && len(old.compared) > 0 && slices.Equal(old.compared, new.compared) &&
			slices.Equal(old.literals, new.literals) && turned(old, new)
	}},
	{LoosenedAssertion, "", sameFlag},
	// more than that something is there, and what else was named is still
	{LoosenedAssertion, "", func(old, new *claim) bool {
		return new.strength > old.strength && old.strength == 1 && keeps(values(old.literals), new.literals)
	}},
	{LoosenedAssertion, "an assertion was weakened: it only says that something is there", func(old, new *claim) bool {
		return new.strength < old.strength && new.strength == 1
	}},
	{LoosenedAssertion, "an assertion was weakened: it says less than before", func(old, new *claim) bool {
		return new.strength < old.strength
	}},
	{ChangedExpectation, "what an assertion expects was changed",
		func(old, new *claim) bool { return !keeps(old.literals, new.literals) }},
	{LoosenedAssertion, "an assertion was weakened: it takes anything",
		func(old, new *claim) bool { return new.wild > old.wild }},
	{LoosenedAssertion, "an assertion was weakened: it allows more than before", func(old, new *claim) bool {
		return new.eases > old.eases
	}},
	{ChangedExpectation, "an assertion compares in another way", func(old, new *claim) bool {
		return old.boolean && new.boolean && new.strength <= old.strength &&
			!slices.Equal(old.compared, new.compared) && len(new.compared) <= len(old.compared)
	}},
	{LoosenedAssertion, "an assertion was turned round", func(old, new *claim) bool {
		return turned(old, new) && new.strength <= old.strength && old.boolean == new.boolean
	}},
}

// shortened reports whether the new claim is the old one's beginning.
func shortened(old, new *claim) bool {
	return len(new.tokens) < len(old.tokens) && slices.EqualFunc(old.tokens[:len(new.tokens)], new.tokens,
		func(a, b token) bool { return a.kind == b.kind && a.text == b.text })
}

// weaker says in what way the new claim says less than the old, or something else;
// "" when it does not.
func weaker(old, new *claim) (FindingKind, string) {
	same := keeps(old.literals, new.literals)
	switch {
	case old.kind == asserted:
		for _, w := range weakenings {
			if w.is(old, new) {
				return w.kind, w.says
			}
		}
	case old.kind == expected && !same && old.cases() && keeps(new.literals, old.literals):
		return LoosenedAssertion, "cases or expected values of a test were removed"
	case old.kind == expected && !same:
		return ChangedExpectation, "an expected value was changed"
	case old.kind == tabled && !same:
		return ChangedExpectation, "a case of the test was changed"
	}
	return "", ""
}

// cases reports whether a claim is data that a test is run for, each of it once.
func (c *claim) cases() bool {
	return strings.HasPrefix(c.tokens[0].text, "@") || c.bag["each"] > 0
}

// turned reports whether one of two claims denies what the other says.
func turned(old, new *claim) bool { return (new.negated-old.negated)%2 != 0 }

// sameFlag reports whether both say of something that it is true, or false, or
// nil, the new one at least as firmly.
func sameFlag(old, new *claim) bool {
	return old.flag() != "" && old.flag() == new.flag() && keeps(old.literals, new.literals) &&
		(len(old.literals) == 1 || old.strength == 3) && (new.boolean || new.strength == 3) && !turned(old, new)
}

// flag is the true, false or nil that a claim names last; "" when it names none.
func (c *claim) flag() string {
	if n := len(c.literals); n > 0 {
		switch last := c.literals[n-1]; last {
		case "true", "false", "nil":
			return last
		}
	}
	return ""
}

// values are the literals but those that only say that something is there.
func values(literals []string) []string {
	return slices.DeleteFunc(slices.Clone(literals), func(l string) bool { return l == "nil" || l == "true" })
}

// keeps reports whether all values of a are in b, in order.
func keeps(a, b []string) bool {
	for _, v := range b {
		if len(a) > 0 && a[0] == v {
			a = a[1:]
		}
	}
	return len(a) == 0
}
