package probe

import (
	"net/http"
	"strings"
)

// graphQL are facts about GraphQL.
func graphQL() []Fact {
	const needs = "pull_requests:write contents:write checks:write statuses:read actions:read"
	return []Fact{{
		ID: "graphql/one-request",
		Text: "One request tells the check suites of a commit with their runs and workflows, its statuses, and " +
			"its pull request: what REST tells in four or more.",
		Source: "graphql/reference/objects",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.pull(t.base(), nil)
			t.checkRun(p.Head, mark+"-look", "failure")
			rest := t.Want(t.Get("/commits/%s/check-runs?filter=all&per_page=100", p.Head), http.StatusOK)
			t.Until("GraphQL tells the check runs that REST tells", func() bool {
				return runsOf(t.look(p)) == restRuns(rest)
			})
			pull := t.Want(t.Get("/pulls/%d", p.Number), http.StatusOK)
			const at = "data.repository.pullRequest."
			a := t.look(p)
			t.Equal("head", a.Str(at+"headRefOid"), pull.Str("head.sha"))
			t.Equal("base", a.Str(at+"baseRefName"), pull.Str("base.ref"))
			t.Equal("state", a.Str(at+"state"), strings.ToUpper(pull.Str("state")))
		},
	}, {
		ID: "graphql/errors-beside-data",
		Text: "An answer may hold errors beside data, or lack a list. Then REST is asked, and for ten " +
			"minutes GraphQL is not.",
		Source: "graphql/guides/forming-calls-with-graphql",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.sharedPull()
			a := t.look(Pull{Number: 1 << 30, Head: p.Head})
			t.Equal("what is wrong with a pull request that there is not", a.Str("errors.0.type"), "NOT_FOUND")
			t.Equal("the commit beside it", a.Str("data.repository.object.oid"), p.Head)
		},
	}, {
		ID: "graphql/pages",
		Text: "A list has pages of at most 100 nodes. The global id of the object and a cursor lead to the next one. " +
			"A list that changes in the meantime is read again, and after ten requests REST is asked.",
		Source: "graphql/guides/using-pagination-in-the-graphql-api",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.sharedPull()
			t.checkRun(p.Head, mark+"-page", "success")
			run := t.checkRun(p.Head, mark+"-page", "success")
			suite := t.Want(t.Get("/check-suites/%d", run.Int("check_suite.id")), http.StatusOK)
			page := func(after any) Answer {
				return t.GraphQL(pageQuery, map[string]any{"id": suite.Str("node_id"), "after": after})
			}
			const at = "data.node.checkRuns."
			t.Until("another check run on the second page", func() bool {
				first := page(nil)
				next := page(first.At(at + "pageInfo.endCursor"))
				return next.Int(at+"nodes.0.databaseId") != 0 &&
					next.Int(at+"nodes.0.databaseId") != first.Int(at+"nodes.0.databaseId")
			})
		},
	}, {
		ID:     "graphql/capitals",
		Text:   "It does not number the attempts of a workflow run, and spells values in capitals.",
		Source: "graphql/reference/objects#workflowrun",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.sharedPull()
			t.checkRun(p.Head, mark+"-capitals", "neutral")
			t.Until("a check run that is COMPLETED and NEUTRAL", func() bool {
				return strings.Contains(runsOf(t.look(p)), mark+"-capitals completed neutral")
			})
		},
	}}
}

// lookQuery is SIA's query for a look, without the parts that don't matter here.
const lookQuery = `query($owner: String!, $name: String!, $commit: String!, $number: Int!) {
	repository(owner: $owner, name: $name) {
		object(expression: $commit) { ...judges }
		pullRequest(number: $number) {
			state isDraft headRefOid baseRefName mergeable mergeStateStatus reviewDecision
			commits(last: 1) { nodes { commit { oid author { name user { login } } } } }
			potentialMergeCommit { ...judges }
		}
	}
}
fragment judges on Commit {
	oid
	checkSuites(first: 60) { nodes { databaseId checkRuns(first: 100, filterBy: {checkType: ALL}) {
		nodes { databaseId name status conclusion }
	} } }
	status { contexts { context state } }
}`

// pageQuery selects one check run of a check suite.
const pageQuery = `query($id: ID!, $after: String) {
	node(id: $id) { ... on CheckSuite { checkRuns(first: 1, after: $after, filterBy: {checkType: ALL}) {
		totalCount pageInfo { hasNextPage endCursor } nodes { databaseId }
	} } }
}`

// look reads a pull request and its head in one request.
func (t *Try) look(p Pull) Answer {
	return t.GraphQL(lookQuery, map[string]any{"commit": p.Head, "number": p.Number})
}

// runsOf returns the check runs of a look, one per line, in REST's spelling.
func runsOf(a Answer) string {
	var all []string
	for _, suite := range a.List("data.repository.object.checkSuites.nodes") {
		runs, _ := valueAt(suite, "checkRuns.nodes").([]any)
		for _, run := range runs {
			status, conclusion := text(valueAt(run, "status")), text(valueAt(run, "conclusion"))
			if status != strings.ToUpper(status) || conclusion != strings.ToUpper(conclusion) {
				continue // not GraphQL's spelling
			}
			all = append(all, text(valueAt(run, "databaseId"))+" "+text(valueAt(run, "name"))+" "+
				strings.ToLower(status+" "+conclusion))
		}
	}
	return sortedLines(all)
}

// restRuns returns the check runs of a REST response in the form of [runsOf].
func restRuns(a Answer) string {
	var all []string
	for _, run := range a.List("check_runs") {
		all = append(all, text(valueAt(run, "id"))+" "+text(valueAt(run, "name"))+" "+text(valueAt(run, "status"))+" "+
			text(valueAt(run, "conclusion")))
	}
	return sortedLines(all)
}
