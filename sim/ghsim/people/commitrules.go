package people

import "github.com/sia-bot/sia/sim/ghsim/model"

// RequireSignatures has what is merged into a branch be signed: by a ruleset, or by classic
// protection.
func (p *People) RequireSignatures(repo, branch string, classic bool) error {
	if !classic {
		return p.AddRule(repo, branch, model.Rule{Type: model.RuleSignatures})
	}
	return p.onRepo(repo, func(r *model.Repository) { r.SignedOnly[branch] = true })
}

// SwitchOff switches a repository's issues or its pull requests off, or leaves pull requests to
// collaborators.
func (p *People) SwitchOff(repo string, issues, pulls, strangers bool) error {
	return p.onRepo(repo, func(r *model.Repository) {
		r.NoIssues, r.NoPulls, r.PullsBy = issues, pulls, ""
		if strangers {
			r.PullsBy = "collaborators_only"
		}
	})
}

// SetDrafts says whether the owner's plan has draft pull requests for a repository.
func (p *People) SetDrafts(repo string, have bool) error {
	return p.onRepo(repo, func(r *model.Repository) { r.NoDrafts = !have })
}

// RequireSignOff has commits that are made on the web be signed off.
func (p *People) RequireSignOff(repo string) error {
	return p.onRepo(repo, func(r *model.Repository) { r.SignOff = true })
}
