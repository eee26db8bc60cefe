package ghsim_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sim/ghsim"
)

// kinds are the rules of a branch on one page of the API, and the Link header.
func (s *sim) kinds(query string) (kinds []string, link string) {
	s.t.Helper()
	resp, body := s.do("GET", "/api/v3/repos/acme/shop/rules/branches/main"+query, s.token(nil), "")
	var got []map[string]any
	if err := json.Unmarshal([]byte(body), &got); err != nil || resp.StatusCode != 200 {
		s.t.Fatalf("rules: %s %s %v", resp.Status, body, err)
	}
	for _, r := range got {
		kinds = append(kinds, r["type"].(string))
	}
	return kinds, resp.Header.Get("Link")
}

// everyKind is one rule of each kind, as the API prints them.
const everyKind = `[
{"type":"required_status_checks","parameters":{"strict_required_status_checks_policy":false,
 "required_status_checks":[{"context":"test","integration_id":15368}]}},
{"type":"workflows","parameters":{"workflows":[{"path":".github/workflows/ci.yml","repository_id":7,"ref":"main"}]}},
{"type":"required_signatures"},
{"type":"required_deployments","parameters":{"required_deployment_environments":["staging"]}},
{"type":"code_scanning","parameters":{"code_scanning_tools":[{"tool":"CodeQL","alerts_threshold":"errors",
 "security_alerts_threshold":"high_or_higher"}]}},
{"type":"merge_queue","parameters":{"check_response_timeout_minutes":60,"grouping_strategy":"ALLGREEN",
 "max_entries_to_build":5,"max_entries_to_merge":5,"merge_method":"MERGE","min_entries_to_merge":1,
 "min_entries_to_merge_wait_minutes":5}},
{"type":"pull_request","parameters":{"dismiss_stale_reviews_on_push":false,"require_code_owner_review":false,
 "require_last_push_approval":false,"required_approving_review_count":1,"required_review_thread_resolution":false}},
{"type":"non_fast_forward"},
{"type":"commit_message_pattern","parameters":{"operator":"starts_with","pattern":"Change"}}]`

func TestRulesPageByPage(t *testing.T) {
	s := newSim(t, nil)
	var rules []ghsim.Rule
	must(t, json.Unmarshal([]byte(everyKind), &rules))
	rules[0].Source = "acme-inc" // an organization's
	must(t, s.SetRules(repoName, "main", rules...))
	all, link := s.kinds("")
	var want []string
	for _, r := range rules {
		want = append(want, r.Type)
	}
	if diff := cmp.Diff(want, all); diff != "" || link != "" {
		t.Errorf("link %q, rules (-want +got):\n%s", link, diff)
	}
	first, link := s.kinds("?per_page=4")
	if diff := cmp.Diff(want[:4], first); diff != "" || !strings.Contains(link, `rel="next"`) {
		t.Errorf("link %q, first page (-want +got):\n%s", link, diff)
	}
	last, link := s.kinds("?per_page=4&page=3")
	if diff := cmp.Diff(want[8:], last); diff != "" || strings.Contains(link, `rel="next"`) {
		t.Errorf("link %q, last page (-want +got):\n%s", link, diff)
	}
	for _, status := range []int{403, 404} {
		must(t, s.HideRules(repoName, status))
		resp, _ := s.do("GET", "/api/v3/repos/acme/shop/rules/branches/main", s.token(nil), "")
		if resp.StatusCode != status {
			t.Errorf("hidden rules: %s, want %d", resp.Status, status)
		}
	}
	must(t, s.HideRules(repoName, 0))
	must(t, s.HideRules(repoName, 500), "403 or 404")
	must(t, s.SetRules(repoName, "main"))
	if all, _ := s.kinds(""); len(all) != 0 {
		t.Errorf("rules %v after they were removed", all)
	}
}

// state is the merge state of a pull request, which must be the same in REST and in GraphQL.
func (s *sim) state(number int) string {
	s.t.Helper()
	tok, vars := s.token(nil), map[string]any{"commit": "main", "number": number}
	s.look(tok, vars)
	look := at(s.look(tok, vars), "data", "repository", "pullRequest", "mergeStateStatus")
	p, _, err := s.client(tok).PullRequests.Get(ctx, "acme", "shop", number)
	must(s.t, err)
	if look != strings.ToUpper(p.GetMergeableState()) {
		s.t.Errorf("the look says %v, REST %s", look, p.GetMergeableState())
	}
	return p.GetMergeableState()
}

func TestMergeState(t *testing.T) {
	for want, arrange := range map[string]func(s *sim, n int, head string) error{
		"clean":     func(*sim, int, string) error { return nil },
		"has_hooks": func(s *sim, _ int, _ string) error { return s.SetHooks(repoName, true) },
		"unstable": func(s *sim, _ int, head string) error {
			return s.CreateStatus(repoName, head, "dana", "ci/outside", "pending", "")
		},
		"blocked":         func(s *sim, _ int, _ string) error { return s.SetRuleset(repoName, "main", "missing") },
		"blocked by rule": func(s *sim, _ int, _ string) error { return s.AddRule(repoName, "main", signatures) },
		"blocked by a conversation": func(s *sim, n int, _ string) error {
			_, err := s.ReviewComment(repoName, n, "dana", workflowFile, 1, "Why?")
			return errorsOf(err, s.ProtectBranch(repoName, "main", ghsim.Classic{Conversations: true}))
		},
		"clean with a conversation": func(s *sim, n int, _ string) error {
			id, err := s.ReviewComment(repoName, n, "dana", workflowFile, 1, "Why?")
			return errorsOf(err, s.ResolveThread(repoName, n, "dana", id, false),
				s.AddRule(repoName, "main", ghsim.Rule{Type: "pull_request",
					Parameters: map[string]any{"required_review_thread_resolution": true}}))
		},
		"behind": func(s *sim, _ int, _ string) error {
			_, err := s.PushFiles(repoName, "main", "dana", "Move on", map[string]string{"other.txt": "x"})
			return errorsOf(err, s.SetRuleset(repoName, "main", "test"), s.RequireUpToDate(repoName, "main"))
		},
		"blocked and behind": func(s *sim, _ int, _ string) error {
			_, err := s.PushFiles(repoName, "main", "dana", "Move on", map[string]string{"other.txt": "x"})
			return errorsOf(err, s.SetRuleset(repoName, "main", "missing"), s.RequireUpToDate(repoName, "main"))
		},
		"dirty": func(s *sim, _ int, _ string) error {
			_, err := s.PushFiles(repoName, "main", "dana", "Conflict", map[string]string{workflowFile: "x"})
			return err
		},
	} {
		t.Run(want, func(t *testing.T) {
			s := newSim(t, nil)
			n := s.opened()
			p, err := s.Pull(repoName, n)
			must(t, err)
			must(t, arrange(s, n, p.Head))
			s.settle()
			if got := s.state(n); got != strings.Fields(want)[0] {
				t.Errorf("state %s, want %s", got, want)
			}
		})
	}
}

var signatures = ghsim.Rule{Type: "required_signatures"}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A required check of an app counts only from that app, and a skipped one counts.
func TestRequiredCheckOfAnApp(t *testing.T) {
	s := newSim(t, nil)
	n := s.opened()
	p, err := s.Pull(repoName, n)
	must(t, err)
	var rules []ghsim.Rule
	must(t, json.Unmarshal([]byte(`[{"type":"required_status_checks","parameters":{
		"strict_required_status_checks_policy":false,
		"required_status_checks":[{"context":"report","integration_id":15368}]}}]`), &rules))
	must(t, s.SetRules(repoName, "main", rules...))
	_, err = s.CreateCheck(repoName, p.Head, ghsim.AppCheck{App: "other", Name: "report", Conclusion: "success"})
	must(t, err)
	if got := s.state(n); got != "blocked" {
		t.Errorf("with another app's check: %s", got)
	}
	_, err = s.CreateCheck(repoName, p.Head, ghsim.AppCheck{App: ghsim.ActionsApp, Name: "report", Conclusion: "skipped"})
	must(t, err)
	if got := s.state(n); got != "clean" {
		t.Errorf("with the app's check: %s", got)
	}
}

// Unsigned commits are accepted if no rule requires signatures, and can't be merged if one does. GitHub signs commits
// that an app makes through the API.
func TestSignatures(t *testing.T) {
	s := newSim(t, nil)
	must(t, s.AddRule(repoName, "main", signatures))
	n := s.opened()
	_, err := s.MergePull(repoName, n, "dana")
	must(t, err, "verified signatures")
	c := s.bot()
	_, resp, err := c.PullRequests.Merge(ctx, "acme", "shop", n, "", nil)
	if err == nil || resp.StatusCode != 405 {
		t.Errorf("merged unsigned commits: %v", err)
	}

	p, err := s.Pull(repoName, n)
	must(t, err)
	head, _, err := c.Repositories.GetCommit(ctx, "acme", "shop", p.Head, nil)
	must(t, err)
	main, err := s.Repo(repoName)
	must(t, err)
	for name, how := range map[string]struct {
		author *github.CommitAuthor
		signed bool
	}{
		"by the app":  {nil, true},
		"by somebody": {&github.CommitAuthor{Name: ptr("x"), Email: ptr("x@example.com")}, false},
	} {
		made, _, err := c.Git.CreateCommit(ctx, "acme", "shop", &github.Commit{Message: ptr("Change"),
			Tree: head.Commit.Tree, Parents: []*github.Commit{{SHA: &main.Head}}, Author: how.author}, nil)
		must(t, err)
		if made.GetVerification().GetVerified() != how.signed {
			t.Errorf("%s: %v", name, made.GetVerification())
		}
		if !how.signed {
			continue
		}
		_, _, err = c.Git.UpdateRef(ctx, "acme", "shop", &github.Reference{Ref: ptr("refs/heads/topic"),
			Object: &github.GitObject{SHA: made.SHA}}, false)
		if err == nil {
			t.Error("moved a branch to what is no descendant of it")
		}
		_, _, err = c.Git.UpdateRef(ctx, "acme", "shop", &github.Reference{Ref: ptr("refs/heads/topic"),
			Object: &github.GitObject{SHA: made.SHA}}, true)
		must(t, err)
	}
	s.settle()
	_, err = s.MergePull(repoName, n, "dana")
	must(t, err)
}

func TestRefsThroughTheAPI(t *testing.T) {
	s := newSim(t, nil)
	c := s.bot()
	r, err := s.Repo(repoName)
	must(t, err)
	main := r.Head
	ref := func(name, sha string) *github.Reference {
		return &github.Reference{Ref: &name, Object: &github.GitObject{SHA: &sha}}
	}
	_, _, err = c.Git.CreateRef(ctx, "acme", "shop", ref("refs/heads/new", main))
	must(t, err)
	must(t, s.SetRuleset(repoName, "kept", "test"))
	for name, bad := range map[string]*github.Reference{
		"exists": ref("refs/heads/new", main), "no object": ref("refs/heads/other", strings.Repeat("a", 40)),
		"guarded": ref("refs/heads/kept", main),
	} {
		if _, resp, err := c.Git.CreateRef(ctx, "acme", "shop", bad); err == nil || resp.StatusCode != 422 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := c.Git.UpdateRef(ctx, "acme", "shop", ref("refs/heads/nowhere", main), false); err == nil {
		t.Error("moved a branch that is not there")
	}
	if es := names(s.settle()); !slices.Contains(es, "create") || !slices.Contains(es, "push") {
		t.Errorf("events %v", es)
	}
}

// A rule of each kind that no check fulfils blocks the merge.
func TestRulesThatNoCheckFulfils(t *testing.T) {
	var rules []ghsim.Rule
	must(t, json.Unmarshal([]byte(everyKind), &rules))
	for _, rule := range rules[1:] {
		t.Run(rule.Type, func(t *testing.T) {
			s := newSim(t, nil)
			n := s.opened()
			must(t, s.SetRules(repoName, "main", rule))
			want := "blocked"
			if rule.Type == "non_fast_forward" || rule.Type == "commit_message_pattern" {
				want = "clean" // no push is forced, and the commits are called "Change"
			}
			if got := s.state(n); got != want {
				t.Errorf("state %s, want %s", got, want)
			}
		})
	}
	t.Run("approved", func(t *testing.T) {
		s := newSim(t, nil)
		n := s.opened()
		must(t, s.SetRules(repoName, "main", rules[6]))
		must(t, s.Review(repoName, n, "acme", "approved", "Good"))
		if got := s.state(n); got != "clean" {
			t.Errorf("state %s of what was approved", got)
		}
	})
	t.Run("message", func(t *testing.T) {
		s := newSim(t, nil)
		n := s.opened()
		must(t, s.SetRules(repoName, "main", ghsim.Rule{Type: "commit_message_pattern",
			Parameters: map[string]any{"operator": "regex", "pattern": `^[A-Z]+-\d+`}}))
		if got := s.state(n); got != "blocked" {
			t.Errorf("state %s with a message that does not fit", got)
		}
	})
}

// A job that succeeds in a later run of the same workflow and event replaces one that failed.
// https://github.com/everruns/everruns/pull/3739
func TestLaterRunOfTheSameEvent(t *testing.T) {
	for then, want := range map[string]string{"exit 0": "clean", "exit 1": "blocked"} {
		s := newSim(t, map[string]string{".github/workflows/form.yml": "on: {pull_request: {types: [opened, reopened]}}\n" +
			"jobs: {form: {steps: [{if: \"github.event.action == 'opened'\", run: exit 1}, {run: " + then + "}]}}\n"})
		must(t, s.SetRuleset(repoName, "main", "form"))
		n := s.opened()
		s.settle()
		if got := s.state(n); got != "blocked" {
			t.Errorf("opened: state %s", got)
		}
		must(t, s.ClosePull(repoName, n, "dana"))
		must(t, s.ReopenIssue(repoName, n, "dana"))
		s.settle()
		if got := s.state(n); got != want {
			t.Errorf("opened again, %s: state %s, want %s", then, got, want)
		}
	}
}

// A rule requires a workflow of another repository for pull requests, and only that fulfils it: one of the same path in
// this repository does not.
func TestRequiredWorkflowOfAnotherRepository(t *testing.T) {
	s := newSim(t, nil)
	other, err := s.CreateRepo("acme", "central", ghsim.RepoSpec{Files: map[string]string{
		workflowFile: "name: Central\non: pull_request\njobs: {audit: {steps: [{run: exit 1}]}}\n"}})
	must(t, err)
	must(t, s.SetRules(repoName, "main", ghsim.Rule{Type: "workflows", Parameters: map[string]any{"workflows": []any{
		map[string]any{"path": workflowFile, "repository_id": other.ID, "ref": "refs/heads/main"}}}}))
	n := s.opened()
	p, err := s.Pull(repoName, n)
	must(t, err)
	if diff := cmp.Diff([]string{"pull_request failure", "pull_request success", "push success"},
		s.conclusions(p.Head)); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if got := s.state(n); got != "blocked" {
		t.Errorf("state %s", got)
	}
	runs, _, err := s.bot().Actions.ListRepositoryWorkflowRuns(ctx, "acme", "shop", nil)
	must(t, err)
	if got := runs.WorkflowRuns[0]; got.GetName() != "Central" || got.GetPath() != workflowFile ||
		!strings.Contains(got.GetWorkflowURL(), "/repos/acme/shop/actions/required_workflows/") {
		t.Errorf("run of %s, %s, %s", got.GetName(), got.GetPath(), got.GetWorkflowURL())
	}
	look := s.look(s.token(nil), map[string]any{"commit": p.Head})
	var from []string
	for i := range 4 {
		if name := at(look, "data", "repository", "object", "checkSuites", "nodes", i, "workflowRun", "file",
			"repositoryName"); name != nil {
			from = append(from, fmt.Sprint(name))
		}
	}
	if diff := cmp.Diff([]string{"acme/shop", "acme/shop", "acme/central"}, from); diff != "" {
		t.Errorf("whose files ran (-want +got):\n%s", diff)
	}
}
