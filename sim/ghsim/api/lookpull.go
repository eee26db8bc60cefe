package api

import (
	"fmt"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/payload"
	"github.com/sia-bot/sia/sim/ghsim/rules"
)

// pullNode is a pull request as it is now.
// https://docs.github.com/en/graphql/reference/pulls#object-pullrequest
func (c *call) pullNode(i *model.Issue) object {
	o := c.mergeability(i)
	o["number"], o["state"], o["isDraft"], o["body"] = i.Number, pullState(i), i.Pull.Draft, i.Body
	o["closedAt"] = payload.Stamp(i.Closed)
	o["reviewDecision"] = rules.Decision(c.repo, i)
	o["headRefOid"], o["baseRefName"], o["baseRef"] = i.Pull.HeadSHA, i.Pull.Base, nil
	if base := c.repo.Head(i.Pull.Base); base != "" {
		o["baseRef"] = object{"target": object{"oid": base}}
	}
	o["commits"] = c.lastCommit(i)
	return o
}

// pullState is OPEN, CLOSED or MERGED.
// https://docs.github.com/en/graphql/reference/pulls#enum-pullrequeststate
func pullState(i *model.Issue) string {
	if !i.Pull.MergedAt.IsZero() {
		return "MERGED"
	}
	return enum(i.State)
}

// lastCommit is the pull request's newest commit, with the reports on it.
func (c *call) lastCommit(i *model.Issue) object {
	author := c.git.Facts(c.repo.Dir, i.Pull.HeadSHA).Author
	return object{"nodes": []object{{"commit": object{"id": payload.CommitNodeID(c.repo, i.Pull.HeadSHA),
		"oid": i.Pull.HeadSHA, "author": object{"name": author.Name, "email": author.Email,
			"user": c.userNode(c.shape.AccountOf(author))},
		"statusCheckRollup": c.rollupOf(i.Pull.HeadSHA)}}}}
}

// userNode is a person's account; null for a bot, which is no User in GraphQL, and for an unknown address.
// https://docs.github.com/en/graphql/reference/commits#object-gitactor
func (c *call) userNode(u *model.User) any {
	if u == nil || u.Kind != "User" {
		return nil
	}
	return object{"login": u.Login, "databaseId": u.ID}
}

// mergeKnown reports whether the mergeability of an open pull request is computed; if not, it starts the computation.
// https://docs.github.com/en/rest/guides/using-the-rest-api-to-interact-with-your-git-database#checking-mergeability-of-pull-requests
func (c *call) mergeKnown(i *model.Issue) bool {
	asked := fmt.Sprint(c.repo.ID, i.Number, i.Pull.HeadSHA, c.repo.Head(i.Pull.Base))
	known := c.merging[asked]
	c.merging[asked] = true
	return known
}

// mergeability is whether a pull request can be merged, and the checks of its test merge.
//
// As on GitHub, it is computed in the background: the first request after head or base has moved is answered with
// UNKNOWN.
// https://docs.github.com/en/graphql/reference/pulls#enum-mergestatestatus
func (c *call) mergeability(i *model.Issue) object {
	base := c.repo.Head(i.Pull.Base)
	o := object{"mergeable": "UNKNOWN", "mergeStateStatus": "UNKNOWN", "potentialMergeCommit": nil}
	if i.State != "open" {
		return o
	}
	if !c.mergeKnown(i) {
		return o
	}
	merge, clean := c.world.TestMerge(c.repo, base, i.Pull.HeadSHA)
	o["mergeable"] = "CONFLICTING"
	if c.repo.MergeStale {
		o["mergeStateStatus"] = "DIRTY"
		return o
	}
	if clean {
		o["mergeable"], o["potentialMergeCommit"] = "MERGEABLE", c.judgesOf(merge)
	}
	o["mergeStateStatus"] = enum(rules.State(c.git, c.repo, i))
	return o
}
