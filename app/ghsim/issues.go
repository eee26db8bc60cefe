package ghsim

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

func (s *Server) openIssue(r *repository, a actor, title, body string) *issue {
	r.lastNumber++
	i := &issue{id: s.newID(), number: r.lastNumber, title: title, body: body, by: a.user, app: a.app, state: "open",
		made: s.now(), updated: s.now()}
	r.issues = append(r.issues, i)
	s.note(Entry{Kind: "issues.opened", Actor: a.user.login, Repo: r.fullName(), Number: i.number, Detail: title})
	s.emit(r, a, "issues", "opened", object{"issue": s.issueJSON(r, i)})
	return i
}

// event is the name of the events about an issue or a pull request.
func (i *issue) event() string {
	if i.pull != nil {
		return "pull_request"
	}
	return "issues"
}

// issueEvent notes and sends an event about an issue or a pull request.
func (s *Server) issueEvent(r *repository, i *issue, a actor, action, detail string, extra object) {
	i.updated = s.now()
	s.note(Entry{Kind: i.event() + "." + action, Actor: a.user.login, Repo: r.fullName(), Number: i.number, Detail: detail})
	body := object{}
	maps.Copy(body, extra)
	if i.pull != nil {
		body["number"], body["pull_request"] = i.number, s.pullJSON(r, i)
	} else {
		body["issue"] = s.issueJSON(r, i)
	}
	s.emit(r, a, i.event(), action, body)
}

func (s *Server) editIssue(r *repository, i *issue, a actor, title, body *string) {
	changes := object{}
	if title != nil && *title != i.title {
		changes["title"] = object{"from": i.title}
		i.title = *title
	}
	if body != nil && *body != i.body {
		changes["body"] = object{"from": i.body}
		i.body = *body
	}
	if len(changes) > 0 {
		s.issueEvent(r, i, a, "edited", strings.Join(slices.Sorted(maps.Keys(changes)), ","), object{"changes": changes})
	}
}

func (s *Server) setState(r *repository, i *issue, a actor, state, reason string) {
	if i.state == state {
		return
	}
	i.state, i.reason = state, reason
	if state == "open" {
		i.closed, i.closedBy = time.Time{}, nil
		s.issueEvent(r, i, a, "reopened", "", nil)
		return
	}
	i.closed, i.closedBy = s.now(), a.user
	s.issueEvent(r, i, a, "closed", reason, nil)
}

func (s *Server) assign(r *repository, i *issue, a actor, u *user) {
	if slices.Contains(i.assignees, u) {
		return
	}
	i.assignees = append(i.assignees, u)
	s.issueEvent(r, i, a, "assigned", u.login, object{"assignee": s.userJSON(u)})
}

func (s *Server) unassign(r *repository, i *issue, a actor, u *user) {
	n := slices.Index(i.assignees, u)
	if n < 0 {
		return
	}
	i.assignees = slices.Delete(i.assignees, n, n+1)
	s.issueEvent(r, i, a, "unassigned", u.login, object{"assignee": s.userJSON(u)})
}

func (i *issue) assignee() *user {
	if len(i.assignees) == 0 {
		return nil
	}
	return i.assignees[0]
}

// issueJSON is an issue, or the issue side of a pull request.
func (s *Server) issueJSON(r *repository, i *issue) object {
	repo := s.api("/repos/%s", r.fullName())
	u := s.api("/repos/%s/issues/%d", r.fullName(), i.number)
	kind := "issues"
	if i.pull != nil {
		kind = "pull"
	}
	o := object{
		"id": i.id, "node_id": nodeID("I", i.id), "number": i.number, "url": u, "repository_url": repo,
		"labels_url": u + "/labels{/name}", "comments_url": u + "/comments", "events_url": u + "/events",
		"html_url": s.html("/%s/%s/%d", r.fullName(), kind, i.number), "timeline_url": u + "/timeline",
		"title": i.title, "body": orNull(i.body), "user": s.userJSON(i.by), "state": i.state, "state_reason": orNull(i.reason),
		"labels": s.labelsJSON(r, i.labels), "assignee": s.userOrNull(i.assignee()), "assignees": s.usersJSON(i.assignees),
		"milestone": nil, "locked": false, "active_lock_reason": nil, "comments": len(i.comments),
		"created_at": stamp(i.made), "updated_at": stamp(i.updated), "closed_at": stamp(i.closed),
		"author_association": r.association(i.by), "reactions": s.rollupJSON(u, i.reactions),
		"performed_via_github_app": s.appOrNull(i.app),
	}
	if p := i.pull; p != nil {
		html := s.html("/%s/pull/%d", r.fullName(), i.number)
		o["draft"] = p.draft
		o["node_id"] = nodeID("PR", i.id)
		o["pull_request"] = object{"url": s.api("/repos/%s/pulls/%d", r.fullName(), i.number), "html_url": html,
			"diff_url": html + ".diff", "patch_url": html + ".patch", "merged_at": stamp(p.mergedAt)}
	}
	return o
}

// issueFullJSON adds what only the REST API answers.
func (s *Server) issueFullJSON(r *repository, i *issue) object {
	o := s.issueJSON(r, i)
	o["closed_by"] = s.userOrNull(i.closedBy)
	if i.app != nil {
		o["performed_via_github_app"] = s.integrationJSON(i.app)
	}
	return o
}

// issue is the issue or pull request that the request is about. Pull requests
// are reached with the issues or the pull_requests permission.
func (c *call) issue(level string) (*issue, error) {
	i := c.repo.issue(int(c.id("number")))
	if i == nil {
		if err := c.need("issues", level); err != nil {
			return nil, err
		}
		return nil, notFound()
	}
	return i, c.needIssue(i, level)
}

func (c *call) needIssue(i *issue, level string) error {
	if i.pull != nil && c.token.may("pull_requests", level) {
		return nil
	}
	return c.need("issues", level)
}

func (s *Server) getIssue(c *call) (answer, error) {
	i, err := c.issue("read")
	if err != nil {
		return answer{}, err
	}
	return ok(s.issueFullJSON(c.repo, i)), nil
}

// listIssues is GET /repos/{owner}/{repo}/issues, newest first unless told.
func (s *Server) listIssues(c *call) (answer, error) {
	state := c.query.Get("state")
	if state == "" {
		state = "open"
	}
	since, _ := time.Parse(time.RFC3339, c.query.Get("since"))
	var is []*issue
	for _, i := range c.repo.issues {
		if state != "all" && i.state != state || i.updated.Before(since) {
			continue
		}
		if who := c.query.Get("creator"); who != "" && !strings.EqualFold(who, i.by.login) {
			continue
		}
		if want := c.query.Get("labels"); want != "" && !i.hasLabels(strings.Split(want, ",")) {
			continue
		}
		if who := c.query.Get("assignee"); who != "" && who != "*" && !slices.ContainsFunc(i.assignees, func(u *user) bool { return strings.EqualFold(u.login, who) }) {
			continue
		}
		is = append(is, i)
	}
	by := func(i *issue) time.Time { return i.made }
	if c.query.Get("sort") == "updated" {
		by = func(i *issue) time.Time { return i.updated }
	}
	slices.SortStableFunc(is, func(a, b *issue) int {
		if n := by(a).Compare(by(b)); n != 0 {
			return n
		}
		return a.number - b.number
	})
	if c.query.Get("direction") != "asc" {
		slices.Reverse(is)
	}
	return page(c, is, "", func(i *issue) object { return s.issueFullJSON(c.repo, i) })
}

func (i *issue) hasLabels(names []string) bool {
	for _, n := range names {
		if !slices.ContainsFunc(i.labels, func(l *label) bool { return strings.EqualFold(l.name, n) }) {
			return false
		}
	}
	return true
}

// issueInput is the body of creating or changing an issue. Pointers tell what
// is absent.
type issueInput struct {
	Title       *string         `json:"title"`
	Body        *string         `json:"body"`
	State       *string         `json:"state"`
	StateReason *string         `json:"state_reason"`
	Labels      json.RawMessage `json:"labels"`
	Assignees   *[]string       `json:"assignees"`
}

func (s *Server) createIssue(c *call) (answer, error) {
	var in issueInput
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	if in.Title == nil || strings.TrimSpace(*in.Title) == "" {
		return answer{}, invalid("Issue", "title", "missing_field", "")
	}
	if err := checkBody("Issue", in.Body); err != nil {
		return answer{}, err
	}
	names, err := labelNames(in.Labels)
	if err != nil {
		return answer{}, err
	}
	assignees, err := s.assignees(c.repo, in.Assignees)
	if err != nil {
		return answer{}, err
	}
	body := ""
	if in.Body != nil {
		body = *in.Body
	}
	i := s.openIssue(c.repo, c.actor(), *in.Title, body)
	for _, n := range names {
		s.addLabel(c.repo, i, c.actor(), s.ensureLabel(c.repo, n))
	}
	for _, u := range assignees {
		s.assign(c.repo, i, c.actor(), u)
	}
	return created(s.issueFullJSON(c.repo, i)), nil
}

func (s *Server) patchIssue(c *call) (answer, error) {
	i, err := c.issue("write")
	if err != nil {
		return answer{}, err
	}
	var in issueInput
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	if err := checkBody("Issue", in.Body); err != nil {
		return answer{}, err
	}
	if in.Title != nil && strings.TrimSpace(*in.Title) == "" {
		return answer{}, invalid("Issue", "title", "missing_field", "")
	}
	if in.State != nil && *in.State != "open" && *in.State != "closed" {
		return answer{}, invalid("Issue", "state", "invalid", "")
	}
	assignees, err := s.assignees(c.repo, in.Assignees)
	if err != nil {
		return answer{}, err
	}
	names, err := labelNames(in.Labels)
	if err != nil {
		return answer{}, err
	}
	r, a := c.repo, c.actor()
	s.editIssue(r, i, a, in.Title, in.Body)
	if in.Labels != nil {
		s.setLabels(r, i, a, names)
	}
	if in.Assignees != nil {
		for _, u := range slices.Clone(i.assignees) {
			if !slices.Contains(assignees, u) {
				s.unassign(r, i, a, u)
			}
		}
		for _, u := range assignees {
			s.assign(r, i, a, u)
		}
	}
	if in.State != nil {
		s.setState(r, i, a, *in.State, stateReason(*in.State, in.StateReason))
	}
	return ok(s.issueFullJSON(r, i)), nil
}

func stateReason(state string, asked *string) string {
	switch {
	case asked != nil && *asked != "":
		return *asked
	case state == "open":
		return "reopened"
	}
	return "completed"
}

// maxText is the longest body GitHub takes, in characters.
const maxText = 65536

func checkBody(resource string, body *string) error {
	if body != nil && len([]rune(*body)) > maxText {
		return invalid(resource, "body", "custom", "body is too long (maximum is 65536 characters)")
	}
	return nil
}

// assignees are the users of a list of logins; people without access can't be
// assigned.
func (s *Server) assignees(r *repository, logins *[]string) ([]*user, error) {
	var us []*user
	if logins == nil {
		return nil, nil
	}
	for _, l := range *logins {
		u := s.users[lower(l)]
		if u == nil || u.kind != "User" || !atLeast(r.role(l), "read") {
			return nil, invalid("Issue", "assignees", "invalid", "")
		}
		us = append(us, u)
	}
	return us, nil
}

func (s *Server) changeAssignees(add bool) func(*call) (answer, error) {
	return func(c *call) (answer, error) {
		i, err := c.issue("write")
		if err != nil {
			return answer{}, err
		}
		var in struct {
			Assignees []string `json:"assignees"`
		}
		if err := c.decode(&in); err != nil {
			return answer{}, err
		}
		for _, l := range in.Assignees { // logins that can't be assigned are passed over, as GitHub does
			u := s.users[lower(l)]
			switch {
			case u == nil:
			case add:
				s.assign(c.repo, i, c.actor(), u)
			default:
				s.unassign(c.repo, i, c.actor(), u)
			}
		}
		if add {
			return created(s.issueFullJSON(c.repo, i)), nil
		}
		return ok(s.issueFullJSON(c.repo, i)), nil
	}
}
