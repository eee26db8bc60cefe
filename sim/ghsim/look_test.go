package ghsim_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sim/ghsim"
)

const (
	judges = `fragment judges on Commit { oid status { contexts { context } } checkSuites(first: 9) { nodes {
		checkRuns(first: 9) { nodes { name conclusion } } workflowRun { file { path repositoryName } } } } }`
	lookedAtPull = `pullRequest(number: $number) {
			state isDraft headRefOid baseRefName mergeable mergeStateStatus potentialMergeCommit { ...judges }
			commits(last: 1) { nodes { commit { oid author { name email user { login } } } } }
		} `
	nearBranch = `branch: ref(qualifiedName: $branch) { target {
			... on Commit { history(first: 3) { nodes { oid ...reports } } } } }
		merged: pullRequests(states: MERGED, baseRefName: $base_name, first: 5) { nodes {
			commits(last: 1) { nodes { commit { ...reports } } } } }`
	reports = `fragment reports on Commit { statusCheckRollup { contexts(first: 9) { nodes { __typename
		... on CheckRun { name checkSuite { app { slug } workflowRun { event } } }
		... on StatusContext { context } } } } }`
)

// look queries everything at once, for the given variables.
func (s *sim) look(token string, vars map[string]any) map[string]any {
	s.t.Helper()
	vars["owner"], vars["name"] = "acme", "shop"
	query, selection, fragments := "query($owner: String!, $name: String!, $commit: String!",
		"object(expression: $commit) { ...judges } ", judges
	if vars["number"] != nil {
		query += ", $number: Int!"
		selection += lookedAtPull
	}
	if vars["branch"] != nil {
		query += ", $branch: String!, $base_name: String!"
		selection += nearBranch
		fragments += reports
	}
	body, err := json.Marshal(map[string]any{"variables": vars,
		"query": query + ") { repository(owner: $owner, name: $name) { " + selection + "} } " + fragments})
	must(s.t, err)
	resp, text := s.do("POST", "/api/graphql", token, string(body))
	var got map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil || resp.StatusCode != 200 {
		s.t.Fatalf("look: %s %s %v", resp.Status, text, err)
	}
	return got
}

// at selects a value in JSON by keys and indexes; nil if there is none.
func at(v any, path ...any) any {
	for _, p := range path {
		switch key := p.(type) {
		case string:
			o, _ := v.(map[string]any)
			v = o[key]
		case int:
			l, _ := v.([]any)
			if key >= len(l) {
				return nil
			}
			v = l[key]
		}
	}
	return v
}

func TestLook(t *testing.T) {
	s := newSim(t, map[string]string{"README.md": "x",
		".github/workflows/ci.yml": "on: [push, pull_request]\njobs: {test: {steps: [{run: 'true'}]}}\n"})
	tok := s.token(nil)
	s.clock.Advance(time.Minute)
	head, err := s.PushFiles(repoName, "topic", "dana", "Change", map[string]string{"a.txt": "a"})
	must(t, err)
	n, err := s.OpenPull(repoName, "dana", "topic", "main", "T", "", false)
	must(t, err)
	merge, err := s.TestMerge(repoName, n)
	must(t, err)
	must(t, s.CreateStatus(repoName, merge, "dana", "ci/merged", "success", ""))
	must(t, s.CreateStatus(repoName, head, "dana", "ci/outside", "success", ""))
	s.settle()

	vars := map[string]any{"commit": head, "number": n, "branch": "refs/heads/main", "base_name": "main"}
	s.look(tok, vars) // GitHub starts to compute the mergeability
	repo := at(s.look(tok, vars), "data", "repository")
	pull := at(repo, "pullRequest")
	for name, want := range map[string]any{"state": "OPEN", "isDraft": false, "headRefOid": head, "baseRefName": "main",
		"mergeable": "MERGEABLE", "mergeStateStatus": "CLEAN"} {
		if got := at(pull, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	commit := at(pull, "commits", "nodes", 0, "commit")
	if at(commit, "oid") != head || at(commit, "author", "user", "login") != "dana" {
		t.Errorf("last commit: %v", commit)
	}
	judges := at(pull, "potentialMergeCommit")
	if at(judges, "oid") != merge || at(judges, "status", "contexts", 0, "context") != "ci/merged" ||
		at(judges, "checkSuites", "nodes") == nil {
		t.Errorf("test merge: %v", judges)
	}
	want := map[string]any{"path": ".github/workflows/ci.yml", "repositoryName": repoName}
	var got any
	for i := range 3 { // the app's own suite has no run
		if run := at(repo, "object", "checkSuites", "nodes", i, "workflowRun", "file"); run != nil {
			got = run
		}
	}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("file of the run (-want +got):\n%s", diff)
	}
	if at(repo, "branch", "target", "history", "nodes", 0, "statusCheckRollup") != nil {
		t.Errorf("nothing reported on main: %v", at(repo, "branch"))
	}
	if nodes := at(repo, "merged", "nodes").([]any); len(nodes) != 0 {
		t.Errorf("merged: %v", nodes)
	}

	_, err = s.MergePull(repoName, n, "dana")
	must(t, err)
	s.settle()
	repo = at(s.look(tok, vars), "data", "repository")
	if at(repo, "pullRequest", "state") != "MERGED" {
		t.Errorf("state %v, want MERGED", at(repo, "pullRequest", "state"))
	}
	if diff := cmp.Diff([]string{"test", "test", "ci/outside"}, reported(at(repo, "merged", "nodes", 0, "commits",
		"nodes", 0, "commit"))); diff != "" {
		t.Errorf("reported on the merged pull request (-want +got):\n%s", diff)
	}
	history := at(repo, "branch", "target", "history", "nodes").([]any)
	if len(history) != 3 || at(history[1], "oid") != head {
		t.Errorf("history %v", history)
	}
	if diff := cmp.Diff([]string{"test"}, reported(history[0])); diff != "" {
		t.Errorf("reported on main (-want +got):\n%s", diff)
	}
	run := at(history[0], "statusCheckRollup", "contexts", "nodes", 0, "checkSuite")
	if at(run, "app", "slug") != "github-actions" || at(run, "workflowRun", "event") != "push" {
		t.Errorf("suite of main's check: %v", run)
	}
}

// An answer contains exactly the selected fields, merged if one field was selected twice.
func TestGraphQLAnswersWhatWasSelected(t *testing.T) {
	s := newSim(t, nil)
	r, err := s.Repo(repoName)
	must(t, err)
	must(t, s.CreateStatus(repoName, r.Head, "dana", "ci/outside", "success", ""))
	_, text := s.do("POST", "/api/graphql", s.token(nil), fmt.Sprintf(`{"variables":{"owner":"acme","name":"shop",`+
		`"commit":%q},"query":"query($owner: String!, $name: String!, $commit: String!) {`+
		` repository(owner: $owner, name: $name) { object(expression: $commit) { ... on Commit {`+
		` status { contexts { context } } } ...more } } }`+
		` fragment more on Commit { checkSuites(first: 1) { pageInfo { hasNextPage } } status { contexts { state } } }"}`,
		r.Head))
	want := `{"data":{"repository":{"object":{"checkSuites":{"pageInfo":{"hasNextPage":false}},` +
		`"status":{"contexts":[{"context":"ci/outside","state":"SUCCESS"}]}}}}}`
	if got := strings.TrimSpace(text); got != want {
		t.Errorf("answer %s, want %s", got, want)
	}
}

// graphql sends a query about a commit of acme/shop.
func (s *sim) graphql(query, commit string, vars map[string]any) any {
	s.t.Helper()
	all := map[string]any{"owner": "acme", "name": "shop", "commit": commit}
	maps.Copy(all, vars)
	body, err := json.Marshal(map[string]any{"query": query, "variables": all})
	must(s.t, err)
	_, text := s.do("POST", "/api/graphql", s.token(nil), string(body))
	var got any
	must(s.t, json.Unmarshal([]byte(text), &got))
	return got
}

// Lists come in pages. A cursor stays at its check run when newer ones are added before it.
// https://docs.github.com/en/graphql/guides/using-pagination-in-the-graphql-api
func TestGraphQLPages(t *testing.T) {
	s := newSim(t, nil)
	r, err := s.Repo(repoName)
	must(t, err)
	made := func(n int) {
		for range n {
			_, err := s.CreateCheck(repoName, r.Head, ghsim.AppCheck{App: "ci", Name: "test", Conclusion: "success"})
			must(t, err)
		}
	}
	made(120)
	const runs = ` { totalCount pageInfo { hasNextPage endCursor } nodes { databaseId } } `
	got := at(s.graphql(`query($owner: String!, $name: String!, $commit: String!) {
		repository(owner: $owner, name: $name) { object(expression: $commit) { ... on Commit { id
			checkSuites(first: 1) { nodes { id checkRuns(first: 100)`+runs+`} } } } } }`, r.Head, nil),
		"data", "repository", "object")
	suite := at(got, "checkSuites", "nodes", 0)
	first := at(suite, "checkRuns")
	made(1)
	const next = `query($id: ID!, $after: String!) { runs: node(id: $id) { ... on CheckSuite {
		checkRuns(first: 100, after: $after)` + runs + `} } }`
	after := map[string]any{"id": at(suite, "id"), "after": at(first, "pageInfo", "endCursor")}
	second := at(s.graphql(next, r.Head, after), "data", "runs", "checkRuns")
	seen := map[any]bool{}
	for _, page := range []any{first, second} {
		for _, run := range at(page, "nodes").([]any) {
			seen[at(run, "databaseId")] = true
		}
	}
	if len(seen) != 120 || at(first, "totalCount") != 120.0 || at(second, "totalCount") != 121.0 ||
		at(first, "pageInfo", "hasNextPage") != true || at(second, "pageInfo", "hasNextPage") != false {
		t.Errorf("%d check runs: %v, %v", len(seen), at(first, "pageInfo"), second)
	}
	for name, vars := range map[string]map[string]any{
		"INVALID_CURSOR_ARGUMENTS": {"id": at(suite, "id"), "after": "x"},
		"NOT_FOUND":                {"id": "CS_x", "after": "x"},
	} {
		if got := at(s.graphql(next, r.Head, vars), "errors", 0, "type"); got != name {
			t.Errorf("%v, want %s", got, name)
		}
	}
	byCommit := at(s.graphql(`query($id: ID!) { it: node(id: $id) { ... on Commit { oid } } }`, "",
		map[string]any{"id": at(got, "id")}), "data", "it", "oid")
	if byCommit != r.Head {
		t.Errorf("commit %v, want %s", byCommit, r.Head)
	}
}

// Queries beyond GitHub's limits are refused.
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#node-limit
func TestGraphQLNodeLimit(t *testing.T) {
	s := newSim(t, nil)
	r, err := s.Repo(repoName)
	must(t, err)
	for _, c := range []struct {
		selection string
		want      any
	}{
		{"checkSuites(first: 100) { nodes { checkRuns(first: 100) { nodes { name } } } }", nil},
		{"checkSuites(first: 101) { nodes { status } }", "EXCESSIVE_PAGINATION"},
		{"checkSuites(first: $n) { nodes { status } }", "EXCESSIVE_PAGINATION"},
		{"checkSuites(last: 0) { nodes { status } }", "ARGUMENT_LIMIT"},
		{"checkSuites { nodes { status } }", "MISSING_PAGINATION_BOUNDARIES"},
		{"checkSuites(first: 100) { nodes { checkRuns(first: 100) { nodes { steps(first: 50) { totalCount } } } } }",
			"MAX_NODE_LIMIT_EXCEEDED"},
	} {
		variables := "query($owner: String!, $name: String!, $commit: String!"
		if strings.Contains(c.selection, "$n") {
			variables += ", $n: Int!"
		}
		got := s.graphql(variables+") { repository(owner: $owner, name: $name) { object(expression: $commit) { "+
			"... on Commit { "+c.selection+" } } } }", r.Head, map[string]any{"n": 200})
		if kind := at(got, "errors", 0, "type"); kind != c.want {
			t.Errorf("%s: %v, want %v", c.selection, got, c.want)
		}
	}
}

// reported are the names of the reports on a commit.
func reported(commit any) (names []string) {
	nodes, _ := at(commit, "statusCheckRollup", "contexts", "nodes").([]any)
	for _, n := range nodes {
		name := at(n, "name")
		if at(n, "__typename") == "StatusContext" {
			name = at(n, "context")
		}
		names = append(names, fmt.Sprint(name))
	}
	return names
}

// A missing pull request is an error in addition to the data that could be answered.
func TestLookAtNoPull(t *testing.T) {
	s := newSim(t, nil)
	r, err := s.Repo(repoName)
	must(t, err)
	got := s.look(s.token(nil), map[string]any{"commit": r.Head, "number": 99})
	if at(got, "errors", 0, "type") != "NOT_FOUND" || at(got, "errors", 0, "path", 1) != "pullRequest" ||
		at(got, "data", "repository", "object", "oid") != r.Head {
		t.Errorf("answer %v", got)
	}
}
