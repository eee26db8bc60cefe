package ghsim_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sim/ghsim"
)

const bothTriggers = "on: [push, pull_request]\njobs: {test: {steps: [{run: 'true'}]}}\n"

// opened is a pull request of a branch with a workflow for pushes and pull requests; everything about its first commit
// has happened.
func (s *sim) opened() (number int) {
	s.t.Helper()
	s.pushed(bothTriggers)
	n, err := s.OpenPull(repoName, "dana", "topic", "main", "T", "", false)
	must(s.t, err)
	s.settle()
	return n
}

// Whatever its token, a push moves the pull request; the token decides what runs.
func TestPushesOfBots(t *testing.T) {
	for name, c := range map[string]struct {
		push ghsim.BotPush
		runs []string
	}{
		"an app's token": {ghsim.BotPush{Login: "pre-commit-ci[bot]", Message: "Fix"},
			[]string{"pull_request success", "push success"}},
		"GITHUB_TOKEN": {ghsim.BotPush{Login: "github-actions[bot]", Message: "Fix", Token: ghsim.GitHubToken},
			[]string{"pull_request action_required"}},
		"GITHUB_TOKEN elsewhere": {ghsim.BotPush{Login: "github-actions[bot]", Message: "Fix",
			Token: ghsim.SilentToken}, nil},
		"skip ci": {ghsim.BotPush{Login: "pre-commit-ci[bot]", Message: "Fix\n\n[skip ci]"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSim(t, nil)
			n := s.opened()
			before := len(s.settle())
			c.push.Files = map[string]string{"bot.txt": "x"}
			sha, err := s.PushAsBot(repoName, "topic", c.push)
			must(t, err)
			es := s.settle()[before:]
			p, err := s.Pull(repoName, n)
			must(t, err)
			if p.Head != sha || !slices.Contains(names(es), "pull_request.synchronize") {
				t.Errorf("pull request at %s, events %v", p.Head, names(es))
			}
			if who := at(es[0].Payload, "sender", "login"); who != c.push.Login {
				t.Errorf("sender %v", who)
			}
			if diff := cmp.Diff(c.runs, s.conclusions(sha)); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			user := at(s.look(s.token(nil), map[string]any{"commit": sha, "number": n}), "data", "repository",
				"pullRequest", "commits", "nodes", 0, "commit", "author")
			if at(user, "user") != nil || at(user, "name") != c.push.Login {
				t.Errorf("author of the look: %v", user)
			}
		})
	}
}

// Runs that wait because of GITHUB_TOKEN run after an approval.
func TestApprovalOfABotsPush(t *testing.T) {
	s := newSim(t, nil)
	s.opened()
	sha, err := s.PushAsBot(repoName, "topic", ghsim.BotPush{Login: "github-actions[bot]", Message: "Fix",
		Files: map[string]string{"bot.txt": "x"}, Token: ghsim.GitHubToken})
	must(t, err)
	must(t, s.ApproveWorkflows(repoName, "dana"))
	s.settle()
	if diff := cmp.Diff([]string{"pull_request success"}, s.conclusions(sha)); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestSkipWords(t *testing.T) {
	s := newSim(t, nil)
	s.pushed(bothTriggers)
	for _, c := range []struct {
		message string
		runs    int
	}{
		{"Change [skip ci]", 0}, {"Change [ci skip]", 0}, {"Change [no ci]", 0}, {"[skip actions] Change", 0},
		{"Change\n\nbecause\n\n[actions skip]", 0}, {"Change\n\n\nskip-checks: true", 0},
		{"Change\n\n\nskip-checks:true", 0},
		{"Change skip ci", 1}, {"Change\n\nskip-checks: false", 1},
	} {
		sha, err := s.PushFiles(repoName, "topic", "dana", c.message, map[string]string{"x.txt": c.message})
		must(t, err)
		s.settle()
		if got := s.conclusions(sha); len(got) != c.runs {
			t.Errorf("%q: runs %v, want %d", c.message, got, c.runs)
		}
	}
}

// Check runs made through the API belong to the app's first suite, whatever its run.
func TestChecksOfApps(t *testing.T) {
	s := newSim(t, nil)
	sha := s.pushed(bothTriggers)
	first, err := s.CreateCheck(repoName, sha, ghsim.AppCheck{App: ghsim.ActionsApp, Name: "report", Conclusion: "failure",
		Title: "2 tests failed", Summary: "…"})
	must(t, err)
	again, err := s.CreateCheck(repoName, sha, ghsim.AppCheck{App: ghsim.ActionsApp, Name: "report",
		Status: "in_progress"})
	must(t, err)
	_, err = s.CreateCheck(repoName, sha, ghsim.AppCheck{App: "codecov", Name: "codecov/patch", Conclusion: "success"})
	must(t, err)
	s.settle()
	want := []string{"github-actions test success", "github-actions report failure", "github-actions report in_progress",
		"codecov codecov/patch success"}
	if diff := cmp.Diff(want, s.checks(sha)); diff != "" {
		t.Errorf("check runs (-want +got):\n%s", diff)
	}
	// The run of that suite is unchanged, and so is its suite.
	if diff := cmp.Diff([]string{"push success"}, s.conclusions(sha)); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	c := s.bot()
	run, _, err := c.Checks.GetCheckRun(ctx, "acme", "shop", first)
	must(t, err)
	if run.GetDetailsURL() != run.GetHTMLURL() || run.GetApp().GetSlug() != ghsim.ActionsApp {
		t.Errorf("details at %s, page %s, app %s", run.GetDetailsURL(), run.GetHTMLURL(), run.GetApp().GetSlug())
	}
	newer, _, err := c.Checks.GetCheckRun(ctx, "acme", "shop", again)
	must(t, err)
	if newer.GetCheckSuite().GetID() != run.GetCheckSuite().GetID() {
		t.Error("the two hang in suites of their own")
	}
	runs, _, err := c.Actions.ListRepositoryWorkflowRuns(ctx, "acme", "shop", nil)
	must(t, err)
	if runs.WorkflowRuns[0].GetCheckSuiteID() != run.GetCheckSuite().GetID() {
		t.Error("they don't hang in the suite of the run")
	}
	must(t, s.UpdateCheck(repoName, again, ghsim.AppCheck{Conclusion: "success"}))
	if err := s.UpdateCheck(repoName, 1, ghsim.AppCheck{Conclusion: "success"}); err == nil {
		t.Error("changed a check run that is not there")
	}
}

// Apps report on the test merge, too.
func TestChecksOfTheTestMerge(t *testing.T) {
	s := newSim(t, nil)
	n := s.opened()
	merge, err := s.TestMerge(repoName, n)
	must(t, err)
	_, err = s.CreateCheck(repoName, merge, ghsim.AppCheck{App: "builder", Name: "merged", Conclusion: "failure"})
	must(t, err)
	p, err := s.Pull(repoName, n)
	must(t, err)
	tok, vars := s.token(nil), map[string]any{"commit": p.Head, "number": n}
	s.look(tok, vars)
	got := at(s.look(tok, vars), "data", "repository", "pullRequest")
	run := at(got, "potentialMergeCommit", "checkSuites", "nodes", 0, "checkRuns", "nodes", 0)
	if at(run, "name") != "merged" || at(run, "conclusion") != "FAILURE" || at(got, "mergeStateStatus") != "UNSTABLE" {
		t.Errorf("run on the test merge %v, state %v", run, at(got, "mergeStateStatus"))
	}
}

// A refused push does not affect the next one.
func TestPushesThatAreRefused(t *testing.T) {
	s := newSim(t, nil)
	files := map[string]string{"x.txt": "x"}
	_, err := s.PushFiles(repoName, "topic", "mallory", "x", files)
	must(t, err, "needs write")
	_, err = s.PushAsBot(repoName, "topic", ghsim.BotPush{Login: "robot", Message: "x", Files: files})
	must(t, err, "is no bot")
	_, err = s.PushFiles(repoName, "topic", "dana", "x", files)
	must(t, err)
	s.settle()
}
