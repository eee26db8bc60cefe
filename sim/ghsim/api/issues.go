package api

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// issue is the issue or pull request of the request. Pull requests are accessible with the issues or the pull_requests
// permission.
func (c *call) issue() (*model.Issue, error) {
	i := c.repo.Issue(int(c.id("number")))
	if i == nil {
		if err := c.need("issues", c.level()); err != nil {
			return nil, err
		}
		return nil, c.gone(int(c.id("number")))
	}
	return i, c.needIssue(i)
}

// gone is the answer about a missing issue: a transferred one has another address, and a deleted one is 410 for people
// who may read the repository.
// https://docs.github.com/en/rest/issues/issues#get-an-issue
func (c *call) gone(number int) error {
	to, was := c.repo.Moved[number]
	switch {
	case to != "":
		return &refusal.Error{Code: http.StatusMovedPermanently, Message: "Moved Permanently", Location: to}
	case was:
		return &refusal.Error{Code: http.StatusGone, Message: "This issue was deleted"}
	}
	return refusal.NotFound()
}

func (c *call) needIssue(i *model.Issue) error {
	if i.Pull != nil && c.token.May("pull_requests", c.level()) {
		return nil
	}
	return c.need("issues", c.level())
}

func getIssue(c *call, i *model.Issue) (answer, error) {
	return ok(c.shape.IssueFull(c.repo, i)), nil
}

// listIssues is GET /repos/{owner}/{repo}/issues, by default newest first.
func listIssues(c *call) (answer, error) {
	state := cmp.Or(c.query.Get("state"), "open")
	since, _ := time.Parse(time.RFC3339, c.query.Get("since"))
	var is []*model.Issue
	for _, i := range c.repo.Issues {
		if state != "all" && i.State != state || i.Updated.Before(since) {
			continue
		}
		if who := c.query.Get("creator"); who != "" && !strings.EqualFold(who, i.By.Login) {
			continue
		}
		if want := c.query.Get("labels"); want != "" && !i.HasLabels(strings.Split(want, ",")) {
			continue
		}
		if who := c.query.Get("assignee"); who != "" && who != "*" &&
			!slices.ContainsFunc(i.Assignees, func(u *model.User) bool { return strings.EqualFold(u.Login, who) }) {
			continue
		}
		is = append(is, i)
	}
	by := func(i *model.Issue) time.Time { return i.Made }
	if c.query.Get("sort") == "updated" {
		by = func(i *model.Issue) time.Time { return i.Updated }
	}
	slices.SortStableFunc(is, func(a, b *model.Issue) int {
		if n := by(a).Compare(by(b)); n != 0 {
			return n
		}
		return a.Number - b.Number
	})
	if c.query.Get("direction") != "asc" {
		slices.Reverse(is)
	}
	return page(c, is, "", func(i *model.Issue) object { return c.shape.IssueFull(c.repo, i) })
}

// issueInput is the body of creating or changing an issue. A nil pointer means that the field is absent.
type issueInput struct {
	Title       *string         `json:"title"`
	Body        *string         `json:"body"`
	State       *string         `json:"state"`
	StateReason *string         `json:"state_reason"`
	Labels      json.RawMessage `json:"labels"`
	Assignees   *[]string       `json:"assignees"`
}

func createIssue(c *call, in issueInput) (answer, error) {
	if in.Title == nil || strings.TrimSpace(*in.Title) == "" {
		return answer{}, refusal.Invalid("Issue", "title", "missing_field", "")
	}
	if err := checkBody("Issue", in.Body); err != nil {
		return answer{}, err
	}
	names, err := labelNames(in.Labels)
	if err != nil {
		return answer{}, err
	}
	assignees, err := c.assignees(in.Assignees)
	if err != nil {
		return answer{}, err
	}
	body := ""
	if in.Body != nil {
		body = *in.Body
	}
	i := c.world.OpenIssue(c.repo, c.actor(), *in.Title, body)
	for _, n := range names {
		c.world.AddLabel(c.repo, i, c.actor(), c.world.EnsureLabel(c.repo, n))
	}
	for _, u := range assignees {
		c.world.Assign(c.repo, i, c.actor(), u)
	}
	return created(c.shape.IssueFull(c.repo, i)), nil
}

func patchIssue(c *call, i *model.Issue, in issueInput) (answer, error) {
	if err := checkBody("Issue", in.Body); err != nil {
		return answer{}, err
	}
	if in.Title != nil && strings.TrimSpace(*in.Title) == "" {
		return answer{}, refusal.Invalid("Issue", "title", "missing_field", "")
	}
	if in.State != nil && *in.State != "open" && *in.State != "closed" {
		return answer{}, refusal.Invalid("Issue", "state", "invalid", "")
	}
	assignees, err := c.assignees(in.Assignees)
	if err != nil {
		return answer{}, err
	}
	names, err := labelNames(in.Labels)
	if err != nil {
		return answer{}, err
	}
	r, a := c.repo, c.actor()
	c.world.EditIssue(r, i, a, in.Title, in.Body)
	if in.Labels != nil {
		c.world.SetLabels(r, i, a, names)
	}
	if in.Assignees != nil {
		for _, u := range slices.Clone(i.Assignees) {
			if !slices.Contains(assignees, u) {
				c.world.Unassign(r, i, a, u)
			}
		}
		for _, u := range assignees {
			c.world.Assign(r, i, a, u)
		}
	}
	if in.State != nil {
		c.world.SetState(r, i, a, *in.State, stateReason(*in.State, in.StateReason))
	}
	return ok(c.shape.IssueFull(r, i)), nil
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

// maxText is GitHub's limit for a body, in characters.
const maxText = 65536

func checkBody(resource string, body *string) error {
	if body != nil && len([]rune(*body)) > maxText {
		return refusal.Invalid(resource, "body", "custom", "body is too long (maximum is 65536 characters)")
	}
	return nil
}

// assignees are the users of a list of logins; people without access can't be assigned.
func (c *call) assignees(logins *[]string) ([]*model.User, error) {
	var us []*model.User
	if logins == nil {
		return nil, nil
	}
	for _, l := range *logins {
		u := c.world.User(l)
		if u == nil || u.Kind != "User" || !model.AtLeast(c.repo.Role(l), "read") {
			return nil, refusal.Invalid("Issue", "assignees", "invalid", "")
		}
		us = append(us, u)
	}
	return us, nil
}
