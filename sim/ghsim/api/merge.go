package api

import (
	"net/http"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
	"github.com/sia-bot/sia/sim/ghsim/rules"
)

type mergeInput struct {
	SHA    string `json:"sha"`
	Method string `json:"merge_method"`
}

// mergePull is PUT /repos/{owner}/{repo}/pulls/{number}/merge. GitHub requires permission to write contents, and
// answers 405 if the pull request can't be merged now and 409 if its head is not the caller's.
// https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request
func mergePull(c *call, i *model.Issue, in mergeInput) (answer, error) {
	cannot := func(why string) error { return &refusal.Error{Code: http.StatusMethodNotAllowed, Message: why} }
	switch {
	case in.Method != "" && in.Method != "merge" && in.Method != "squash" && in.Method != "rebase":
		return answer{}, refusal.Invalid("PullRequest", "merge_method", "invalid", "")
	case in.Method == "squash" || in.Method == "rebase":
		return answer{}, cannot("This way of merging is not allowed on this repository.")
	case in.SHA != "" && in.SHA != i.Pull.HeadSHA:
		return answer{}, &refusal.Error{Code: http.StatusConflict,
			Message: "Head branch was modified. Review and try the merge again."}
	}
	if why := rules.Blocks(c.git, c.repo, i); why != "" {
		return answer{}, cannot(why)
	}
	sha, err := c.world.MergePull(c.repo, i, c.actor())
	if err != nil {
		return answer{}, cannot("Pull Request is not mergeable: " + err.Error())
	}
	return ok(object{"sha": sha, "merged": true, "message": "Pull Request successfully merged"}), nil
}
