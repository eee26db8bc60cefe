package api

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/ghsim/model"
	"github.com/sia-bot/sia/app/ghsim/payload"
)

// headOf answers what judges a commit: its check suites with their runs, the newest
// status of each context, and how its pull request can be merged. It goes by the
// variables owner, name, commit, base and number, and answers all of it, whatever was
// selected, with at most 100 suites and 100 runs of each.
//
// As on GitHub it is worked out in the background whether a pull request can be merged:
// who asks first after head or base has moved is told UNKNOWN.
func headOf(c *call, vars map[string]any) (answer, error) {
	full := fmt.Sprintf("%v/%v", vars["owner"], vars["name"])
	c.repo = c.world.Repository(full)
	if c.repo == nil || !c.token.Has(c.repo) {
		return graphqlError("NOT_FOUND", "Could not resolve to a Repository with the name '"+full+"'."), nil
	}
	for _, p := range []string{"checks", "statuses", "contents", "pull_requests", "actions"} {
		if !c.token.May(p, "read") {
			return graphqlError("FORBIDDEN", "Resource not accessible by integration"), nil
		}
	}
	if err := c.lags(); err != nil { // reads what was made meanwhile
		return answer{}, err
	}
	repository := object{}
	for name, variable := range map[string]string{"object": "commit", "base": "base"} {
		repository[name] = nil
		sha, _ := vars[variable].(string)
		if at, found := c.world.CommitOf(c.repo, sha); found && !c.unknown(sha) {
			repository[name] = object{"checkSuites": c.suitesOf(at), "status": c.contextsOf(at)}
		}
	}
	if number, _ := vars["number"].(float64); number > 0 {
		pull := c.repo.Issue(int(number))
		if pull == nil || pull.Pull == nil || c.unknown(fmt.Sprintf("%s#%d", full, int(number))) {
			return graphqlError("NOT_FOUND", fmt.Sprintf("Could not resolve to a PullRequest with the number of %d.",
				int(number))), nil
		}
		repository["pullRequest"] = c.mergeability(pull)
	}
	return ok(object{"data": object{"repository": repository}}), nil
}

// connection is a page of at most 100 nodes.
func connection(nodes []object) object {
	more := len(nodes) > 100
	return object{"nodes": nodes[:min(len(nodes), 100)], "pageInfo": object{"hasNextPage": more}}
}

func (c *call) suitesOf(sha string) object {
	nodes := []object{}
	for _, st := range c.repo.Suites {
		if st.SHA != sha {
			continue
		}
		runs := []object{}
		for _, k := range slices.Backward(c.repo.Checks) {
			if k.Suite == st {
				runs = append(runs, c.runNode(k))
			}
		}
		node := object{"databaseId": st.ID, "app": object{"databaseId": st.App.ID, "slug": st.App.Slug},
			"status": enum(st.Status), "conclusion": enumOrNull(st.Conclusion), "workflowRun": nil,
			"checkRuns": connection(runs)}
		if n := slices.IndexFunc(c.repo.Runs, func(r *model.Run) bool { return r.Suite == st }); n >= 0 {
			run := c.repo.Runs[n]
			node["status"], node["conclusion"] = enum(run.Status), enumOrNull(run.Conclusion)
			node["workflowRun"] = object{"databaseId": run.ID, "event": run.Event.Name, "createdAt": payload.Stamp(run.Made),
				"url":      c.shape.HTML("/%s/actions/runs/%d", c.repo.FullName(), run.ID),
				"file":     object{"path": run.Path},
				"workflow": object{"name": run.Name, "resourcePath": c.workflowPath(run.Path)}}
		}
		nodes = append(nodes, node)
	}
	return connection(nodes)
}

func (c *call) workflowPath(path string) string {
	return fmt.Sprintf("/%s/actions/workflows/%s", c.repo.FullName(), path[strings.LastIndexByte(path, '/')+1:])
}

func (c *call) runNode(k *model.CheckRun) object {
	o := c.shape.Check(c.repo, k)
	return object{"databaseId": k.ID, "name": k.Name, "status": enum(k.Status), "conclusion": enumOrNull(k.Conclusion),
		"startedAt": o["started_at"], "completedAt": o["completed_at"], "detailsUrl": o["details_url"],
		"url": o["html_url"], "externalId": k.ExternalID, "title": k.Title, "summary": k.Summary, "text": k.Text,
		"annotations": object{"totalCount": len(k.Annotations)}}
}

// contextsOf is the newest status of each context; null without any.
func (c *call) contextsOf(sha string) any {
	var nodes []object
	seen := map[string]bool{}
	for _, st := range c.repo.StatusesOf(sha) {
		if seen[st.Context] {
			continue
		}
		seen[st.Context] = true
		nodes = append(nodes, object{"context": st.Context, "state": enum(st.State), "createdAt": payload.Stamp(st.At),
			"description": payload.OrNull(st.Description), "targetUrl": payload.OrNull(st.URL),
			"avatarUrl": c.shape.User(st.By)["avatar_url"]})
	}
	if nodes == nil {
		return nil
	}
	return object{"contexts": nodes}
}

// mergeability is how a pull request can be merged.
func (c *call) mergeability(i *model.Issue) object {
	base := c.repo.Head(i.Pull.Base)
	o := object{"isDraft": i.Pull.Draft, "headRefOid": i.Pull.HeadSHA, "mergeable": "UNKNOWN",
		"mergeStateStatus": "UNKNOWN", "baseRef": object{"target": object{"oid": base}}, "potentialMergeCommit": nil}
	if i.State != "open" {
		return o
	}
	asked := fmt.Sprint(c.repo.ID, i.Number, i.Pull.HeadSHA, base)
	if !c.merging[asked] {
		c.merging[asked] = true
		return o
	}
	merge, clean := c.world.TestMerge(c.repo, base, i.Pull.HeadSHA)
	if o["mergeable"], o["mergeStateStatus"] = "MERGEABLE", "CLEAN"; clean {
		o["potentialMergeCommit"] = object{"oid": merge, "status": c.contextsOf(merge)}
	}
	switch {
	case !clean:
		o["mergeable"], o["mergeStateStatus"] = "CONFLICTING", "DIRTY"
	case i.Pull.Draft:
		o["mergeStateStatus"] = "DRAFT"
	case c.repo.Strict[i.Pull.Base] && !c.git.IsAncestor(c.repo.Dir, base, i.Pull.HeadSHA):
		o["mergeStateStatus"] = "BEHIND"
	}
	return o
}

// enum spells a value as GraphQL does.
func enum(s string) string { return strings.ToUpper(s) }

func enumOrNull(s string) any { return payload.OrNull(enum(s)) }
