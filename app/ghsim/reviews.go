package ghsim

import (
	"regexp"
	"strings"
)

// closing is what links a pull request to the issue that it closes.
var closing = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)\b`)

func (s *Server) submitReview(r *repository, i *issue, a actor, state, body string) {
	v := &review{id: s.newID(), by: a.user, state: state, body: body, sha: i.pull.headSHA, at: s.now()}
	i.pull.reviews = append(i.pull.reviews, v)
	i.updated = s.now()
	s.note(Entry{Kind: "pull_request_review.submitted", Actor: a.user.login, Repo: r.fullName(), Number: i.number, Ref: state, SHA: v.sha, Detail: body})
	s.emit(r, a, "pull_request_review", "submitted", object{"review": s.reviewJSON(r, i, v), "pull_request": s.pullSimpleJSON(r, i)})
}

// reviewJSON is a review; payloads print its state in lower case.
func (s *Server) reviewJSON(r *repository, i *issue, v *review) object {
	html := s.html("/%s/pull/%d#pullrequestreview-%d", r.fullName(), i.number, v.id)
	pull := s.api("/repos/%s/pulls/%d", r.fullName(), i.number)
	return object{
		"id": v.id, "node_id": nodeID("PRR", v.id), "user": s.userJSON(v.by), "body": v.body, "state": v.state, "commit_id": v.sha,
		"submitted_at": stamp(v.at), "html_url": html, "pull_request_url": pull, "author_association": r.association(v.by),
		"_links": object{"html": object{"href": html}, "pull_request": object{"href": pull}},
	}
}

func (s *Server) listReviews(c *call) (answer, error) {
	i, err := c.pull()
	if err != nil {
		return answer{}, err
	}
	return page(c, i.pull.reviews, "", func(v *review) object {
		o := s.reviewJSON(c.repo, i, v)
		o["state"] = strings.ToUpper(v.state)
		return o
	})
}
