package api

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/sia-bot/sia/app/ghsim/model"
	"github.com/sia-bot/sia/app/ghsim/refusal"
)

// mergePull is PUT /repos/{owner}/{repo}/pulls/{number}/merge. GitHub asks for permission to write
// contents, and refuses with 405 what can't be merged now and with 409 another head than the
// caller's.
// https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request
func mergePull(c *call) (answer, error) {
	i, err := c.pull()
	if err != nil {
		return answer{}, err
	}
	var in struct {
		SHA    string `json:"sha"`
		Method string `json:"merge_method"`
	}
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
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
	if want := missing(c.repo, i.Pull.Base, i.Pull.HeadSHA); want != "" {
		return answer{}, cannot(fmt.Sprintf("Required status check %q is expected.", want))
	}
	sha, err := c.world.MergePull(c.repo, i, c.actor())
	if err != nil {
		return answer{}, cannot("Pull Request is not mergeable: " + err.Error())
	}
	return ok(object{"sha": sha, "merged": true, "message": "Pull Request successfully merged"}), nil
}

// missing is the first check that a branch wants and that a commit does not have in green; empty:
// none. A check that was left out or is neutral counts as green.
func missing(r *model.Repository, branch, sha string) string {
	for _, want := range append(slices.Clone(r.Protection[branch]), r.Rules[branch]...) {
		green := false
		for _, k := range r.Checks { // the newest of a name decides
			if k.SHA == sha && k.Name == want {
				green = k.Status == "completed" && slices.Contains([]string{"success", "neutral", "skipped"}, k.Conclusion)
			}
		}
		for _, st := range r.StatusesOf(sha) {
			green = green || st.Context == want && st.State == "success"
		}
		if !green {
			return want
		}
	}
	return ""
}
