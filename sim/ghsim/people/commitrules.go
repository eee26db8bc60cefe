package people

import "github.com/sia-bot/sia/sim/ghsim/model"

// RequireSignatures requires signed commits for merges into a branch: by a ruleset, or by classic protection.
func (p *People) RequireSignatures(repo, branch string, classic bool) error {
	if !classic {
		return p.AddRule(repo, branch, model.Rule{Type: model.RuleSignatures})
	}
	return p.ProtectBranch(repo, branch, model.Classic{Signatures: true})
}

// ProtectBranch sets what classic protection of a branch requires besides checks.
func (p *People) ProtectBranch(repo, branch string, wanted model.Classic) error {
	return p.onRepo(repo, func(r *model.Repository) { r.Classic[branch] = wanted })
}

// SwitchOff disables a repository's issues or its pull requests, or limits pull requests to collaborators.
func (p *People) SwitchOff(repo string, issues, pulls, strangers bool) error {
	return p.onRepo(repo, func(r *model.Repository) {
		r.NoIssues, r.NoPulls, r.PullsBy = issues, pulls, ""
		if strangers {
			r.PullsBy = "collaborators_only"
		}
	})
}

// SetDrafts sets whether the owner's plan has draft pull requests for a repository.
func (p *People) SetDrafts(repo string, have bool) error {
	return p.onRepo(repo, func(r *model.Repository) { r.NoDrafts = !have })
}

// RequireSignOff requires sign-off of commits made on the web.
func (p *People) RequireSignOff(repo string) error {
	return p.onRepo(repo, func(r *model.Repository) { r.SignOff = true })
}
