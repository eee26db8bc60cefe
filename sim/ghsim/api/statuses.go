package api

import (
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

type statusInput struct {
	State       string  `json:"state"`
	TargetURL   *string `json:"target_url"`
	Description *string `json:"description"`
	Context     string  `json:"context"`
}

func createStatus(c *call, in statusInput) (answer, error) {
	sha, known := c.world.CommitOf(c.repo, c.params["sha"])
	switch {
	case !known:
		return answer{}, refusal.Unprocessable("No commit found for SHA: " + c.params["sha"])
	case !slices.Contains([]string{"error", "failure", "pending", "success"}, in.State):
		return answer{}, refusal.Invalid("Status", "state", "invalid", "")
	case in.Description != nil && len([]rune(*in.Description)) > 140:
		return answer{}, refusal.Invalid("Status", "description", "custom",
			"description is too long (maximum is 140 characters)")
	}
	st := &model.Status{SHA: sha, Context: in.Context, State: in.State}
	if st.Context == "" {
		st.Context = "default"
	}
	if in.Description != nil {
		st.Description = *in.Description
	}
	if in.TargetURL != nil {
		st.URL = *in.TargetURL
	}
	c.world.AddStatus(c.repo, c.actor(), st)
	return created(c.shape.StatusFull(c.repo, st)), nil
}

// combinedStatus is the newest status of each context, and their combined state: failure when one failed or has an
// error, pending when one is pending or there is none.
func combinedStatus(c *call) (answer, error) {
	sha, found := c.world.CommitOf(c.repo, c.params["ref"])
	if !found {
		return answer{}, refusal.NotFound()
	}
	seen := map[string]bool{}
	var sts []*model.Status
	state := "success"
	for _, st := range c.repo.StatusesOf(sha) {
		if seen[st.Context] {
			continue
		}
		seen[st.Context] = true
		sts = append(sts, st)
		switch {
		case st.State == "failure" || st.State == "error":
			state = "failure"
		case st.State == "pending" && state == "success":
			state = "pending"
		}
	}
	if len(sts) == 0 {
		state = "pending"
	}
	a, err := page(c, sts, "statuses", func(st *model.Status) object { return c.shape.Status(c.repo, st) })
	o := a.value.(object)
	o["state"], o["sha"] = state, sha
	o["repository"] = c.shape.RepositoryLite(c.repo)
	o["commit_url"] = c.shape.API("/repos/%s/commits/%s", c.repo.FullName(), sha)
	o["url"] = c.shape.API("/repos/%s/commits/%s/status", c.repo.FullName(), sha)
	return a, err
}
