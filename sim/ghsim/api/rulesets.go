package api

import (
	"net/http"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

type rulesetInput struct {
	Name        string `json:"name"`
	Enforcement string `json:"enforcement"`
	Conditions  struct {
		RefName struct {
			Include []string `json:"include"`
		} `json:"ref_name"`
	} `json:"conditions"`
	Rules []struct {
		Type       string         `json:"type"`
		Parameters map[string]any `json:"parameters"`
	} `json:"rules"`
}

// createRuleset is POST /repos/{owner}/{repo}/rulesets, for active rulesets with fully named branches.
// https://docs.github.com/en/rest/repos/rules#create-a-repository-ruleset
func createRuleset(c *call, in rulesetInput) (answer, error) {
	if in.Name == "" || in.Enforcement != "active" {
		return answer{}, refusal.Unprocessable("Invalid request: a name, and the enforcement active")
	}
	s := model.Ruleset{ID: c.world.NextID(), Name: in.Name}
	for _, ref := range in.Conditions.RefName.Include {
		s.Branches = append(s.Branches, strings.TrimPrefix(ref, "refs/heads/"))
	}
	var rules []model.Rule
	for _, x := range in.Rules {
		rules = append(rules, model.Rule{Type: x.Type, Parameters: x.Parameters})
	}
	c.repo.AddRuleset(s, rules)
	return created(c.ruleset(s)), nil
}

func (c *call) ruleset(s model.Ruleset) object {
	return object{"id": s.ID, "name": s.Name, "target": "branch", "source_type": "Repository",
		"source": c.repo.FullName(), "enforcement": "active"}
}

func listRulesets(c *call) (answer, error) { return page(c, c.repo.Rulesets, "", c.ruleset) }

func deleteRuleset(c *call) (answer, error) {
	if !c.repo.DropRuleset(c.id("id")) {
		return answer{}, refusal.NotFound()
	}
	return answer{code: http.StatusNoContent}, nil
}
