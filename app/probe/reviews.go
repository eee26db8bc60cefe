package probe

import (
	"net/http"
	"strings"
)

// reviews are facts about reviews and comments on lines.
func reviews() []Fact {
	const needs = "pull_requests:write contents:write"
	return []Fact{{
		ID: "reviews/comment-on-a-line",
		Text: "Each comment on a line belongs to a review, also an answer: GitHub makes a review of it that " +
			"only comments. The deliveries of a review and of its comments come in any order, so what it " +
			"says is read when the attempt begins.",
		Source: "rest/pulls/comments",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.sharedPull()
			made := t.lineComment(p, 1)
			answer := t.Want(t.Post(path("/pulls/%d/comments/%d/replies", p.Number, made.Int("id")),
				map[string]any{"body": "An answer."}), http.StatusCreated)
			states := map[string]string{}
			a := t.Want(t.Get("/pulls/%d/reviews?per_page=100", p.Number), http.StatusOK)
			for i, id := range a.Each("", "id") {
				states[id] = a.Str(path("%d.state", i))
			}
			for what, c := range map[string]Answer{"the review of a comment": made, "the review of an answer": answer} {
				t.Equal(what, states[c.Str("pull_request_review_id")], "COMMENTED")
			}
		},
	}, {
		ID: "reviews/outdated",
		Text: "Where a comment's lines were changed since, it has no `line` any more; the hunk it was written " +
			"on stays.",
		Source: "rest/pulls/comments",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.pull(t.base(), nil)
			made := t.lineComment(p, 1)
			t.Want(t.push(p.Branch, t.commitFile(p.Head), false), http.StatusOK) // changes the first line
			t.Until("a comment on a line that was changed has no line", func() bool {
				a := t.Want(t.Get("/pulls/comments/%d", made.Int("id")), http.StatusOK)
				t.Equal("its original line", a.Int("original_line"), 1)
				t.That(a.Str("diff_hunk") != "", "the hunk it was written on", "nothing")
				return a.Str("line") == ""
			})
		},
	}, {
		ID: "reviews/line-outside",
		Text: "A review is refused as a whole when one of its comments is on a line that the diff does not " +
			"show. Then it is submitted once more with all of it in its body.",
		Source: "rest/pulls/reviews",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.sharedPull()
			body := t.unique("review")
			t.Want(t.Post(path("/pulls/%d/reviews", p.Number), map[string]any{"event": "COMMENT", "body": body,
				"comments": []map[string]any{t.onLine(1), t.onLine(4000)}}), http.StatusUnprocessableEntity)
			a := t.Want(t.Get("/pulls/%d/reviews?per_page=100", p.Number), http.StatusOK)
			t.That(!contains(a.Each("", "body"), body), "nothing of a review that was refused", "the review is there")
		},
	}, {
		ID: "reviews/own",
		Text: "A review that approves or asks for changes may count for a branch's rules; one that comments " +
			"never does. SIA's comment. Nobody approves their own pull request: `422`.",
		Source: "rest/pulls/reviews",
		Needs:  needs,
		Probe: func(t *Try) {
			p := t.sharedPull()
			a := t.Post(path("/pulls/%d/reviews", p.Number), map[string]any{"event": "APPROVE", "body": t.unique("review")})
			t.Want(a, http.StatusUnprocessableEntity)
			t.That(strings.Contains(strings.ToLower(a.String()), "own pull request"), "Can not approve your own pull request",
				"%s", a)
			a = t.Post(path("/pulls/%d/reviews", p.Number), map[string]any{"event": "COMMENT", "body": t.unique("review")})
			t.Equal("the state of a review that comments", t.Want(a, http.StatusOK).Str("state"), "COMMENTED")
		},
	}}
}

// onLine returns a comment on a line of the file that the bench's commits add.
func (t *Try) onLine(line int) map[string]any {
	return map[string]any{"path": mark + ".txt", "line": line, "side": "RIGHT", "body": "A comment."}
}

// lineComment comments on a line of a pull request.
func (t *Try) lineComment(p Pull, line int) Answer {
	body := t.onLine(line)
	body["commit_id"] = p.Head
	return t.Want(t.Post(path("/pulls/%d/comments", p.Number), body), http.StatusCreated)
}
