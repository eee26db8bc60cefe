package api

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/payload"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
	"github.com/sia-bot/sia/sim/ghsim/world"
)

func (c *call) pull() (*model.Issue, error) {
	if i := c.repo.Issue(int(c.id("number"))); i != nil && i.Pull != nil {
		return i, nil
	}
	return nil, refusal.NotFound()
}

// listPulls is GET /repos/{owner}/{repo}/pulls, by default newest first.
func listPulls(c *call) (answer, error) {
	state := cmp.Or(c.query.Get("state"), "open")
	var is []*model.Issue
	for _, i := range c.repo.Issues {
		if i.Pull == nil || state != "all" && i.State != state {
			continue
		}
		if h := c.query.Get("head"); h != "" && !strings.EqualFold(h, c.repo.Owner.Login+":"+i.Pull.Head) {
			continue
		}
		if b := c.query.Get("base"); b != "" && b != i.Pull.Base {
			continue
		}
		is = append(is, i)
	}
	if c.query.Get("direction") != "asc" {
		slices.Reverse(is)
	}
	return page(c, is, "", func(i *model.Issue) object { return c.shape.PullLite(c.repo, i) })
}

type pullInput struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	Head  string `json:"head"`
	Base  string `json:"base"`
	Draft bool   `json:"draft"`
}

func createPull(c *call, in pullInput) (answer, error) {
	if err := checkBody("PullRequest", &in.Body); err != nil {
		return answer{}, err
	}
	i, err := c.world.OpenPull(c.repo, c.actor(), world.PullSpec(in))
	if err != nil {
		return answer{}, err
	}
	return created(c.inFull(i)), nil
}

// inFull is a pull request in full; its mergeability is null until it is computed.
// https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
func (c *call) inFull(i *model.Issue) payload.Object {
	o := c.shape.Pull(c.repo, i)
	if i.State == "open" && !c.mergeKnown(i) {
		o["mergeable"], o["rebaseable"], o["mergeable_state"], o["merge_commit_sha"] = nil, nil, "unknown", nil
	}
	return o
}

func getPull(c *call, i *model.Issue) (answer, error) {
	return ok(c.inFull(i)), nil
}

type pullChange struct {
	issueInput
	Base *string `json:"base"`
}

func patchPull(c *call, i *model.Issue, in pullChange) (answer, error) {
	if err := checkBody("PullRequest", in.Body); err != nil {
		return answer{}, err
	}
	if in.State != nil && *in.State != "open" && *in.State != "closed" {
		return answer{}, refusal.Invalid("PullRequest", "state", "invalid", "")
	}
	if in.State != nil && *in.State == "open" && (i.Pull.MergeSHA != "" || c.repo.Head(i.Pull.Head) == "") {
		return answer{}, refusal.Invalid("PullRequest", "state", "invalid",
			"state cannot be changed. The pull request cannot be reopened.")
	}
	if in.Base != nil && c.repo.Head(*in.Base) == "" {
		return answer{}, refusal.Invalid("PullRequest", "base", "invalid", "")
	}
	c.world.EditIssue(c.repo, i, c.actor(), in.Title, in.Body)
	if in.Base != nil {
		c.world.Retarget(c.repo, i, c.actor(), *in.Base)
	}
	if in.State != nil {
		c.world.SetState(c.repo, i, c.actor(), *in.State, "")
	}
	return ok(c.inFull(i)), nil
}
