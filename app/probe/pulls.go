package probe

import (
	"net/http"
	"strings"
)

// pulls are facts about pull requests.
func pulls() []Fact {
	const needs = "pull_requests:write contents:write"
	return []Fact{{
		ID: "pulls/mergeable",
		Text: "Whether a pull request can be merged is worked out in the background: who asks first is told " +
			"nothing, and nothing passes on that: a status may stand on the test merge.",
		Source: "rest/pulls/pulls",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.sharedPull()
			t.Until("a pull request without conflicts becomes mergeable", func() bool {
				a := t.Want(t.Get("/pulls/%d", p.Number), http.StatusOK)
				t.That(a.Str("mergeable") != "false", "true, or null for a while", "false")
				return a.Str("mergeable") == "true"
			})
		},
	}, {
		ID:     "pulls/head",
		Text:   "The head of a pull request follows a push to its branch.",
		Source: "rest/pulls/pulls",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.pull(t.base(), nil)
			sha := t.commitFile(p.Head)
			t.Want(t.push(p.Branch, sha, false), http.StatusOK)
			t.Until("the head of the pull request is what was pushed", func() bool {
				return t.Want(t.Get("/pulls/%d", p.Number), http.StatusOK).Str("head.sha") == sha
			})
		},
	}, {
		ID: "pulls/branch-deleted",
		Text: "A pull request is closed when its branch is deleted, unmerged, and can't be opened again " +
			"without it.",
		Source: "https://claudeatlas.com/skills/wan-huiyan/stacked-pr-base-branch-deletion-auto-closes-dependent/",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.pull(t.base(), nil)
			t.Want(t.Send(http.MethodDelete, "/git/refs/heads/"+p.Branch, nil), http.StatusNoContent)
			t.Until("the pull request is closed", func() bool {
				a := t.Want(t.Get("/pulls/%d", p.Number), http.StatusOK)
				return a.Str("state") == "closed" && a.Str("merged") == "false"
			})
			t.Want(t.Send(http.MethodPatch, path("/pulls/%d", p.Number), map[string]any{"state": "open"}),
				http.StatusUnprocessableEntity)
		},
	}, {
		ID:     "pulls/retarget",
		Text:   "The base of a pull request can be changed while it is open. Its head stays.",
		Source: "rest/pulls/pulls",
		Needs:  needs,
		Probe: func(t *Try) {
			p, base := t.pull(t.base(), nil), t.branch(t.start())
			t.Want(t.Send(http.MethodPatch, path("/pulls/%d", p.Number), map[string]any{"base": base}), http.StatusOK)
			a := t.Want(t.Get("/pulls/%d", p.Number), http.StatusOK)
			t.Equal("its base", a.Str("base.ref"), base)
			t.Equal("its head", a.Str("head.sha"), p.Head)
		},
	}, {
		ID: "pulls/one",
		Text: "There is one open pull request of a branch into another: the second is refused with `422` and " +
			"`A pull request already exists`. One without commits is refused, too.",
		Source: "rest/pulls/pulls",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.sharedPull()
			again := t.Post("/pulls", map[string]any{"title": t.name(), "head": p.Branch, "base": p.Base})
			t.Want(again, http.StatusUnprocessableEntity)
			t.That(strings.Contains(again.String(), "A pull request already exists"), "A pull request already exists",
				"%s", again)
			empty := t.Post("/pulls", map[string]any{"title": t.name(), "head": t.branch(t.start()), "base": p.Base})
			t.undoIssueLater("a pull request without commits", empty.Int("number"))
			t.Want(empty, http.StatusUnprocessableEntity)
			t.That(strings.Contains(empty.String(), "No commits between"), "No commits between", "%s", empty)
		},
	}, {
		ID:     "pulls/drafts",
		Text:   "A pull request becomes ready for review, and a draft again, through GraphQL alone.",
		Source: "graphql/reference/mutations#markpullrequestreadyforreview",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.draft()
			for _, c := range []struct {
				mutation string
				draft    bool
			}{{"markPullRequestReadyForReview", false}, {"convertPullRequestToDraft", true}} {
				t.setDraft(t.network, c.mutation, p)
				t.Equal("draft after "+c.mutation, t.Get("/pulls/%d", p.Number).At("draft"), c.draft)
			}
		},
	}, {
		ID:     "pulls/ready-permissions",
		Text:   "Ready for review needs `pull_requests: write` and `contents: write`.",
		Source: "https://github.com/cli/cli/discussions/6924",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.draft()
			token := t.narrowed(map[string]string{"pull_requests": "write"})
			a := t.setDraft(tokenAuth{t.raw.Network, token}, "markPullRequestReadyForReview", p)
			t.That(len(a.List("errors")) > 0, "an error without contents: write", "%s", a)
		},
	}, {
		ID: "pulls/closing-words",
		Text: "A pull request into the default branch of which the body says “Closes #1” is linked to that " +
			"issue, also as a draft. GraphQL alone tells.",
		Source: "issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue",
		Needs:  needs + " issues:write",
		Probe: func(t *Try) {
			issue := t.issue()
			p := t.pull(t.raw.DefaultBranch, map[string]any{"body": path("Closes #%d", issue)})
			t.Until("the issue is linked to the pull request that closes it", func() bool {
				a := t.GraphQL(closedBy, map[string]any{"number": issue, "commit": t.start(), "since": "2026-01-01T00:00:00Z"})
				return contains(a.Each("data.repository.issue.closedByPullRequestsReferences.nodes", "number"), p.Number)
			})
		},
	}, {
		ID:     "pulls/merge-of-another-head",
		Text:   "A merge that names another head than the present one is refused with `409`.",
		Source: "rest/pulls/pulls",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.sharedPull()
			t.Until("409 for a merge of another head", func() bool {
				a := t.Send(http.MethodPut, path("/pulls/%d/merge", p.Number), map[string]any{"sha": t.start()})
				t.Want(a, http.StatusConflict, http.StatusMethodNotAllowed) // 405 while it is being computed
				return a.Status == http.StatusConflict
			})
		},
	}, {
		ID:   "pulls/test-merge",
		Text: "A status on the test merge counts in the place of the head's of that context.",
		Source: "pull-requests/collaborating-with-pull-requests/" +
			"collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks",
		Needs: needs + " statuses:write",
		Probe: func(t *Try) {
			p, merge := t.pull(t.base(), nil), ""
			t.Until("a pull request without conflicts gets a test merge", func() bool {
				merge = t.look(p).Str("data.repository.pullRequest.potentialMergeCommit.oid")
				a := t.Want(t.Get("/pulls/%d", p.Number), http.StatusOK)
				return merge != "" && a.Str("merge_commit_sha") == merge
			})
			t.status(merge, mark+"-merge", "failure")
			t.Until("the status is told of the test merge", func() bool {
				a := t.look(p)
				told := a.Each("data.repository.pullRequest.potentialMergeCommit.status.contexts", "context")
				return contains(told, mark+"-merge")
			})
			on := t.look(p).Each("data.repository.object.status.contexts", "context")
			t.That(!contains(on, mark+"-merge"), "a status on the test merge is not one of the head", "it is")
		},
	}, {
		ID: "pulls/bots-commits",
		Text: "To GraphQL a bot is no user: the author of its commit has a name that ends in `[bot]`, and no " +
			"account.",
		Source: "graphql/reference/objects#gitactor",
		Needs:  needs,
		Probe: func(t *Try) {
			const author = "data.repository.pullRequest.commits.nodes.0.commit.author"
			a := t.look(t.sharedPull())
			t.That(strings.HasSuffix(a.Str(author+".name"), "[bot]"), "a name that ends in [bot]", "%q", a.Str(author+".name"))
			t.That(a.Has(author+".user") && a.At(author+".user") == nil, "no account", "%s", a.Str(author+".user"))
		},
	}}
}

// draft opens a draft pull request.
func (t *Try) draft() Pull {
	if !t.ok() {
		return Pull{}
	}
	p := Pull{Head: t.commitFile(t.start())}
	p.Branch = t.branch(p.Head)
	a := t.Post("/pulls", map[string]any{"title": p.Branch, "head": p.Branch, "base": t.base(), "draft": true})
	if a.Status == http.StatusUnprocessableEntity && strings.Contains(a.String(), "not supported") {
		t.Skip("needs a plan with drafts, or a public repository")
	}
	t.Want(a, http.StatusCreated)
	p.Number, p.Node = a.Int("number"), a.Str("node_id")
	t.undoIssueLater(p.Branch, p.Number)
	t.Equal("draft as asked for", a.At("draft"), true)
	return p
}

// setDraft runs one of the two mutations about drafts.
func (t *Try) setDraft(via http.RoundTripper, mutation string, p Pull) Answer {
	return t.Want(t.do(via, http.MethodPost, t.raw.GraphQL, nil, map[string]any{
		"query":     "mutation($id: ID!) { " + mutation + "(input: {pullRequestId: $id}) { pullRequest { isDraft } } }",
		"variables": map[string]any{"id": p.Node}}), http.StatusOK)
}

const closedBy = `query($owner: String!, $name: String!, $number: Int!, $commit: String!, $since: GitTimestamp!) {
	repository(owner: $owner, name: $name) {
		issue(number: $number) { closedByPullRequestsReferences(first: 20) { nodes { number state } } }
		object(expression: $commit) { ... on Commit { history(first: 1, since: $since) { nodes { oid } } } }
	}
}`
