//test:thorough
package ghsim_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v66/github"
)

func TestCheckRunOfTheApp(t *testing.T) {
	s := newSim(t, nil)
	c := s.bot()
	sha, err := s.PushFiles(repoName, "topic", "dana", "x", map[string]string{"x.txt": "x"})
	must(t, err)
	n, err := s.OpenPull(repoName, "dana", "topic", "main", "T", "", true)
	must(t, err)
	run, _, err := c.Checks.CreateCheckRun(ctx, "acme", "shop",
		github.CreateCheckRunOptions{Name: "SIA", HeadSHA: sha, Status: ptr("in_progress"), ExternalID: ptr("key"),
			Output:  &github.CheckRunOutput{Title: ptr("Working"), Summary: ptr("…")},
			Actions: []*github.CheckRunAction{{Label: "Stop", Description: "Stop the task", Identifier: "stop"}}})
	must(t, err)
	if run.GetApp().GetSlug() != "sia" || run.GetStatus() != "in_progress" || len(run.PullRequests) != 1 ||
		run.PullRequests[0].GetNumber() != n {
		t.Errorf("check run %v", run)
	}
	must(t, s.PressCheckButton(repoName, run.GetID(), "dana", "stop"))
	if err := s.PressCheckButton(repoName, run.GetID(), "dana", "nope"); err == nil {
		t.Error("pressed a button that is not there")
	}
	_, _, err = c.Checks.UpdateCheckRun(ctx, "acme", "shop", run.GetID(),
		github.UpdateCheckRunOptions{Name: "SIA", Conclusion: ptr("failure"),
			Output: &github.CheckRunOutput{Title: ptr("Failed"), Summary: ptr("no"), Annotations: []*github.CheckRunAnnotation{
				{Path: ptr("x.txt"), StartLine: ptr(1), EndLine: ptr(1), AnnotationLevel: ptr("failure"), Message: ptr("bad")}}}})
	must(t, err)
	as, _, err := c.Checks.ListCheckRunAnnotations(ctx, "acme", "shop", run.GetID(), nil)
	must(t, err)
	if len(as) != 1 || as[0].GetMessage() != "bad" {
		t.Errorf("annotations %v", as)
	}
	same, _, err := c.Checks.UpdateCheckRun(ctx, "acme", "shop", run.GetID(),
		github.UpdateCheckRunOptions{Name: "SIA", Status: ptr("in_progress")})
	must(t, err)
	if same.GetStatus() != "completed" || same.GetConclusion() != "failure" {
		t.Errorf("a completed run was opened: %v", same)
	}
	must(t, s.RerequestCheckRun(repoName, run.GetID(), "dana"))
	_, err = c.Checks.ReRequestCheckSuite(ctx, "acme", "shop", run.GetCheckSuite().GetID())
	must(t, err)
	_, _, err = c.Checks.GetCheckRun(ctx, "acme", "shop", run.GetID())
	must(t, err)
	_, _, err = c.Checks.CreateCheckRun(ctx, "acme", "shop",
		github.CreateCheckRunOptions{Name: "SIA", HeadSHA: sha, Conclusion: ptr("success")})
	must(t, err)
	for filter, want := range map[string]int{"latest": 1, "all": 2} {
		l, _, err := c.Checks.ListCheckRunsForRef(ctx, "acme", "shop", "topic",
			&github.ListCheckRunsOptions{CheckName: ptr("SIA"), Filter: ptr(filter)})
		must(t, err)
		if l.GetTotal() != want {
			t.Errorf("filter %s: %d check runs, want %d", filter, l.GetTotal(), want)
		}
	}
	suites, _, err := c.Checks.ListCheckSuitesForRef(ctx, "acme", "shop", "topic", nil)
	must(t, err)
	if suites.GetTotal() != 1 || suites.CheckSuites[0].GetConclusion() != "success" {
		t.Errorf("suites %v", suites)
	}
	_, _, err = c.Checks.GetCheckSuite(ctx, "acme", "shop", suites.CheckSuites[0].GetID())
	must(t, err)
	for name, bad := range map[string]github.CreateCheckRunOptions{
		"unknown commit": {Name: "SIA", HeadSHA: strings.Repeat("a", 40)},
		"conclusion":     {Name: "SIA", HeadSHA: sha, Conclusion: ptr("fine")},
		"no summary":     {Name: "SIA", HeadSHA: sha, Output: &github.CheckRunOutput{Title: ptr("x")}},
	} {
		_, _, err := c.Checks.CreateCheckRun(ctx, "acme", "shop", bad)
		var e *github.ErrorResponse
		if !errors.As(err, &e) || e.Response.StatusCode != 422 {
			t.Errorf("%s: %v", name, err)
		}
	}
	var got []string
	for _, e := range names(s.settle()) {
		if strings.HasPrefix(e, "check_") {
			got = append(got, e)
		}
	}
	want := []string{"check_suite.requested", "check_run.created", "check_run.requested_action", "check_run.completed",
		"check_suite.completed",
		"check_run.rerequested", "check_suite.rerequested", "check_run.created", "check_run.completed",
		"check_suite.completed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestStatuses(t *testing.T) {
	s := newSim(t, nil)
	c := s.bot()
	r, err := s.Repo(repoName)
	must(t, err)
	none, _, err := c.Repositories.GetCombinedStatus(ctx, "acme", "shop", "main", nil)
	must(t, err)
	if none.GetState() != "pending" || none.GetTotalCount() != 0 {
		t.Errorf("no status: %v", none)
	}
	must(t, s.CreateStatus(repoName, r.Head, "dana", "ci/outside", "pending", ""))
	must(t, s.CreateStatus(repoName, r.Head, "dana", "ci/outside", "failure", "3 tests failed"))
	_, _, err = c.Repositories.CreateStatus(ctx, "acme", "shop", r.Head,
		&github.RepoStatus{State: ptr("success"), Context: ptr("mine")})
	must(t, err)
	sum, _, err := c.Repositories.GetCombinedStatus(ctx, "acme", "shop", "main", nil)
	must(t, err)
	if sum.GetState() != "failure" || sum.GetTotalCount() != 2 {
		t.Errorf("combined: %v", sum)
	}
	if n := len(s.settle()); n != 5 {
		t.Errorf("%d events, want ping, installation and three statuses", n)
	}
}

func TestRequiredChecks(t *testing.T) {
	s := newSim(t, nil)
	c := s.bot()
	if _, _, err := c.Repositories.GetRequiredStatusChecks(ctx, "acme", "shop", "main"); !errors.Is(err,
		github.ErrBranchNotProtected) {
		t.Errorf("unprotected: %v", err)
	}
	rules, _, err := c.Repositories.GetRulesForBranch(ctx, "acme", "shop", "main")
	must(t, err)
	if len(rules) != 0 {
		t.Errorf("rules %v", rules)
	}
	must(t, s.SetBranchProtection(repoName, "main", "test"))
	must(t, s.SetRuleset(repoName, "main", "lint"))
	req, _, err := c.Repositories.GetRequiredStatusChecks(ctx, "acme", "shop", "main")
	must(t, err)
	if req.Contexts == nil || len(*req.Contexts) != 1 || (*req.Contexts)[0] != "test" {
		t.Errorf("required %v", req)
	}
	p, _, err := c.Repositories.GetBranchProtection(ctx, "acme", "shop", "main")
	must(t, err)
	if p.GetRequiredStatusChecks() == nil {
		t.Errorf("protection %v", p)
	}
	rules, _, err = c.Repositories.GetRulesForBranch(ctx, "acme", "shop", "main")
	must(t, err)
	if len(rules) != 1 || rules[0].Type != "required_status_checks" {
		t.Errorf("rules %v", rules)
	}
	b, _, err := c.Repositories.GetBranch(ctx, "acme", "shop", "main", 0)
	must(t, err)
	if !b.GetProtected() {
		t.Error("main is not protected")
	}
}
