package api

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/payload"
)

// closing answers what closes an issue, and the branch's requirements on commits: the issue's text with who edited it
// last, the open pull requests with a closing keyword, the time when it was last reopened, and the history of a commit
// since a time. It uses the variables owner, name, number, commit and since, and answers everything, whatever was
// selected.
func closing(c *call, _ string, vars map[string]any) (answer, error) {
	r := c.repo
	number, _ := vars["number"].(float64)
	issue := r.Issue(int(number))
	if issue == nil || issue.Pull != nil {
		return graphqlError("NOT_FOUND", fmt.Sprintf("Could not resolve to an Issue with the number of %v.",
			vars["number"])), nil
	}
	since, valid := timestamp(vars["since"])
	if !valid {
		return graphqlError("", "Argument 'since' on Field 'history' has an invalid value. Expected type "+
			"'GitTimestamp'."), nil
	}
	pulls, reopened := []object{}, []object{}
	for _, i := range c.world.Closing(r, issue) {
		pulls = append(pulls, object{"number": i.Number, "url": c.shape.HTML("/%s/pull/%d", r.FullName(), i.Number),
			"state": "OPEN", "headRefName": i.Pull.Head, "isCrossRepository": false,
			"repository": object{"nameWithOwner": r.FullName()}})
	}
	if !issue.Reopened.IsZero() {
		reopened = append(reopened, object{"createdAt": payload.Stamp(issue.Reopened)})
	}
	var history any
	commit, _ := vars["commit"].(string)
	if sha, found := c.world.CommitOf(r, commit); found {
		cs, err := c.git.CommitsIn(r.Dir, sha)
		if err != nil {
			return answer{}, err
		}
		nodes := []object{}
		for _, x := range slices.Backward(cs) {
			if !x.Committer.At.Before(since) && len(nodes) < 100 {
				nodes = append(nodes, historyNode(c, r.FullName(), x))
			}
		}
		history = object{"history": object{"nodes": nodes}}
	}
	var editor any
	if by := issue.EditedBy; by != nil {
		editor = object{"__typename": "User", "login": by.Login, "databaseId": by.ID}
	}
	repo := object{"object": history, "issue": object{"body": issue.Body, "editor": editor,
		"closedByPullRequestsReferences": object{"nodes": pulls}, "timelineItems": object{"nodes": reopened}}}
	if vars["ref"] != nil {
		if r.RulesHidden != 0 {
			return graphqlError("FORBIDDEN", "Resource not accessible by integration"), nil
		}
		maps.Copy(repo, ruledRef(r, vars))
	}
	return ok(object{"data": object{"repository": repo}}), nil
}

// timestamp reads a GitTimestamp.
func timestamp(v any) (at time.Time, valid bool) {
	at, err := time.Parse(time.RFC3339, fmt.Sprint(v))
	return at, err == nil
}

func historyNode(c *call, repo string, x git.Commit) object {
	return object{"oid": x.SHA, "url": c.shape.HTML("/%s/commit/%s", repo, x.SHA), "message": x.Message,
		"committedDate": payload.Stamp(x.Committer.At)}
}
