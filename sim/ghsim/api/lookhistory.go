package api

import (
	"cmp"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/payload"
)

// How much history the query for a head includes.
const (
	lookedCommits = 3 // of a branch
	lookedMerged  = 5 // pull requests
)

// historyOf is the reports on the newest commits of a ref; null where there is no such ref.
// https://docs.github.com/en/graphql/reference/commits#object-commit
func (c *call) historyOf(ref string) any {
	head := c.repo.Refs[ref]
	if head == "" {
		return nil
	}
	nodes := []object{}
	for _, sha := range c.newest(head, lookedCommits) {
		nodes = append(nodes, object{"id": payload.CommitNodeID(c.repo, sha), "oid": sha,
			"statusCheckRollup": c.rollupOf(sha)})
	}
	return object{"target": object{"history": object{"nodes": nodes}}}
}

// newest are a commit and its ancestors, newest first, at most n. A commit comes before its parents even if their dates
// disagree.
func (c *call) newest(head string, n int) []string {
	var out []string
	seen := map[string]bool{head: true}
	waiting := []git.Commit{c.git.Facts(c.repo.Dir, head)}
	for len(waiting) > 0 && len(out) < n {
		slices.SortStableFunc(waiting, func(a, b git.Commit) int { return b.Committer.At.Compare(a.Committer.At) })
		next := waiting[0]
		waiting, out = waiting[1:], append(out, next.SHA)
		for _, p := range next.Parents {
			if !seen[p] {
				seen[p] = true
				waiting = append(waiting, c.git.Facts(c.repo.Dir, p))
			}
		}
	}
	return out
}

// mergedInto are the pull requests merged into a branch, last changed first, each with the reports on its last commit.
// https://docs.github.com/en/graphql/reference/repos#object-repository
func (c *call) mergedInto(base string) object {
	var merged []*model.Issue
	for _, i := range c.repo.Issues {
		if i.Pull != nil && i.Pull.Base == base && !i.Pull.MergedAt.IsZero() {
			merged = append(merged, i)
		}
	}
	slices.SortFunc(merged, func(a, b *model.Issue) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(b.Number, a.Number))
	})
	nodes := []object{}
	for _, i := range merged[:min(len(merged), lookedMerged)] {
		nodes = append(nodes, object{"number": i.Number, "commits": c.lastCommit(i)})
	}
	return object{"nodes": nodes}
}

// rollupOf is all reports on a commit, the newest of each name in a suite and of each context; null without any.
// https://docs.github.com/en/graphql/reference/commits#object-statuscheckrollup
func (c *call) rollupOf(sha string) any {
	nodes := []object{}
	for _, st := range c.repo.Suites {
		if st.SHA != sha {
			continue
		}
		for _, k := range slices.Backward(c.repo.LatestChecks(st)) {
			node := c.runNode(k)
			node["__typename"], node["checkSuite"] = "CheckRun", c.suiteStub(st)
			nodes = append(nodes, node)
		}
	}
	seen := map[string]bool{}
	for _, st := range c.repo.StatusesOf(sha) {
		if !seen[st.Context] {
			nodes = append(nodes, object{"__typename": "StatusContext", "context": st.Context, "state": enum(st.State)})
		}
		seen[st.Context] = true
	}
	if len(nodes) == 0 {
		return nil
	}
	return object{"contexts": object{"nodes": nodes}}
}

// suiteStub is a check suite's app and workflow run.
func (c *call) suiteStub(st *model.Suite) object {
	o := object{"app": c.appOf(st), "workflowRun": nil}
	if run := c.repo.RunOf(st); run != nil {
		o["workflowRun"] = object{"event": run.Event.Name, "file": c.fileOf(run),
			"workflow": object{"name": run.Name, "resourcePath": c.workflowPath(run.Path)}}
	}
	return o
}
