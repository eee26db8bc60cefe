package model

import "slices"

// Ruleset is a ruleset made through the API, for named branches.
type Ruleset struct {
	ID       int64
	Name     string
	Branches []string
}

// AddRuleset adds a ruleset's rules.
func (r *Repository) AddRuleset(s Ruleset, rules []Rule) {
	r.Rulesets = append(r.Rulesets, s)
	for _, b := range s.Branches {
		for _, x := range rules {
			x.Ruleset = s.ID
			r.Rules[b] = append(r.Rules[b], x)
		}
	}
}

// DropRuleset removes a ruleset; false when there is none of that id.
func (r *Repository) DropRuleset(id int64) bool {
	n := len(r.Rulesets)
	r.Rulesets = slices.DeleteFunc(r.Rulesets, func(s Ruleset) bool { return s.ID == id })
	if len(r.Rulesets) == n {
		return false
	}
	for b, all := range r.Rules {
		if r.Rules[b] = slices.DeleteFunc(all, func(x Rule) bool { return x.Ruleset == id }); len(r.Rules[b]) == 0 {
			delete(r.Rules, b)
		}
	}
	return true
}
