package api

import (
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// getRules is GET /repos/{owner}/{repo}/rules/branches/{branch}, page by page; as on GitHub
// a branch that does not exist has rules too.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func getRules(c *call) (answer, error) {
	if c.repo.RulesLacking {
		return answer{}, refusal.Forbidden(upgrade)
	}
	if code := c.repo.RulesHidden; code != 0 {
		return answer{}, hidden(code)
	}
	branch := c.params["branch"]
	return page(c, c.repo.Rules[branch], "", func(x model.Rule) object {
		o := object{"type": x.Type, "ruleset_source_type": "Repository", "ruleset_source": c.repo.FullName(),
			"ruleset_id": x.Ruleset}
		if x.Source != "" {
			o["ruleset_source"] = x.Source
			if !strings.Contains(x.Source, "/") {
				o["ruleset_source_type"] = "Organization"
			}
		}
		if p := c.repo.Printed(branch, x); p != nil {
			o["parameters"] = p
		}
		return o
	})
}

// upgrade is the answer if the plan has no rules and no protection for private repositories.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/about-rulesets
const upgrade = "Upgrade to GitHub Pro or make this repository public to enable this feature."

// hidden is the answer if rules can't be read because nobody may see them.
func hidden(code int) error {
	if code == 403 {
		return refusal.Forbidden("Resource not accessible by integration")
	}
	return &refusal.Error{Code: code, Message: "Not Found"}
}
