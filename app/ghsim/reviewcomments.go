package ghsim

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// reviewComment is a comment on a line of a pull request, or a reply to one.
type reviewComment struct {
	id, review    int64 // review is the review that it belongs to
	issue         *issue
	by            *user
	body, path    string
	line          int
	sha           string
	replyTo       int64 // 0 for the first of a thread
	made, updated time.Time
	reactions     []*reaction
}

// ReviewCommentView is one comment on a line of a pull request.
type ReviewCommentView struct {
	ID, ReplyTo  int64 // ReplyTo is 0 for the first comment of a thread
	Author, Body string
	Path         string
	Line         int
}

// ReviewComment comments on a line of a pull request's head and returns the
// comment's id.
func (s *Server) ReviewComment(repo string, number int, login, path string, line int, body string) (id int64, err error) {
	err = s.onIssue(repo, number, login, "read", func(r *repository, i *issue, a actor) error {
		if i.pull == nil {
			return fmt.Errorf("%s#%d is not a pull request", repo, number)
		}
		id = s.addReviewComment(r, i, a, &reviewComment{body: body, path: path, line: line, review: s.newID()}).id
		return nil
	})
	return id, err
}

// ReplyToReview answers a comment on a line, and returns the reply's id.
func (s *Server) ReplyToReview(repo string, number int, login string, comment int64, body string) (id int64, err error) {
	err = s.onIssue(repo, number, login, "read", func(r *repository, i *issue, a actor) error {
		first := i.thread(comment)
		if first == nil {
			return fmt.Errorf("%s#%d has no comment %d on a line", repo, number, comment)
		}
		id = s.replyToReview(r, i, a, first, body).id
		return nil
	})
	return id, err
}

// thread is the first comment of a thread that a comment belongs to, or nil.
func (i *issue) thread(id int64) *reviewComment {
	if i.pull == nil {
		return nil
	}
	for _, c := range i.pull.threads {
		if c.id == id && c.replyTo != 0 {
			return i.thread(c.replyTo)
		}
		if c.id == id {
			return c
		}
	}
	return nil
}

func (s *Server) replyToReview(r *repository, i *issue, a actor, first *reviewComment, body string) *reviewComment {
	return s.addReviewComment(r, i, a, &reviewComment{body: body, path: first.path, line: first.line, replyTo: first.id, review: s.newID()})
}

func (s *Server) addReviewComment(r *repository, i *issue, a actor, c *reviewComment) *reviewComment {
	c.id, c.issue, c.by, c.sha, c.made, c.updated = s.newID(), i, a.user, i.pull.headSHA, s.now(), s.now()
	i.pull.threads = append(i.pull.threads, c)
	i.updated = s.now()
	s.note(Entry{Kind: "pull_request_review_comment.created", Actor: a.user.login, Repo: r.fullName(), Number: i.number,
		Ref: fmt.Sprintf("%s:%d", c.path, c.line), SHA: c.sha, Detail: c.body})
	s.emit(r, a, "pull_request_review_comment", "created", object{"comment": s.reviewCommentJSON(r, c), "pull_request": s.pullSimpleJSON(r, i)})
	return c
}

func (s *Server) reviewCommentJSON(r *repository, c *reviewComment) object {
	u := s.api("/repos/%s/pulls/comments/%d", r.fullName(), c.id)
	html := s.html("/%s/pull/%d#discussion_r%d", r.fullName(), c.issue.number, c.id)
	pull := s.api("/repos/%s/pulls/%d", r.fullName(), c.issue.number)
	o := object{
		"id": c.id, "node_id": nodeID("PRRC", c.id), "pull_request_review_id": c.review, "url": u, "html_url": html, "pull_request_url": pull,
		"diff_hunk": s.hunkAt(r, c), "path": c.path, "position": 1, "original_position": 1, "commit_id": c.sha, "original_commit_id": c.sha,
		"user": s.userJSON(c.by), "body": c.body, "created_at": stamp(c.made), "updated_at": stamp(c.updated),
		"author_association": r.association(c.by), "start_line": nil, "original_start_line": nil, "start_side": nil,
		"line": c.line, "original_line": c.line, "side": "RIGHT", "subject_type": "line", "reactions": s.rollupJSON(u, c.reactions),
		"_links": object{"self": object{"href": u}, "html": object{"href": html}, "pull_request": object{"href": pull}},
	}
	if c.replyTo != 0 {
		o["in_reply_to_id"] = c.replyTo
	}
	return o
}

// hunkAt is the beginning of the changed file's diff.
func (s *Server) hunkAt(r *repository, c *reviewComment) string {
	cmp := s.git.compare(r.dir, c.issue.pull.baseSHA, c.sha)
	n := slices.IndexFunc(cmp.files, func(f fileChange) bool { return f.path == c.path })
	if n < 0 {
		return ""
	}
	lines := strings.SplitN(cmp.files[n].patch, "\n", 12)
	return strings.Join(lines[:min(len(lines), 11)], "\n")
}

func (s *Server) listReviewComments(c *call) (answer, error) {
	i, err := c.pull()
	if err != nil {
		return answer{}, err
	}
	return page(c, i.pull.threads, "", func(m *reviewComment) object { return s.reviewCommentJSON(c.repo, m) })
}

func (c *call) reviewComment() (*reviewComment, error) {
	for _, i := range c.repo.issues {
		if i.pull == nil {
			continue
		}
		for _, m := range i.pull.threads {
			if m.id == c.id("review_comment") {
				return m, nil
			}
		}
	}
	return nil, notFound()
}

func (s *Server) getReviewComment(c *call) (answer, error) {
	m, err := c.reviewComment()
	if err != nil {
		return answer{}, err
	}
	return ok(s.reviewCommentJSON(c.repo, m)), nil
}

// createReviewComment is POST …/pulls/{number}/comments: a comment on a line, or
// with in_reply_to an answer to one, when everything else but the body is
// ignored.
func (s *Server) createReviewComment(c *call) (answer, error) {
	i, err := c.pull()
	if err != nil {
		return answer{}, err
	}
	body, err := c.commentText()
	if err != nil {
		return answer{}, err
	}
	var in struct {
		InReplyTo int64  `json:"in_reply_to"`
		Path      string `json:"path"`
		Line      int    `json:"line"`
		CommitID  string `json:"commit_id"`
	}
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	if in.InReplyTo != 0 {
		first := i.thread(in.InReplyTo)
		if first == nil {
			return answer{}, invalid("PullRequestReviewComment", "in_reply_to", "invalid", "")
		}
		return created(s.reviewCommentJSON(c.repo, s.replyToReview(c.repo, i, c.actor(), first, body))), nil
	}
	switch {
	case in.Path == "" || in.CommitID == "":
		return answer{}, invalid("PullRequestReviewComment", "path", "missing_field", "")
	case in.Line <= 0:
		return answer{}, invalid("PullRequestReviewComment", "line", "missing_field", "")
	}
	m := s.addReviewComment(c.repo, i, c.actor(), &reviewComment{body: body, path: in.Path, line: in.Line, review: s.newID()})
	return created(s.reviewCommentJSON(c.repo, m)), nil
}

// replyToThread is POST …/pulls/{number}/comments/{comment_id}/replies. Only the
// first comment of a thread can be replied to.
func (s *Server) replyToThread(c *call) (answer, error) {
	i, err := c.pull()
	if err != nil {
		return answer{}, err
	}
	first := i.thread(c.id("review_comment"))
	if first == nil || first.id != c.id("review_comment") {
		return answer{}, notFound()
	}
	body, err := c.commentText()
	if err != nil {
		return answer{}, err
	}
	return created(s.reviewCommentJSON(c.repo, s.replyToReview(c.repo, i, c.actor(), first, body))), nil
}
