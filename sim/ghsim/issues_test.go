package ghsim_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sim/ghsim"
)

func TestIssueLifeThroughTheAPI(t *testing.T) {
	s := newSim(t, nil)
	c := s.bot()
	i, _, err := c.Issues.Create(ctx, "acme", "shop",
		&github.IssueRequest{Title: ptr("Help"), Body: ptr("- [ ] a"), Labels: &[]string{"bug"},
			Assignees: &[]string{"dana"}})
	must(t, err)
	if i.GetUser().GetLogin() != "sia[bot]" || i.GetUser().GetType() != "Bot" || i.GetNumber() != 1 {
		t.Errorf("issue by %s (%s), number %d", i.GetUser().GetLogin(), i.GetUser().GetType(), i.GetNumber())
	}
	_, _, err = c.Issues.Edit(ctx, "acme", "shop", 1,
		&github.IssueRequest{Title: ptr("Help!"), Body: ptr("- [x] a"), Labels: &[]string{"question"}})
	must(t, err)
	_, _, err = c.Issues.AddLabelsToIssue(ctx, "acme", "shop", 1, []string{"sia:working", "bug"})
	must(t, err)
	_, err = c.Issues.RemoveLabelForIssue(ctx, "acme", "shop", 1, "bug")
	must(t, err)
	_, _, err = c.Issues.Edit(ctx, "acme", "shop", 1, &github.IssueRequest{Labels: &[]string{"sia:passed"}})
	must(t, err)
	_, _, err = c.Issues.Edit(ctx, "acme", "shop", 1,
		&github.IssueRequest{State: ptr("closed"), StateReason: ptr("completed")})
	must(t, err)
	must(t, s.ReopenIssue(repoName, 1, "dana"))
	got, _, err := c.Issues.Get(ctx, "acme", "shop", 1)
	must(t, err)
	if got.GetTitle() != "Help!" || got.GetState() != "open" || len(got.Labels) != 1 ||
		got.Labels[0].GetName() != "sia:passed" {
		t.Errorf("got %v", got)
	}
	want := []string{"ping", "installation.created", "issues.opened", "issues.labeled", "issues.assigned", "issues.edited",
		"issues.unlabeled",
		"issues.labeled", "issues.labeled", "issues.labeled", "issues.unlabeled", "issues.unlabeled", "issues.unlabeled",
		"issues.labeled", "issues.closed", "issues.reopened"}
	if diff := cmp.Diff(want, names(s.settle())); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestComments(t *testing.T) {
	s := newSim(t, nil)
	n, err := s.OpenIssue(repoName, "dana", "T", "B", "sia")
	must(t, err)
	c := s.bot()
	m, _, err := c.Issues.CreateComment(ctx, "acme", "shop", n, &github.IssueComment{Body: ptr("hello")})
	must(t, err)
	s.clock.Advance(10 * time.Minute)
	_, _, err = c.Issues.EditComment(ctx, "acme", "shop", m.GetID(), &github.IssueComment{Body: ptr("hello again")})
	must(t, err)
	s.clock.Advance(10 * time.Minute)
	_, err = s.Comment(repoName, n, "dana", "/sia stop")
	must(t, err)
	recent, _, err := c.Issues.ListComments(ctx, "acme", "shop", n,
		&github.IssueListCommentsOptions{Since: ptr(s.clock.Now().Add(-time.Minute))})
	must(t, err)
	if len(recent) != 1 || recent[0].GetBody() != "/sia stop" {
		t.Errorf("since: %v", recent)
	}
	all, _, err := c.Issues.ListComments(ctx, "acme", "shop", 0,
		&github.IssueListCommentsOptions{Sort: ptr("updated"), Direction: ptr("desc")})
	must(t, err)
	if len(all) != 2 || all[0].GetBody() != "/sia stop" {
		t.Errorf("of the repository: %v", all)
	}
	_, _, err = c.Reactions.CreateIssueCommentReaction(ctx, "acme", "shop", all[0].GetID(), "rocket")
	must(t, err)
	_, resp, err := c.Reactions.CreateIssueCommentReaction(ctx, "acme", "shop", all[0].GetID(), "rocket")
	must(t, err)
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the same reaction again: %d, want 200", resp.StatusCode)
	}
	_, _, err = c.Reactions.CreateIssueReaction(ctx, "acme", "shop", n, "eyes")
	must(t, err)
	must(t, s.React(repoName, n, m.GetID(), "dana", "+1"))
	rs, _, err := c.Reactions.ListIssueCommentReactions(ctx, "acme", "shop", m.GetID(), nil)
	must(t, err)
	if len(rs) != 1 || rs[0].GetUser().GetLogin() != "dana" {
		t.Errorf("reactions: %v", rs)
	}
	v, err := s.Issue(repoName, n)
	must(t, err)
	if v.Comments[0].Body != "hello again" || v.Comments[0].Edits != 1 || v.Reactions[0].Content != "eyes" ||
		v.Comments[1].Author != "dana" {
		t.Errorf("view: %+v", v)
	}
	got := names(s.settle())
	want := []string{"issues.opened", "issues.labeled", "issue_comment.created", "issue_comment.edited",
		"issue_comment.created"}
	if diff := cmp.Diff(want, got[2:]); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestPeopleNeedPermission(t *testing.T) {
	s := newSim(t, nil)
	n, err := s.OpenIssue(repoName, "dana", "T", "")
	must(t, err)
	if _, err := s.Comment(repoName, n, "mallory", "hi"); err == nil || !strings.Contains(err.Error(), "SetPermission") {
		t.Errorf("a stranger commented on a private repository: %v", err)
	}
	must(t, s.SetPermission(repoName, "mallory", "read"))
	if _, err := s.Comment(repoName, n, "mallory", "hi"); err != nil {
		t.Errorf("a reader could not comment: %v", err)
	}
	if err := s.Label(repoName, n, "mallory", "sia"); err == nil {
		t.Error("a reader labelled")
	}
	p, _, err := s.bot().Repositories.GetPermissionLevel(ctx, "acme", "shop", "mallory")
	must(t, err)
	if p.GetPermission() != "read" || p.GetRoleName() != "read" {
		t.Errorf("permission %s, role %s", p.GetPermission(), p.GetRoleName())
	}
}

func TestTickBox(t *testing.T) {
	s := newSim(t, nil)
	n, err := s.OpenIssue(repoName, "dana", "Which?", "- [ ] **A** one\n- [ ] **B** two\n* [ ] other\n")
	must(t, err)
	must(t, s.TickBox(repoName, n, "dana", "B"))
	must(t, s.TickBox(repoName, n, "dana", "2"))
	v, err := s.Issue(repoName, n)
	must(t, err)
	if want := "- [ ] **A** one\r\n- [x] **B** two\r\n* [x] other\r\n"; v.Body != want {
		t.Errorf("body %q, want %q", v.Body, want)
	}
	if err := s.TickBox(repoName, n, "dana", "Z"); err == nil {
		t.Error("ticked a box that is not there")
	}
}

func TestLabels(t *testing.T) {
	s := newSim(t, nil)
	c := s.bot()
	_, _, err := c.Issues.CreateLabel(ctx, "acme", "shop",
		&github.Label{Name: ptr("sia:needs human"), Color: ptr("ABCDEF"), Description: ptr("x")})
	must(t, err)
	l, _, err := c.Issues.GetLabel(ctx, "acme", "shop", "sia:needs human")
	must(t, err)
	if l.GetColor() != "abcdef" {
		t.Errorf("colour %s", l.GetColor())
	}
	for name, bad := range map[string]*github.Label{"colour": {Name: ptr("x"), Color: ptr("red")},
		"twice": {Name: ptr("SIA:needs human"), Color: ptr("ffffff")}} {
		_, _, err = c.Issues.CreateLabel(ctx, "acme", "shop", bad)
		var e *github.ErrorResponse
		if !errors.As(err, &e) || e.Response.StatusCode != 422 || len(e.Errors) != 1 || e.Errors[0].Resource != "Label" {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _, err = c.Issues.EditLabel(ctx, "acme", "shop", "sia:needs human", &github.Label{Color: ptr("000000")})
	must(t, err)
	_, err = c.Issues.RemoveLabelForIssue(ctx, "acme", "shop", 1, "nope")
	var e *github.ErrorResponse
	if !errors.As(err, &e) || e.Response.StatusCode != 404 {
		t.Errorf("removing from no issue: %v", err)
	}
}

func TestPagination(t *testing.T) {
	s := newSim(t, nil)
	n, err := s.OpenIssue(repoName, "dana", "T", "")
	must(t, err)
	for range 7 {
		_, err := s.Comment(repoName, n, "dana", "x")
		must(t, err)
	}
	c := s.bot()
	opt := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 3}}
	var ids []int64
	pages := 0
	for {
		cs, resp, err := c.Issues.ListComments(ctx, "acme", "shop", n, opt)
		must(t, err)
		pages++
		for _, m := range cs {
			ids = append(ids, m.GetID())
		}
		if resp.NextPage == 0 {
			break
		}
		if resp.LastPage != 3 {
			t.Errorf("last page %d, want 3", resp.LastPage)
		}
		opt.Page = resp.NextPage
	}
	if pages != 3 || len(ids) != 7 || !slices.IsSorted(ids) {
		t.Errorf("%d pages, ids %v", pages, ids)
	}
}

func TestConditionalRequestsAreFree(t *testing.T) {
	s := newSim(t, nil)
	_, err := s.OpenIssue(repoName, "dana", "T", "")
	must(t, err)
	tok := s.token(nil)
	const path = "/api/v3/repos/acme/shop/issues/1"
	first, _ := s.do("GET", path, tok, "")
	again, body := s.do("GET", path, tok, "", "If-None-Match", first.Header.Get("ETag"))
	if again.StatusCode != 304 || body != "" {
		t.Errorf("unchanged: %d %q", again.StatusCode, body)
	}
	if a, b := first.Header.Get("X-RateLimit-Remaining"), again.Header.Get("X-RateLimit-Remaining"); a != b {
		t.Errorf("a 304 counted: %s then %s", a, b)
	}
	_, err = s.Comment(repoName, 1, "dana", "x")
	must(t, err)
	changed, _ := s.do("GET", path, tok, "", "If-None-Match", first.Header.Get("ETag"))
	if changed.StatusCode != 200 || changed.Header.Get("ETag") == first.Header.Get("ETag") {
		t.Errorf("changed: %d", changed.StatusCode)
	}
	calls := s.Calls()
	if last := calls[len(calls)-2]; !last.Conditional || last.Status != 304 {
		t.Errorf("call %+v", last)
	}
	tag := changed.Header.Get("ETag")
	if other, _ := s.do("GET", path, s.token(nil), "", "If-None-Match", tag); other.StatusCode != 200 {
		t.Errorf("with another token: %d", other.StatusCode)
	}
}

func TestTimelineOrders(t *testing.T) {
	s := newSim(t, nil)
	n, err := s.OpenIssue(repoName, "dana", "T", "")
	must(t, err)
	_, err = s.Comment(repoName, n, "dana", "before the push")
	must(t, err)
	sha, err := s.PushFiles(repoName, "topic", "dana", "change", map[string]string{"x.txt": "x"})
	must(t, err)
	var got []string
	for _, e := range s.Timeline("issue_comment.created", "push.created") {
		got = append(got, e.Kind+" "+e.Detail+e.Ref[:min(len(e.Ref), 5)])
	}
	es := s.Timeline()
	if last := es[len(es)-1]; last.SHA != sha || last.Kind != "push.created" || last.Seq != len(es) {
		t.Errorf("last entry %+v", last)
	}
	if len(got) != 2 || !strings.HasPrefix(got[0], "issue_comment.created") {
		t.Errorf("timeline %v", got)
	}
	if _, err := s.File(repoName, "topic", "x.txt"); err != nil {
		t.Error(err)
	}
	if err := s.ForcePush(repoName, "topic", "dana", ""); err != nil {
		t.Error(err)
	}
	if _, err := s.PushFiles(repoName, "main", "dana", "delete",
		map[string]string{"README.md": ghsim.Deleted}); err != nil {
		t.Error(err)
	}
	if fs, err := s.Files(repoName, "main"); err != nil || slices.Contains(fs, "README.md") {
		t.Errorf("files %v %v", fs, err)
	}
}
