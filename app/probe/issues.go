package probe

import (
	"net/http"
	"strings"
)

// issues are facts about issues and comments.
func issues() []Fact {
	return []Fact{{
		ID: "issues/markers",
		Text: "A comment's body comes back as it was written, with what Markdown does not show. So SIA knows " +
			"its own by a marker.",
		Source: "rest/issues/comments",
		Needs:  "issues:write",
		Probe: func(t *Try) {
			const body = "<!-- sia:v1 task=1-1 kind=status key=1 -->\n**Text**, `code` and a last line\n\n- [ ] one"
			a := t.Want(t.Post(path("/issues/%d/comments", t.sharedIssue()), map[string]any{"body": body}), http.StatusCreated)
			t.Equal("the body of a comment", t.Get("/issues/comments/%d", a.Int("id")).Str("body"), body)
		},
	}, {
		ID:     "issues/length",
		Text:   "A body has 65,536 characters at most; a longer one is refused with `422`.",
		Source: "https://github.com/danger/danger/issues/424",
		Needs:  "issues:write",
		Probe: func(t *Try) {
			on := path("/issues/%d/comments", t.sharedIssue())
			t.Want(t.Post(on, map[string]any{"body": strings.Repeat("a", 65536)}), http.StatusCreated)
			t.Want(t.Post(on, map[string]any{"body": strings.Repeat("a", 65537)}), http.StatusUnprocessableEntity)
		},
	}, {
		ID:     "issues/reactions",
		Text:   "A reaction is there once: `201`, and `200` when it was there.",
		Source: "rest/reactions/reactions",
		Needs:  "issues:write",
		Probe: func(t *Try) {
			on := path("/issues/%d/reactions", t.issue())
			t.Want(t.Post(on, map[string]any{"content": "eyes"}), http.StatusCreated)
			t.Want(t.Post(on, map[string]any{"content": "eyes"}), http.StatusOK)
		},
	}, {
		ID:     "issues/labels",
		Text:   "A label's name is taken whatever the case: `422` with `already_exists`.",
		Source: "rest/issues/labels",
		Needs:  "issues:write",
		Probe: func(t *Try) {
			name := t.label()
			a := t.Post("/labels", map[string]any{"name": strings.ToUpper(name), "color": "ededed"})
			t.Want(a, http.StatusUnprocessableEntity)
			t.Equal("why", a.Str("errors.0.code"), "already_exists")
		},
	}, {
		ID:     "issues/pulls-are-issues",
		Text:   "Pull requests are listed among issues, with a key `pull_request`.",
		Source: "rest/issues/issues",
		Needs:  "issues:read pull_requests:write contents:write",
		Probe: func(t *Try) {
			p := t.sharedPull()
			t.That(t.Want(t.Get("/issues/%d", p.Number), http.StatusOK).Has("pull_request"), "a key pull_request", "none")
			t.That(!t.Want(t.Get("/issues/%d", t.sharedIssue()), http.StatusOK).Has("pull_request"), "none for an issue", "one")
		},
	}, {
		ID:     "issues/closed",
		Text:   "An issue is closed with a reason, and can be opened again.",
		Source: "rest/issues/issues",
		Needs:  "issues:write",
		Probe: func(t *Try) {
			at := path("/issues/%d", t.issue())
			a := t.Want(t.Send(http.MethodPatch, at, map[string]any{"state": "closed", "state_reason": "not_planned"}),
				http.StatusOK)
			t.Equal("state and reason", a.Str("state")+" "+a.Str("state_reason"), "closed not_planned")
			a = t.Want(t.Send(http.MethodPatch, at, map[string]any{"state": "open"}), http.StatusOK)
			t.Equal("state and reason", a.Str("state")+" "+a.Str("state_reason"), "open reopened")
		},
	}, {
		ID: "issues/blocked-by",
		Text: "An issue tells how many open issues block it, and a list tells which: a blocked one is asked about " +
			"instead of started.",
		Source: "rest/issues/issue-dependencies",
		Needs:  "issues:write",
		Probe: func(t *Try) {
			number, blocker := t.issue(), t.issue()
			on := path("/issues/%d/dependencies/blocked_by", number)
			a := t.Post(on, map[string]any{"issue_id": t.Get("/issues/%d", blocker).Int("id")})
			t.dependsOn(a)
			t.Until("the list of what blocks the issue holds the other", func() bool {
				return contains(t.Want(t.Get("%s", on), http.StatusOK).Each("", "number"), blocker)
			})
			t.Until("one open issue in issue_dependencies_summary", func() bool {
				return t.Get("/issues/%d", number).Int("issue_dependencies_summary.blocked_by") == 1
			})
		},
	}, {
		ID:     "issues/sub-issues",
		Text:   "An issue tells how many sub-issues it has, and how many of them are done.",
		Source: "rest/issues/sub-issues",
		Needs:  "issues:write",
		Probe: func(t *Try) {
			number, sub := t.issue(), t.issue()
			t.dependsOn(t.Post(path("/issues/%d/sub_issues", number),
				map[string]any{"sub_issue_id": t.Get("/issues/%d", sub).Int("id")}))
			t.Until("one in sub_issues_summary, and none done", func() bool {
				a := t.Get("/issues/%d", number)
				return a.Int("sub_issues_summary.total") == 1 && a.Str("sub_issues_summary.completed") == "0"
			})
		},
	}}
}

// dependsOn expects that a dependency between issues was created.
func (t *Try) dependsOn(a Answer) {
	if a.Status == http.StatusNotFound {
		t.Skip("needs a GitHub with sub-issues and dependencies, which older servers lack")
	}
	t.Want(a, http.StatusCreated)
}

// label creates a label.
func (t *Try) label() string {
	name := t.unique("label")
	if t.ok() {
		t.undos = append(t.undos, undoLabel(name))
	}
	t.Want(t.Post("/labels", map[string]any{"name": name, "color": "ededed"}), http.StatusCreated)
	return name
}
