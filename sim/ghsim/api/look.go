package api

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/payload"
)

// headOf answers the query for a head: the checks of a commit and of its base, the state of its pull request, and
// earlier reports. It uses the variables owner, name, commit, base, earlier0, earlier1 and so on, number, branch and
// base_name, and answers everything, whatever was selected, with at most 100 suites and 100 runs of each. An object is
// present only with its variable.
func headOf(c *call, full string, vars map[string]any) (answer, error) {
	if err := c.lags(); err != nil { // reads what was made meanwhile
		return answer{}, err
	}
	repository := object{"nameWithOwner": c.repo.FullName()}
	for variable := range vars {
		name := variable
		switch {
		case variable == "commit":
			name = "object"
		case variable != "base" && !strings.HasPrefix(variable, "earlier"):
			continue
		}
		repository[name] = nil
		sha, _ := vars[variable].(string)
		if at, found := c.world.CommitOf(c.repo, sha); found && !c.unknown(sha) {
			repository[name] = c.judgesOf(at)
		}
	}
	c.nearBranch(repository, vars)
	if number, _ := vars["number"].(float64); number > 0 {
		pull := c.repo.Issue(int(number))
		if pull == nil || pull.Pull == nil || c.unknown(fmt.Sprintf("%s#%d", full, int(number))) {
			return c.noPull(repository, int(number)), nil
		}
		repository["pullRequest"] = c.pullNode(pull)
	}
	return ok(object{"data": object{"repository": repository}}), nil
}

// nearBranch answers the part for the variables branch and base_name.
func (c *call) nearBranch(repository object, vars map[string]any) {
	if branch, _ := vars["branch"].(string); branch != "" {
		repository["branch"] = c.historyOf(branch)
	}
	if base, _ := vars["base_name"].(string); base != "" {
		repository["merged"] = c.mergedInto(base)
	}
}

// noPull answers a query for a missing pull request. The error's path names the field that could not be resolved; all
// other fields are answered.
// https://spec.graphql.org/October2021/#sec-Handling-Field-Errors
func (c *call) noPull(repository object, number int) answer {
	repository["pullRequest"] = nil
	return ok(object{"data": object{"repository": repository}, "errors": []object{{"type": "NOT_FOUND",
		"path": []string{"repository", "pullRequest"}, "locations": []object{},
		"message": fmt.Sprintf("Could not resolve to a PullRequest with the number of %d.", number)}}})
}

// judgesOf are a commit's check suites with their runs, and the newest status of each context.
func (c *call) judgesOf(sha string) object {
	return object{"oid": sha, "checkSuites": c.suitesOf(sha), "status": c.contextsOf(sha)}
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
		if run := c.repo.RunOf(st); run != nil {
			node["status"], node["conclusion"] = enum(run.Status), enumOrNull(run.Conclusion)
			node["workflowRun"] = object{"databaseId": run.ID, "event": run.Event.Name, "createdAt": payload.Stamp(run.Made),
				"updatedAt": payload.Stamp(run.Updated), "url": c.shape.HTML("/%s/actions/runs/%d", c.repo.FullName(), run.ID),
				"file":     c.fileOf(run),
				"workflow": object{"name": run.Name, "resourcePath": c.workflowPath(run.Path)}}
		}
		nodes = append(nodes, node)
	}
	return connection(nodes)
}

// fileOf is a run's workflow file, and the repository that contains it.
// https://docs.github.com/en/graphql/reference/actions#object-workflowrunfile
func (c *call) fileOf(run *model.Run) object {
	return object{"path": run.Path, "repositoryName": run.Source(c.repo).FullName()}
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

// enum spells a value as GraphQL does.
func enum(s string) string { return strings.ToUpper(s) }

func enumOrNull(s string) any { return payload.OrNull(enum(s)) }
