package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/payload"
)

// headPermissions are those that the query for a head needs.
var headPermissions = []string{"checks", "statuses", "contents", "pull_requests", "actions"}

// headOf answers the query for a head: the checks of a commit and of its base, the state of its pull request, and
// earlier reports. It uses the variables owner, name, commit, base, earlier0, earlier1 and so on, number, branch and
// base_name, and answers everything, whatever was selected. An object is present only with its variable.
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
	return withHidden(object{"repository": repository}), nil
}

// appOf is the app of a check suite; null if it is hidden.
func (c *call) appOf(st *model.Suite) any {
	if st.App.Hidden {
		return nil
	}
	return object{"databaseId": st.App.ID, "slug": st.App.Slug}
}

// withHidden is data with an error for each hidden app in it.
// https://github.com/github/branch-deploy/issues/498
func withHidden(data object) answer {
	out, errors := object{"data": data}, []object{}
	var find func(v any, path []any)
	find = func(v any, path []any) {
		switch v := v.(type) {
		case object:
			if app, has := v["app"]; has && app == nil {
				errors = append(errors, object{"type": "FORBIDDEN", "path": append(slices.Clone(path), "app"),
					"locations": []object{}, "message": "Resource not accessible by integration"})
			}
			for _, key := range slices.Sorted(maps.Keys(v)) {
				find(v[key], append(path, key))
			}
		case []object:
			for i, x := range v {
				find(x, append(path, i))
			}
		}
	}
	if find(data, nil); len(errors) > 0 {
		out["errors"] = errors
	}
	return ok(out)
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
	return object{"id": payload.CommitNodeID(c.repo, sha), "oid": sha, "checkSuites": c.suitesOf(sha),
		"status": c.contextsOf(sha)}
}

func (c *call) suitesOf(sha string) object {
	nodes := []object{}
	for _, st := range c.repo.Suites {
		if st.SHA == sha {
			nodes = append(nodes, c.suiteNode(st))
		}
	}
	return object{"nodes": nodes}
}

func (c *call) suiteNode(st *model.Suite) object {
	runs := []object{}
	for _, k := range slices.Backward(c.repo.Checks) {
		if k.Suite == st {
			runs = append(runs, c.runNode(k))
		}
	}
	node := object{"id": payload.NodeID("CS", st.ID), "databaseId": st.ID,
		"app": c.appOf(st), "status": enum(st.Status),
		"conclusion": enumOrNull(st.Conclusion), "workflowRun": nil, "checkRuns": object{"nodes": runs}}
	if run := c.repo.RunOf(st); run != nil {
		node["status"], node["conclusion"] = enum(run.Status), enumOrNull(run.Conclusion)
		node["workflowRun"] = object{"databaseId": run.ID, "event": run.Event.Name, "createdAt": payload.Stamp(run.Made),
			"updatedAt": payload.Stamp(run.Updated), "url": c.shape.HTML("/%s/actions/runs/%d", c.repo.FullName(), run.ID),
			"file":     c.fileOf(run),
			"workflow": object{"name": run.Name, "resourcePath": c.workflowPath(run.Path)}}
	}
	return node
}

// nodesOf answers about commits, check suites and comments by their global ids.
// https://docs.github.com/en/graphql/guides/using-global-node-ids
func (c *call) nodesOf(in *query) (answer, error) {
	data := object{}
	for _, s := range in.op.SelectionSet {
		f, is := s.(*ast.Field)
		if !is || f.Name != "node" {
			return graphqlError("UNDEFINED_FIELD", "the simulator does not combine node with other fields"), nil
		}
		id := fmt.Sprint(in.argument(f, "id"))
		if m := c.commentNode(id); m != nil {
			if !c.mayRead([]string{"issues"}) {
				return graphqlError("FORBIDDEN", "Resource not accessible by integration"), nil
			}
			data[f.Alias] = m
			continue
		}
		node, err := c.nodeOf(id)
		if err != nil {
			return answer{}, err
		}
		if node == nil {
			return noNode(id), nil
		}
		if !c.mayRead(headPermissions) {
			return graphqlError("FORBIDDEN", "Resource not accessible by integration"), nil
		}
		data[f.Alias] = node
	}
	return withHidden(data), nil
}

// commentNode is a comment on an issue or a pull request; nil if the token can't see one with that id.
// https://docs.github.com/en/graphql/reference/objects#issuecomment
func (c *call) commentNode(id string) object {
	for _, r := range c.world.Repositories() {
		if r.Private && !c.token.Has(r) {
			continue
		}
		for _, i := range r.Issues {
			for _, m := range i.Comments {
				if payload.NodeID("IC", m.ID) != id {
					continue
				}
				var edited, editor any
				if by := m.EditedBy; by != nil {
					login, isBot := strings.CutSuffix(by.Login, "[bot]")
					kind := map[bool]string{true: "Bot", false: "User"}[isBot]
					edited, editor = payload.Stamp(m.Updated), object{"__typename": kind, "login": login}
				}
				return object{"__typename": "IssueComment", "body": m.Body, "lastEditedAt": edited, "editor": editor}
			}
		}
	}
	return nil
}

// nodeOf is a commit or a check suite; nil if the token can't see one with that id.
func (c *call) nodeOf(id string) (object, error) {
	for _, r := range c.world.Repositories() {
		if r.Private && !c.token.Has(r) {
			continue
		}
		c.repo = r
		if err := c.lags(); err != nil {
			return nil, err
		}
		for _, st := range r.Suites {
			if payload.NodeID("CS", st.ID) == id {
				return c.suiteNode(st), nil
			}
		}
		if sha, is := strings.CutPrefix(id, payload.CommitNodeID(r, "")); is {
			if _, known := c.world.CommitOf(r, sha); known && !c.unknown(sha) {
				node := c.judgesOf(sha)
				node["statusCheckRollup"] = c.rollupOf(sha)
				return node, nil
			}
		}
	}
	return nil, nil
}

// fileOf is a run's workflow file, and the repository that contains it.
// https://docs.github.com/en/graphql/reference/actions#object-workflowrunfile
func (c *call) fileOf(run *model.Run) any {
	if run.Event.Name == model.Dynamic {
		return nil
	}
	return object{"path": run.Path, "repositoryName": run.Source(c.repo).FullName()}
}

func (c *call) workflowPath(path string) string {
	if generated, is := strings.CutPrefix(path, "dynamic/"); is {
		return fmt.Sprintf("/%s/actions/workflows/%s", c.repo.FullName(), generated)
	}
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
