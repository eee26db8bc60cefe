package api

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
	"github.com/sia-bot/sia/sim/ghsim/world"
)

// newReview is the body of POST …/pulls/{number}/reviews, without positions in the diff, which GitHub is closing down,
// and without comments on several lines.
type newReview struct {
	CommitID string       `json:"commit_id"`
	Body     string       `json:"body"`
	Event    string       `json:"event"`
	Comments []newComment `json:"comments"`
}

// newComment is one comment on a line.
type newComment struct {
	Path string `json:"path"`
	Body string `json:"body"`
	Line int    `json:"line"`
	Side string `json:"side"`
}

// reviewStates are the states that a review has after each event.
func reviewStates() map[string]string {
	return map[string]string{"APPROVE": "approved", "REQUEST_CHANGES": "changes_requested", "COMMENT": "commented"}
}

// createReview is POST …/pulls/{number}/reviews: a review that is submitted at once. Pending reviews are not simulated.
// https://docs.github.com/en/rest/pulls/reviews#create-a-review-for-a-pull-request
func createReview(c *call, i *model.Issue, in newReview) (answer, error) {
	state, known := reviewStates()[in.Event]
	switch {
	case !known:
		return answer{}, refusal.Unresolved("event: the simulator submits every review: APPROVE, REQUEST_CHANGES or COMMENT")
	case state != "commented" && c.actor().User == i.By:
		return answer{}, refusal.Unresolved(map[string]string{"approved": "Can not approve your own pull request",
			"changes_requested": "Can not request changes on your own pull request"}[state])
	case in.Body == "" && (state == "changes_requested" || state == "commented" && len(in.Comments) == 0):
		return answer{}, refusal.Unresolved("Body can't be blank")
	}
	if err := checkBody("PullRequestReview", &in.Body); err != nil {
		return answer{}, err
	}
	spec := world.ReviewSpec{State: state, Body: in.Body, SHA: cmp.Or(in.CommitID, i.Pull.HeadSHA)}
	diff := c.git.Compare(c.repo.Dir, i.Pull.BaseSHA, i.Pull.HeadSHA)
	if !slices.ContainsFunc(diff.Commits, func(x git.Commit) bool { return x.SHA == spec.SHA }) {
		return answer{}, refusal.Unresolved("commit_id is not part of the pull request")
	}
	lines, err := c.reviewLines(i, spec.SHA, in.Comments)
	if err != nil {
		return answer{}, err
	}
	spec.Lines = lines
	o := c.shape.Review(c.repo, i, c.world.SubmitReview(c.repo, i, c.actor(), spec))
	o["state"] = map[string]string{"approved": "APPROVED", "changes_requested": "CHANGES_REQUESTED",
		"commented": "COMMENTED"}[state]
	return answer{code: http.StatusOK, value: o}, nil
}

// reviewLines are the comments of a review, each on a line shown in the diff at a commit; a comment on any other line
// fails the whole review.
func (c *call) reviewLines(i *model.Issue, sha string, comments []newComment) (lines []world.ReviewLine, err error) {
	diff := c.git.Compare(c.repo.Dir, i.Pull.BaseSHA, sha)
	for _, n := range comments {
		at := slices.IndexFunc(diff.Files, func(f git.FileChange) bool { return f.Path == n.Path })
		old := n.Side == "LEFT"
		switch {
		case n.Path == "" || n.Body == "":
			return nil, refusal.Unresolved("Variable $threads was provided invalid value: a comment needs path and body")
		case at < 0:
			return nil, refusal.Unresolved("Path could not be resolved")
		case n.Side != "" && n.Side != "RIGHT" && !old || !diff.Files[at].Shows(n.Line, old):
			return nil, refusal.Unresolved("Line could not be resolved")
		}
		if err := checkBody("PullRequestReviewComment", &n.Body); err != nil {
			return nil, err
		}
		lines = append(lines, world.ReviewLine{Path: n.Path, Body: n.Body, Line: n.Line, Old: old})
	}
	return lines, nil
}
