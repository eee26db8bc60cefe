package ghsim

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// pullSpec is the body of creating a pull request.
type pullSpec struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	Head  string `json:"head"`
	Base  string `json:"base"`
	Draft bool   `json:"draft"`
}

func (s *Server) openPull(r *repository, a actor, in pullSpec) (*issue, error) {
	head := in.Head
	if owner, branch, is := strings.Cut(in.Head, ":"); is {
		if !strings.EqualFold(owner, r.owner.login) {
			return nil, invalid("PullRequest", "head", "invalid", "")
		}
		head = branch
	}
	headSHA, baseSHA := r.head(head), r.head(in.Base)
	switch {
	case strings.TrimSpace(in.Title) == "":
		return nil, invalid("PullRequest", "title", "missing_field", "")
	case headSHA == "":
		return nil, invalid("PullRequest", "head", "invalid", "")
	case baseSHA == "":
		return nil, invalid("PullRequest", "base", "invalid", "")
	}
	for _, i := range r.issues {
		if i.pull != nil && i.state == "open" && i.pull.head == head && i.pull.base == in.Base {
			return nil, invalid("PullRequest", "", "custom", fmt.Sprintf("A pull request already exists for %s:%s.", r.owner.login, head))
		}
	}
	if s.git.compare(r.dir, baseSHA, headSHA).ahead == 0 {
		return nil, invalid("PullRequest", "", "custom", fmt.Sprintf("No commits between %s and %s", in.Base, head))
	}
	r.lastNumber++
	i := &issue{id: s.newID(), number: r.lastNumber, title: in.Title, body: in.Body, by: a.user, app: a.app, state: "open",
		made: s.now(), updated: s.now()}
	i.pull = &pull{id: s.newID(), head: head, base: in.Base, headSHA: headSHA, baseSHA: baseSHA, draft: in.Draft}
	r.issues = append(r.issues, i)
	s.note(Entry{Kind: "pull_request.opened", Actor: a.user.login, Repo: r.fullName(), Number: i.number, Ref: head, SHA: headSHA, Detail: in.Title})
	s.emit(r, a, "pull_request", "opened", object{"number": i.number, "pull_request": s.pullJSON(r, i)})
	s.startWorkflows(r, a, "pull_request", head, headSHA)
	return i, nil
}

// setDraft moves a pull request between draft and ready for review.
func (s *Server) setDraft(r *repository, i *issue, a actor, draft bool) {
	if i.pull.draft == draft {
		return
	}
	i.pull.draft = draft
	action := "ready_for_review"
	if draft {
		action = "converted_to_draft"
	}
	s.issueEvent(r, i, a, action, i.pull.headSHA, nil)
}

func (s *Server) mergePull(r *repository, i *issue, a actor) (string, error) {
	p := i.pull
	switch {
	case p == nil:
		return "", errors.New("not a pull request")
	case i.state != "open":
		return "", errors.New("the pull request is closed")
	case p.draft:
		return "", errors.New("the pull request is a draft: mark it ready for review first")
	}
	base := r.head(p.base)
	tree, clean := s.git.mergeTree(r.dir, base, p.headSHA)
	if !clean {
		return "", fmt.Errorf("%s conflicts with %s", p.head, p.base)
	}
	message := fmt.Sprintf("Merge pull request #%d from %s/%s\n\n%s", i.number, r.owner.login, p.head, i.title)
	sha, err := s.git.commitTree(r.dir, tree, []string{base, p.headSHA}, message, ident{a.user.login, s.email(a.user), s.now()})
	if err != nil {
		return "", err
	}
	if err := s.git.setRef(r.dir, "refs/heads/"+p.base, sha, base); err != nil {
		return "", err
	}
	r.refs["refs/heads/"+p.base] = sha
	p.mergedAt, p.mergedBy, p.mergeSHA = s.now(), a.user, sha
	s.note(Entry{Kind: "pull_request.merged", Actor: a.user.login, Repo: r.fullName(), Number: i.number, Ref: p.base, SHA: sha})
	s.setState(r, i, a, "closed", "")
	s.closeLinked(r, i, a)
	s.refMoved(r, a, "refs/heads/"+p.base, base, sha)
	return sha, nil
}

// closeLinked closes the issues that a merged pull request's text says it closes.
// https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
func (s *Server) closeLinked(r *repository, i *issue, a actor) {
	if i.pull.base != r.defaultBranch {
		return
	}
	for _, m := range closing.FindAllStringSubmatch(i.body, -1) {
		if linked := r.issue(atoi(m[1])); linked != nil && linked.pull == nil {
			s.setState(r, linked, a, "closed", "completed")
		}
	}
}

// endJSON is one end of a pull request; the simulator has no forks.
func (s *Server) endJSON(r *repository, branch, sha string) object {
	return object{"label": r.owner.login + ":" + branch, "ref": branch, "sha": sha, "user": s.userJSON(r.owner), "repo": s.repoJSON(r)}
}

// pullSimpleJSON is a pull request as lists carry it.
func (s *Server) pullSimpleJSON(r *repository, i *issue) object {
	p := i.pull
	u := s.api("/repos/%s/pulls/%d", r.fullName(), i.number)
	issue := s.api("/repos/%s/issues/%d", r.fullName(), i.number)
	html := s.html("/%s/pull/%d", r.fullName(), i.number)
	statuses := s.api("/repos/%s/statuses/%s", r.fullName(), p.headSHA)
	href := func(s string) object { return object{"href": s} }
	review := s.api("/repos/%s/pulls/comments{/number}", r.fullName())
	return object{
		"id": p.id, "node_id": nodeID("PR", i.id), "number": i.number, "url": u, "html_url": html, "diff_url": html + ".diff",
		"patch_url": html + ".patch", "issue_url": issue, "state": i.state, "locked": false, "title": i.title, "user": s.userJSON(i.by),
		"body": orNull(i.body), "created_at": stamp(i.made), "updated_at": stamp(i.updated), "closed_at": stamp(i.closed),
		"merged_at": stamp(p.mergedAt), "merge_commit_sha": orNull(p.mergeSHA), "assignee": s.userOrNull(i.assignee()),
		"assignees": s.usersJSON(i.assignees), "requested_reviewers": s.usersJSON(p.reviewers), "requested_teams": []object{},
		"labels": s.labelsJSON(r, i.labels), "milestone": nil, "draft": p.draft, "commits_url": u + "/commits",
		"review_comments_url": u + "/comments", "review_comment_url": review, "comments_url": issue + "/comments", "statuses_url": statuses,
		"head": s.endJSON(r, p.head, p.headSHA), "base": s.endJSON(r, p.base, p.baseSHA),
		"_links": object{"self": href(u), "html": href(html), "issue": href(issue), "comments": href(issue + "/comments"),
			"review_comments": href(u + "/comments"), "review_comment": href(review), "commits": href(u + "/commits"), "statuses": href(statuses)},
		"author_association": r.association(i.by), "auto_merge": nil, "active_lock_reason": nil,
	}
}

// pullJSON is a pull request in full.
func (s *Server) pullJSON(r *repository, i *issue) object {
	p := i.pull
	cmp := s.git.compare(r.dir, p.baseSHA, p.headSHA)
	additions, deletions := cmp.totals()
	mergeable, state := any(nil), "unknown"
	if i.state == "open" {
		_, clean := s.git.mergeTree(r.dir, r.head(p.base), p.headSHA)
		mergeable, state = clean, "clean"
		switch {
		case !clean:
			state = "dirty"
		case p.draft:
			state = "draft"
		}
	}
	o := s.pullSimpleJSON(r, i)
	maps.Copy(o, object{
		"merged": !p.mergedAt.IsZero(), "mergeable": mergeable, "rebaseable": mergeable, "mergeable_state": state,
		"merged_by": s.userOrNull(p.mergedBy), "comments": len(i.comments), "review_comments": len(p.threads), "maintainer_can_modify": false,
		"commits": len(cmp.commits), "additions": additions, "deletions": deletions, "changed_files": len(cmp.files),
	})
	return o
}

// pullStubs are the open pull requests whose head a commit is, as checks list
// them.
func (s *Server) pullStubs(r *repository, sha string) []object {
	end := func(ref, sha string) object {
		return object{"ref": ref, "sha": sha, "repo": object{"id": r.id, "url": s.api("/repos/%s", r.fullName()), "name": r.name}}
	}
	out := []object{}
	for _, i := range r.issues {
		if i.pull != nil && i.state == "open" && i.pull.headSHA == sha {
			out = append(out, object{"id": i.pull.id, "number": i.number, "url": s.api("/repos/%s/pulls/%d", r.fullName(), i.number),
				"head": end(i.pull.head, sha), "base": end(i.pull.base, i.pull.baseSHA)})
		}
	}
	return out
}

func (c *call) pull() (*issue, error) {
	if i := c.repo.issue(int(c.id("number"))); i != nil && i.pull != nil {
		return i, nil
	}
	return nil, notFound()
}

// listPulls is GET /repos/{owner}/{repo}/pulls, newest first unless told.
func (s *Server) listPulls(c *call) (answer, error) {
	state := c.query.Get("state")
	if state == "" {
		state = "open"
	}
	var is []*issue
	for _, i := range c.repo.issues {
		if i.pull == nil || state != "all" && i.state != state {
			continue
		}
		if h := c.query.Get("head"); h != "" && !strings.EqualFold(h, c.repo.owner.login+":"+i.pull.head) {
			continue
		}
		if b := c.query.Get("base"); b != "" && b != i.pull.base {
			continue
		}
		is = append(is, i)
	}
	if c.query.Get("direction") != "asc" {
		slices.Reverse(is)
	}
	return page(c, is, "", func(i *issue) object { return s.pullSimpleJSON(c.repo, i) })
}

func (s *Server) createPull(c *call) (answer, error) {
	var in pullSpec
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	if err := checkBody("PullRequest", &in.Body); err != nil {
		return answer{}, err
	}
	i, err := s.openPull(c.repo, c.actor(), in)
	if err != nil {
		return answer{}, err
	}
	return created(s.pullJSON(c.repo, i)), nil
}

func (s *Server) getPull(c *call) (answer, error) {
	i, err := c.pull()
	if err != nil {
		return answer{}, err
	}
	return ok(s.pullJSON(c.repo, i)), nil
}

func (s *Server) patchPull(c *call) (answer, error) {
	i, err := c.pull()
	if err != nil {
		return answer{}, err
	}
	var in struct {
		issueInput
		Base *string `json:"base"`
	}
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	if err := checkBody("PullRequest", in.Body); err != nil {
		return answer{}, err
	}
	if in.State != nil && *in.State != "open" && *in.State != "closed" {
		return answer{}, invalid("PullRequest", "state", "invalid", "")
	}
	if in.State != nil && *in.State == "open" && (i.pull.mergeSHA != "" || c.repo.head(i.pull.head) == "") {
		return answer{}, invalid("PullRequest", "state", "invalid", "state cannot be changed. The pull request cannot be reopened.")
	}
	if in.Base != nil && c.repo.head(*in.Base) == "" {
		return answer{}, invalid("PullRequest", "base", "invalid", "")
	}
	s.editIssue(c.repo, i, c.actor(), in.Title, in.Body)
	if in.Base != nil {
		i.pull.base, i.pull.baseSHA = *in.Base, c.repo.head(*in.Base)
	}
	if in.State != nil {
		s.setState(c.repo, i, c.actor(), *in.State, "")
	}
	return ok(s.pullJSON(c.repo, i)), nil
}

func (s *Server) listPullFiles(c *call) (answer, error) {
	i, err := c.pull()
	if err != nil {
		return answer{}, err
	}
	cmp := s.git.compare(c.repo.dir, i.pull.baseSHA, i.pull.headSHA)
	return page(c, cmp.files, "", func(f fileChange) object { return s.fileJSON(c.repo, i.pull.headSHA, f) })
}

func (s *Server) listPullCommits(c *call) (answer, error) {
	i, err := c.pull()
	if err != nil {
		return answer{}, err
	}
	cmp := s.git.compare(c.repo.dir, i.pull.baseSHA, i.pull.headSHA)
	return page(c, cmp.commits, "", func(f commitFacts) object { return s.commitJSON(c.repo, f) })
}

func (s *Server) getReviewers(c *call) (answer, error) {
	i, err := c.pull()
	if err != nil {
		return answer{}, err
	}
	return ok(object{"users": s.usersJSON(i.pull.reviewers), "teams": []object{}}), nil
}

func (s *Server) requestReviewers(c *call) (answer, error) {
	i, err := c.pull()
	if err != nil {
		return answer{}, err
	}
	var in struct {
		Reviewers []string `json:"reviewers"`
	}
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	for _, l := range in.Reviewers {
		u := s.users[lower(l)]
		if u == nil || !atLeast(c.repo.role(l), "read") {
			return answer{}, &apiError{code: http.StatusUnprocessableEntity,
				message: "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the " + c.repo.fullName() + " repository."}
		}
		if !slices.Contains(i.pull.reviewers, u) {
			i.pull.reviewers = append(i.pull.reviewers, u)
			s.issueEvent(c.repo, i, c.actor(), "review_requested", u.login, object{"requested_reviewer": s.userJSON(u)})
		}
	}
	return created(s.pullSimpleJSON(c.repo, i)), nil
}
