package ghsim_test

import (
	"fmt"
	"strings"
	"testing"
)

// Operations that no other test uses: each answers as described.
func TestTheRestOfTheAPI(t *testing.T) {
	s := newSim(t, map[string]string{"a.txt": "a",
		".github/workflows/ci.yml": "on: push\njobs: {test: {steps: [{run: 'true'}]}}\n"})
	s.CreateOrg("orga")
	n, err := s.OpenIssue(repoName, "dana", "T", "text", "sia", "bug")
	must(t, err)
	sha, err := s.PushFiles(repoName, "topic", "dana", "x", map[string]string{"x.txt": "x"})
	must(t, err)
	p, err := s.OpenPull(repoName, "dana", "topic", "main", "P", "", false)
	must(t, err)
	id, err := s.Comment(repoName, n, "dana", "text")
	must(t, err)
	must(t, s.Assign(repoName, n, "dana", "dana"))
	s.settle()
	ks, err := s.CheckRuns(repoName, sha)
	must(t, err)
	tok, jwt := s.token(nil), s.jwt(nil)
	const repo = "/repos/acme/shop"
	for _, c := range []struct {
		token, method, path, body string
		code                      int
		want                      string
	}{
		{jwt, "GET", fmt.Sprintf("/app/installations/%d", s.inst), "", 200, `"app_slug":"sia"`},
		{jwt, "GET", "/app/installations/9", "", 404, "Not Found"},
		{tok, "GET", repo + "/labels?per_page=2", "", 200, `"bug"`},
		{tok, "GET", repo + "/issues?labels=sia,bug&state=all&assignee=dana&creator=dana&sort=updated&direction=asc", "", 200,
			`"number":1`},
		{tok, "GET", repo + "/issues?labels=nope", "", 200, "[]"},
		{tok, "GET", fmt.Sprint(repo, "/issues/", n, "/labels"), "", 200, `"sia"`},
		{tok, "PATCH", fmt.Sprint(repo, "/issues/", n), `{"assignees":[],"state":"closed"}`, 200,
			`"state_reason":"completed"`},
		{tok, "PATCH", fmt.Sprint(repo, "/issues/", n), `{"state":"gone"}`, 422, "Validation Failed"},
		{tok, "PATCH", fmt.Sprint(repo, "/issues/", n), `{"title":`, 400, "Problems parsing JSON"},
		{tok, "POST", repo + "/issues", `{"title":"T","assignees":["mallory"]}`, 422, "assignees"},
		{tok, "POST", repo + "/issues", `{"title":"T","body":"` + strings.Repeat("x", 65537) + `"}`, 422, "too long"},
		{tok, "GET", fmt.Sprint(repo, "/issues/comments/", id), "", 200, `"body":"text"`},
		{tok, "POST", fmt.Sprint(repo, "/issues/", n, "/comments"), `{"body":" "}`, 422, "blank"},
		{tok, "POST", fmt.Sprint(repo, "/issues/", n, "/reactions"), `{"content":"shrug"}`, 422, "content"},
		{tok, "POST", fmt.Sprint(repo, "/issues/", n, "/reactions"), `{"content":"eyes"}`, 201, `"eyes"`},
		{tok, "GET", fmt.Sprint(repo, "/pulls/", p, "/comments"), "", 200, "[]"},
		{tok, "PATCH", fmt.Sprint(repo, "/pulls/", p), `{"state":"closed"}`, 200, `"state":"closed"`},
		{tok, "PATCH", fmt.Sprint(repo, "/pulls/", p), `{"state":"open","base":"main"}`, 200, `"state":"open"`},
		{tok, "POST", repo + "/statuses/" + sha, `{"state":"odd"}`, 422, "state"},
		{tok, "POST", repo + "/statuses/" + sha, `{"state":"success","description":"fine","target_url":"http://h/x"}`, 201,
			`"default"`},
		{tok, "POST", fmt.Sprint(repo, "/check-runs/", ks[0].ID, "/rerequest"), "", 403, "not rerequestable"},
		{tok, "GET", repo + "/commits/nowhere", "", 422, "No commit found"},
		{tok, "GET", repo + "/git/ref/heads/nowhere", "", 404, "Not Found"},
		{tok, "GET", repo + "/branches/nowhere", "", 404, "Branch not found"},
		{tok, "GET", repo + "/contents/a.txt?ref=nowhere", "", 404, "No commit found"},
		{tok, "GET", repo + "/collaborators/nobody/permission", "", 404, "Not Found"},
		{tok, "GET", "/users/nobody", "", 404, "Not Found"},
		{"", "GET", "/users/orga", "", 200, `"type":"Organization"`},
		{"ghs_gone", "GET", repo, "", 401, "Bad credentials"},
	} {
		resp, body := s.do(c.method, "/api/v3"+c.path, c.token, c.body, "Content-Type", "application/json")
		if resp.StatusCode != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %.300s, want %d with %s", c.method, c.path, resp.StatusCode, body, c.code, c.want)
		}
	}
	s.settle()
	c := s.bot()
	runs, _, err := c.Actions.ListRepositoryWorkflowRuns(ctx, "acme", "shop", nil)
	must(t, err)
	_, err = c.Actions.RerunWorkflowByID(ctx, "acme", "shop", runs.WorkflowRuns[0].GetID())
	must(t, err)
	s.settle()
	suite := runs.WorkflowRuns[0].GetCheckSuiteID()
	l, _, err := c.Checks.ListCheckRunsCheckSuite(ctx, "acme", "shop", suite, nil)
	must(t, err)
	if l.GetTotal() != 1 {
		t.Errorf("check runs of the suite: %v", l)
	}
	if _, err = c.Checks.ReRequestCheckSuite(ctx, "acme", "shop", suite); err == nil {
		t.Error("the suite of another app was requested again")
	}
}

func TestWhatElsePeopleDo(t *testing.T) {
	s := newSim(t, nil)
	n, err := s.OpenIssue(repoName, "dana", "T", "a")
	must(t, err)
	id, err := s.Comment(repoName, n, "dana", "/sia stpo")
	must(t, err)
	must(t, s.EditComment(repoName, id, "dana", "/sia stop"))
	must(t, s.EditIssueBody(repoName, n, "dana", "b"))
	must(t, s.Unlabel(repoName, n, "dana", "none of these"), "has no label")
	sha, err := s.PushFiles(repoName, "topic", "dana", "x", map[string]string{"x.txt": "x"})
	must(t, err)
	p, err := s.OpenPull(repoName, "dana", "topic", "main", "P", "", false)
	must(t, err)
	must(t, s.ForcePush(repoName, "topic", "dana", "main"))
	must(t, s.ForcePush(repoName, "topic", "dana", sha[:10]))
	must(t, s.ForcePush(repoName, "topic", "dana", strings.Repeat("b", 40)), "no commit")
	must(t, s.ClosePull(repoName, p, "dana"))
	must(t, s.DeleteIssue(repoName, n, "acme"))
	if resp, _ := s.do("GET", fmt.Sprint("/api/v3/repos/acme/shop/issues/", n), s.token(nil), ""); resp.StatusCode != 410 {
		t.Errorf("an issue that was deleted: %d", resp.StatusCode)
	}
	if _, err := s.Issue(repoName, n); err == nil {
		t.Error("the issue is still there")
	}
	if es := s.Timeline("push.forced"); len(es) != 1 || es[0].SHA == sha {
		t.Errorf("forced pushes %+v", es)
	}
	if !strings.HasSuffix(s.APIURL(), "/api/v3/") {
		t.Error(s.APIURL())
	}
	s.SetRateLimit(1)
	s.settle()
}
