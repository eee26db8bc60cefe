package ghsim

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (r *repository) comment(id int64) *comment {
	for _, i := range r.issues {
		for _, c := range i.comments {
			if c.id == id {
				return c
			}
		}
	}
	return nil
}

func (s *Server) addComment(r *repository, i *issue, a actor, body string) *comment {
	c := &comment{id: s.newID(), issue: i, by: a.user, app: a.app, body: body, made: s.now(), updated: s.now()}
	i.comments = append(i.comments, c)
	i.updated = s.now()
	s.commentEvent(r, a, c, "created", nil)
	return c
}

func (s *Server) editComment(r *repository, c *comment, a actor, body string) {
	if c.body == body {
		return
	}
	from := c.body
	c.body, c.updated, c.issue.updated = body, s.now(), s.now()
	c.edits++
	s.commentEvent(r, a, c, "edited", object{"changes": object{"body": object{"from": from}}})
}

func (s *Server) commentEvent(r *repository, a actor, c *comment, action string, extra object) {
	s.note(Entry{Kind: "issue_comment." + action, Actor: a.user.login, Repo: r.fullName(), Number: c.issue.number,
		Ref: strconv.FormatInt(c.id, 10), Detail: c.body})
	body := object{"issue": s.issueJSON(r, c.issue), "comment": s.commentJSON(r, c)}
	for k, v := range extra {
		body[k] = v
	}
	s.emit(r, a, "issue_comment", action, body)
}

func (s *Server) commentJSON(r *repository, c *comment) object {
	u := s.api("/repos/%s/issues/comments/%d", r.fullName(), c.id)
	kind := "issues"
	if c.issue.pull != nil {
		kind = "pull"
	}
	return object{
		"id": c.id, "node_id": nodeID("IC", c.id), "url": u,
		"html_url":  s.html("/%s/%s/%d#issuecomment-%d", r.fullName(), kind, c.issue.number, c.id),
		"issue_url": s.api("/repos/%s/issues/%d", r.fullName(), c.issue.number), "user": s.userJSON(c.by), "body": c.body,
		"created_at": stamp(c.made), "updated_at": stamp(c.updated), "author_association": r.association(c.by),
		"performed_via_github_app": s.appOrNull(c.app), "reactions": s.rollupJSON(u, c.reactions),
	}
}

// commentFullJSON adds what only the REST API answers.
func (s *Server) commentFullJSON(r *repository, c *comment) object {
	o := s.commentJSON(r, c)
	if c.app != nil {
		o["performed_via_github_app"] = s.integrationJSON(c.app)
	}
	return o
}

func (c *call) comment(level string) (*comment, error) {
	m := c.repo.comment(c.id("comment"))
	if m == nil {
		return nil, notFound()
	}
	return m, c.needIssue(m.issue, level)
}

func (s *Server) listComments(c *call) (answer, error) {
	i, err := c.issue("read")
	if err != nil {
		return answer{}, err
	}
	return s.pageComments(c, i.comments)
}

// listRepoComments is GET /repos/{owner}/{repo}/issues/comments.
func (s *Server) listRepoComments(c *call) (answer, error) {
	var cs []*comment
	for _, i := range c.repo.issues {
		cs = append(cs, i.comments...)
	}
	by := func(m *comment) time.Time { return m.made }
	if c.query.Get("sort") == "updated" {
		by = func(m *comment) time.Time { return m.updated }
	}
	slices.SortStableFunc(cs, func(a, b *comment) int { return by(a).Compare(by(b)) })
	if c.query.Get("direction") == "desc" {
		slices.Reverse(cs)
	}
	return s.pageComments(c, cs)
}

func (s *Server) pageComments(c *call, cs []*comment) (answer, error) {
	if since, err := time.Parse(time.RFC3339, c.query.Get("since")); err == nil {
		cs = slices.DeleteFunc(slices.Clone(cs), func(m *comment) bool { return m.updated.Before(since) })
	}
	return page(c, cs, "", func(m *comment) object { return s.commentFullJSON(c.repo, m) })
}

// commentText reads and checks the body of a new or changed comment.
func (c *call) commentText() (string, error) {
	var in struct {
		Body *string `json:"body"`
	}
	if err := c.decode(&in); err != nil {
		return "", err
	}
	if in.Body == nil || strings.TrimSpace(*in.Body) == "" {
		return "", invalid("IssueComment", "body", "unprocessable", "Body cannot be blank")
	}
	return *in.Body, checkBody("IssueComment", in.Body)
}

func (s *Server) createComment(c *call) (answer, error) {
	i, err := c.issue("write")
	if err != nil {
		return answer{}, err
	}
	body, err := c.commentText()
	if err != nil {
		return answer{}, err
	}
	return created(s.commentFullJSON(c.repo, s.addComment(c.repo, i, c.actor(), body))), nil
}

func (s *Server) getComment(c *call) (answer, error) {
	m, err := c.comment("read")
	if err != nil {
		return answer{}, err
	}
	return ok(s.commentFullJSON(c.repo, m)), nil
}

func (s *Server) patchComment(c *call) (answer, error) {
	m, err := c.comment("write")
	if err != nil {
		return answer{}, err
	}
	body, err := c.commentText()
	if err != nil {
		return answer{}, err
	}
	s.editComment(c.repo, m, c.actor(), body)
	return ok(s.commentFullJSON(c.repo, m)), nil
}

func (s *Server) deleteComment(c *call) (answer, error) {
	m, err := c.comment("write")
	if err != nil {
		return answer{}, err
	}
	m.issue.comments = slices.DeleteFunc(m.issue.comments, func(x *comment) bool { return x == m })
	s.commentEvent(c.repo, c.actor(), m, "deleted", nil)
	return answer{code: http.StatusNoContent}, nil
}
