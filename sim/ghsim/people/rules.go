package people

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// SetBranchProtection requires the named checks on a branch, as classic branch
// protection does. Without contexts the branch is not protected.
func (p *People) SetBranchProtection(repo, branch string, contexts ...string) error {
	return p.onRepo(repo, func(r *model.Repository) {
		if delete(r.Protection, branch); len(contexts) > 0 {
			r.Protection[branch] = slices.Clone(contexts)
		}
	})
}

// SetRuleset requires the named checks on a branch through a ruleset, which it replaces.
// Without contexts there is none.
func (p *People) SetRuleset(repo, branch string, contexts ...string) error {
	if len(contexts) == 0 {
		return p.SetRules(repo, branch)
	}
	return p.SetRules(repo, branch, model.ChecksRule(contexts...))
}

// SetRules replaces the rules of a branch; without rules there are none. A rule without a ruleset's id gets that of the
// repository's own.
func (p *People) SetRules(repo, branch string, rules ...model.Rule) error {
	return p.onRepo(repo, func(r *model.Repository) {
		delete(r.Rules, branch)
		p.addRules(r, branch, rules)
	})
}

// AddRule adds a rule to those of a branch.
func (p *People) AddRule(repo, branch string, rule model.Rule) error {
	return p.onRepo(repo, func(r *model.Repository) { p.addRules(r, branch, []model.Rule{rule}) })
}

func (p *People) addRules(r *model.Repository, branch string, rules []model.Rule) {
	if r.Ruleset == 0 {
		r.Ruleset = p.world.NextID()
	}
	for _, x := range rules {
		if x.Ruleset == 0 {
			x.Ruleset = r.Ruleset
		}
		r.Rules[branch] = append(r.Rules[branch], x)
	}
}

// SetPushes sets what GitHub refuses in later pushes.
func (p *People) SetPushes(repo string, to model.Pushes) error {
	return p.onRepo(repo, func(r *model.Repository) { r.Pushes = to })
}

// LackRules removes the rules of a repository, as the plan of its owner has none, which the API answers then.
func (p *People) LackRules(repo string) error {
	return p.onRepo(repo, func(r *model.Repository) {
		r.RulesLacking = true
		clear(r.Rules)
	})
}

// HideRules makes the API answer 403 or 404 instead of the rules of branches; 0 ends it.
func (p *People) HideRules(repo string, status int) error {
	if status != 0 && status != http.StatusForbidden && status != http.StatusNotFound {
		return fmt.Errorf("hiding the rules of %s with %d: GitHub answers 403 or 404", repo, status)
	}
	return p.onRepo(repo, func(r *model.Repository) { r.RulesHidden = status })
}

// RequireUpToDate requires merges into a branch to be up to date with it, in addition to the checks that its protection
// or ruleset requires.
func (p *People) RequireUpToDate(repo, branch string) error {
	return p.onRepo(repo, func(r *model.Repository) { r.Strict[branch] = true })
}

// SetHooks sets whether pre-receive hooks check merges, as on GitHub Enterprise Server.
func (p *People) SetHooks(repo string, on bool) error {
	return p.onRepo(repo, func(r *model.Repository) { r.Hooks = on })
}

// onRepo changes a repository's settings.
func (p *People) onRepo(repo string, change func(*model.Repository)) error {
	return p.inRepo(repo, func(r *model.Repository) error {
		change(r)
		return nil
	})
}
