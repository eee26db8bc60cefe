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
		Text: "An answer may hold errors beside data, or a part of the lists. Then REST is asked, and for ten " +
			"minutes GraphQL is not.",
		Source: "graphql/guides/forming-calls-with-graphql",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.pullOnce()
			a := t.look(Pull{Number: 1 << 30, Head: p.Head})
			t.Equal("what is wrong with a pull request that there is not", a.Str("errors.0.type"), "NOT_FOUND")
			t.Equal("the commit beside it", a.Str("data.repository.object.oid"), p.Head)
		},
	}, {
		ID: "graphql/timeout",
		Text: "A query that takes longer than ten seconds is ended. Then, as when GraphQL fails in another way, REST is " +
			"asked, and for a minute GraphQL is not.",
		Source: "graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#timeouts",
		NotFor: "needs a query that is too slow",
	}, {
		ID:     "graphql/capitals",
		Text:   "It does not number the attempts of a workflow run, and spells values in capitals.",
		Source: "graphql/reference/objects#workflowrun",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.pullOnce()
			t.checkRun(p.Head, mark+"-capitals", "neutral")
			t.Until("a check run that is COMPLETED and NEUTRAL", func() bool {
				return strings.Contains(runsOf(t.look(p)), mark+"-capitals completed neutral")
			})
		},
	}}
}

// lookQuery is what SIA asks in one request, but for what it does not need to know here.
const lookQuery = `query($owner: String!, $name: String!, $commit: String!, $number: Int!) {
	repository(owner: $owner, name: $name) {
		object(expression: $commit) { ...judges }
		pullRequest(number: $number) {
			state isDraft headRefOid baseRefName mergeable mergeStateStatus
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

// look asks about a pull request and its head at once.
func (t *Try) look(p Pull) Answer {
	return t.GraphQL(lookQuery, map[string]any{"commit": p.Head, "number": p.Number})
}

// runsOf are the check runs of a look, a line each, in words as REST has them where GraphQL spells them in capitals.
func runsOf(a Answer) string {
	var all []string
	for _, suite := range a.List("data.repository.object.checkSuites.nodes") {
		runs, _ := at(suite, "checkRuns.nodes").([]any)
		for _, run := range runs {
			status, conclusion := text(at(run, "status")), text(at(run, "conclusion"))
			if status != strings.ToUpper(status) || conclusion != strings.ToUpper(conclusion) {
				continue // it is not spelled as GraphQL does
			}
			all = append(all, text(at(run, "databaseId"))+" "+text(at(run, "name"))+" "+strings.ToLower(status+" "+conclusion))
		}
	}
	return lines(all)
}

// restRuns are the same of an answer of REST.
func restRuns(a Answer) string {
	var all []string
	for _, run := range a.List("check_runs") {
		all = append(all, text(at(run, "id"))+" "+text(at(run, "name"))+" "+text(at(run, "status"))+" "+
			text(at(run, "conclusion")))
	}
	return lines(all)
}
