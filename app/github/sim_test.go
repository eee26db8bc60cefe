package github_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/view"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// site is the adapter with the GitHub simulator, which checks their requests and responses against GitHub's published
// description.
type site struct {
	sim   *ghsim.Server
	app   *github.App
	cfg   github.Config // of the app
	repo  *github.Repo
	in    int64
	simID int64 // id of the app
	head  string
	full  string        // owner/name of the repository
	ahead time.Duration // offset of the adapter's clock
}

const full = "acme/shop"

// beside creates another repository on the simulator, for a case with lasting effects.
func (s *site) beside(t *testing.T, org string) *site {
	t.Helper()
	s.sim.CreateOrg(org)
	made, err := s.sim.CreateRepo(org, "shop", ghsim.RepoSpec{Files: map[string]string{"README.md": "shop\n"}})
	check(t, err)
	check(t, s.sim.SetPermission(org+"/shop", "ann", "maintain"))
	in, err := s.sim.Install(s.simID, org, "shop")
	check(t, err)
	return &site{sim: s.sim, app: s.app, simID: s.simID, in: in, head: made.Head, full: org + "/shop",
		repo: s.app.Repo(in, sia.Repo{ID: made.ID, Owner: org, Name: "shop"})}
}

func open(t *testing.T, cfg ghsim.Config) *site {
	t.Helper()
	sim, err := ghsim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := sim.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	sim.CreateOrg("acme")
	sim.CreateUser("ann")
	made, err := sim.CreateRepo("acme", "shop", ghsim.RepoSpec{Files: map[string]string{"README.md": "shop\n"}})
	if err != nil {
		t.Fatal(err)
	}
	check(t, sim.SetPermission(full, "ann", "maintain"))
	registered, err := sim.CreateApp("sia")
	if err != nil {
		t.Fatal(err)
	}
	in, err := sim.Install(registered.ID, "acme", "shop")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{sim: sim, in: in, simID: registered.ID, head: made.Head}
	s.cfg = github.Config{AppID: registered.ID, PrivateKey: registered.PrivateKeyPEM,
		BaseURL: sim.APIURL(), Secrets: &secret.Masker{}, WriteBurst: 100, Writes: github.Uncounted{},
		Now: func() time.Time { return time.Now().Add(s.ahead) }}
	s.app, err = github.New(s.cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.repo = s.app.Repo(in, sia.Repo{ID: made.ID, Owner: "acme", Name: "shop"})
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestATasksLifeOnTheSimulator(t *testing.T) {
	s := open(t, ghsim.Config{NoWorkflows: true})
	ctx := context.Background()
	const marker = "<!-- sia:v1 task=1-1 kind=status key=1 -->"

	self, err := s.app.Self(ctx)
	check(t, err)
	if self.Login != "sia[bot]" || self.UserID == 0 {
		t.Errorf("self %+v", self)
	}
	repos, err := s.app.Repositories(ctx, s.in)
	check(t, err)
	if len(repos) != 1 || repos[0].String() != full || repos[0].DefaultBranch != "main" {
		t.Errorf("repositories %+v", repos)
	}
	if n, err := s.app.RepositoryCount(ctx, s.in); err != nil || n != 1 {
		t.Errorf("%d repositories, %v", n, err)
	}

	check(t, s.repo.EnsureLabels(ctx,
		[]view.Label{{Name: "sia", Color: "0e8a16", Description: "d"},
			{Name: "sia:working", Color: "fbca04", Description: "w"}}))
	n, err := s.sim.OpenIssue(full, "ann", "Confirm bookings", "please", "sia")
	check(t, err)
	issue, err := s.repo.Issue(ctx, n)
	check(t, err)
	if issue.Author != "ann" || !slices.Equal(issue.Labels, []string{"sia"}) {
		t.Errorf("issue %+v", issue)
	}
	if p, err := s.repo.Permission(ctx, "ann"); err != nil || p != "maintain" {
		t.Errorf("ann may %q, %v", p, err)
	}
	if err := s.repo.SwapLabels(ctx, n, []string{"sia:working"}, []string{"sia:paused"}); err != nil {
		t.Fatal(err)
	}
	check(t, s.repo.React(ctx, sia.Origin{OnIssue: n}, "eyes"))

	forged, err := s.sim.Comment(full, n, "ann", marker+"\nforged, before SIA says something")
	check(t, err)
	first, err := s.repo.UpsertComment(ctx, n, marker, "working", 0)
	check(t, err)
	_, err = s.sim.Comment(full, n, "ann", marker+"\nforged")
	check(t, err)
	again, err := s.repo.UpsertComment(ctx, n, marker, "done", 0)
	check(t, err)
	known, err := s.repo.UpsertComment(ctx, n, marker, "done, as said", forged)
	check(t, err)
	if first.ID == forged || again.ID != first.ID || known.ID != first.ID ||
		known.Body != marker+"\ndone, as said" {
		t.Errorf("first %+v, again %+v, known %+v", first, again, known)
	}
	comments, err := s.repo.CommentsSince(ctx, n, time.Now().Add(-time.Hour))
	check(t, err)
	if len(comments) != 3 {
		t.Errorf("comments %+v", comments)
	}

	head, err := s.sim.PushFiles(full, "sia/issue-1", "ann", "work", map[string]string{"a.txt": "a\n"})
	check(t, err)
	if got, ok, err := s.repo.Head(ctx, "sia/issue-1"); got != head || !ok || err != nil {
		t.Errorf("head %s, %v", got, err)
	}
	want := github.NewPull{Head: "sia/issue-1", Base: "main", Title: "Confirm bookings", Body: "Closes #1", Draft: true}
	pull, err := s.repo.EnsurePull(ctx, want)
	check(t, err)
	same, err := s.repo.EnsurePull(ctx, want)
	check(t, err)
	if !pull.Draft || same.Number != pull.Number || pull.HeadSHA != head || pull.Fork {
		t.Errorf("pull %+v, same %+v", pull, same)
	}

	check(t, s.sim.CreateStatus(full, head, "ann", "ci/build", "failure", "broken"))
	spec := github.CheckRunSpec{Name: "SIA", HeadSHA: head, ExternalID: "1-1", CheckRun: view.CheckRun{
		Status: "in_progress", Title: "Attempt 1", Summary: "s",
		Actions: []view.Action{{Label: "Stop", Description: "Stop this task", Identifier: "stop"}}}}
	id, err := s.repo.CheckRuns.Upsert(ctx, spec, 0)
	check(t, err)
	spec.Status, spec.Conclusion, spec.Actions = "completed", "failure", nil
	id2, err := s.repo.CheckRuns.Upsert(ctx, spec, 0)
	check(t, err)
	if id != id2 {
		t.Errorf("check runs %d and %d", id, id2)
	}
	shown, err := s.sim.CheckRuns(full, head)
	check(t, err)
	if len(shown) != 1 || shown[0].Conclusion != "failure" || len(shown[0].Buttons) != 0 {
		t.Errorf("shown %+v", shown)
	}
	set, err := s.repo.Checks.Of(ctx, head)
	check(t, err)
	if len(set.Runs) != 1 || set.Runs[0].AppID != s.simID || len(set.Statuses) != 1 || set.Statuses[0].State != "failure" {
		t.Errorf("checks %+v", set)
	}

	if got, err := s.repo.Rules.Required(ctx, "main"); len(got.All) != 0 || !got.Known || got.Strict || err != nil {
		t.Errorf("required %+v, %v", got, err)
	}
	check(t, s.repo.MarkReady(ctx, pull.NodeID))
	check(t, s.repo.MarkReady(ctx, pull.NodeID))
	if pull, err = s.repo.Pull(ctx, pull.Number); err != nil || pull.Draft {
		t.Errorf("pull %+v, %v", pull, err)
	}

	asked := github.NewIssue{Marker: strings.Replace(marker, "status", "escalation", 1), Title: "A question", Body: "?",
		Labels: []string{"sia"}, Assignees: []string{"ann"}}
	q, err := s.repo.CreateIssue(ctx, asked)
	check(t, err)
	check(t, s.repo.CloseIssue(ctx, q, "completed"))
	if found, err := s.repo.CreateIssue(ctx, asked); err != nil || found.Number != q.Number || found.State != "closed" {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestRequiredOnTheSimulator(t *testing.T) {
	s := open(t, ghsim.Config{NoWorkflows: true})
	check(t, s.sim.SetBranchProtection(full, "main", "test", "build"))
	check(t, s.sim.SetRuleset(full, "main", "lint", "test"))
	check(t, s.sim.RequireUpToDate(full, "main"))
	got, err := s.repo.Rules.Required(context.Background(), "main")
	want := github.Requirements{All: []gate.Required{{Name: "build"}, {Name: "lint"}, {Name: "test"}}, Known: true,
		Strict: true}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%s, %v", d, err)
	}
}

// A branch's requirements are cached for a minute, except for the final check.
func TestFetchRequiredOnTheSimulator(t *testing.T) {
	s := open(t, ghsim.Config{NoWorkflows: true})
	ctx := context.Background()
	_, err := s.repo.Rules.Required(ctx, "main")
	check(t, err)
	check(t, s.sim.SetRuleset(full, "main", "lint"))
	got, err := s.repo.Rules.FetchRequired(ctx, "main")
	want := github.Requirements{All: []gate.Required{{Name: "lint"}}, Known: true}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%s, %v", d, err)
	}
	if got, err = s.repo.Rules.Required(ctx, "main"); err != nil || len(got.All) != 1 {
		t.Errorf("then remembered: %+v, %v", got, err)
	}
}

// The final check takes one request if the rules are unchanged, and detects all changes.
func TestLastWordOnTheSimulator(t *testing.T) {
	ctx := context.Background()
	all := open(t, ghsim.Config{NoWorkflows: true})
	rule := func(kind string, of map[string]any) ghsim.Rule {
		return ghsim.Rule{Type: kind, Parameters: map[string]any{kind: []any{of}}}
	}
	for name, c := range map[string]struct {
		change func(s *site) error
		one    bool
		want   func(p github.PullState, q github.Requirements) bool
	}{
		"nothing has changed": {func(*site) error { return nil }, true,
			func(p github.PullState, q github.Requirements) bool { return !p.Closed && len(q.All) == 2 && q.Known }},
		"somebody pushed": {func(s *site) error {
			_, err := s.sim.PushFiles(s.full, "fix", "ann", "more", map[string]string{"c.txt": "c\n"})
			return err
		}, true, func(p github.PullState, _ github.Requirements) bool { return p.HeadBy.Login == "ann" }},
		"it was closed": {func(s *site) error { return s.sim.ClosePull(s.full, 1, "ann") }, true,
			func(p github.PullState, _ github.Requirements) bool { return p.Closed && !p.Merged }},
		"a check more": {func(s *site) error { return s.sim.AddRule(s.full, "main", model.ChecksRule("lint")) }, false,
			func(_ github.PullState, q github.Requirements) bool { return len(q.All) == 3 }},
		"of one app": {func(s *site) error {
			return s.sim.AddRule(s.full, "main", rule(model.RuleChecks, map[string]any{"context": "test",
				"integration_id": 7}))
		}, false, func(_ github.PullState, q github.Requirements) bool { return len(q.All) == 3 && q.All[2].App == 7 }},
		"of another repository": {func(s *site) error {
			return s.sim.AddRule(s.full, "main", rule(model.RuleWorkflows, map[string]any{"path": "a.yml",
				"repository_id": 12345}))
		}, false, func(_ github.PullState, q github.Requirements) bool { return len(q.All) == 3 }},
		"protected": {func(s *site) error { return s.sim.SetBranchProtection(s.full, "main", "lint") }, false,
			func(_ github.PullState, q github.Requirements) bool { return len(q.All) == 3 }},
		"no rules any more": {func(s *site) error { return s.sim.SetRules(s.full, "main") }, false,
			func(_ github.PullState, q github.Requirements) bool { return len(q.All) == 0 && q.Known }},
		"no rules by the plan": {func(s *site) error { return s.sim.LackRules(s.full) }, false,
			func(_ github.PullState, q github.Requirements) bool { return len(q.All) == 0 && q.Known }},
		"hidden": {func(s *site) error { return s.sim.HideRules(s.full, 403) }, false,
			func(_ github.PullState, q github.Requirements) bool { return !q.Known }},
	} {
		t.Run(name, func(t *testing.T) {
			s := all.beside(t, "org-"+strings.ReplaceAll(name, " ", "-"))
			made, err := s.sim.CreateRepo(strings.TrimSuffix(s.full, "/shop"), "shared",
				ghsim.RepoSpec{Files: map[string]string{"README.md": "shared\n"}})
			check(t, err)
			check(t, s.sim.SetRuleset(s.full, "main", "test"))
			check(t, s.sim.AddRule(s.full, "main", rule(model.RuleWorkflows, map[string]any{"path": "a.yml",
				"repository_id": made.ID})))
			_, err = s.sim.PushFiles(s.full, "fix", "ann", "fix", map[string]string{"b.txt": "b\n"})
			check(t, err)
			n, err := s.sim.OpenPull(s.full, "ann", "fix", "main", "fix", "", false)
			check(t, err)
			if n != 1 {
				t.Fatalf("pull request %d", n)
			}
			_, err = s.repo.Rules.Required(ctx, "main")
			check(t, err)
			check(t, c.change(s))
			before := len(s.sim.Calls())
			w, err := s.repo.Checks.FinalState(ctx, 1, "main")
			if err != nil || !c.want(w.Pull, w.Required) {
				t.Errorf("%+v, %v", w, err)
			}
			if calls := len(s.sim.Calls()) - before; c.one != (calls == 1) {
				t.Errorf("%d requests", calls)
			}
		})
	}
}

// The history near a branch is cached for an hour, except for the final check.
func TestHistoryOfTheLastWord(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]func(s *site){
		"in one request": func(*site) {},
		"the rules are not known": func(s *site) {
			check(t, s.sim.HideRules(full, 403))
		},
		"over REST": func(s *site) {
			s.sim.FailRequests(func(r *http.Request) *ghsim.Fault {
				if strings.HasSuffix(r.URL.Path, "/graphql") {
					return &ghsim.Fault{Status: http.StatusBadGateway}
				}
				return nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, ghsim.Config{NoWorkflows: true})
			_, err := s.sim.PushFiles(full, "fix", "ann", "fix", map[string]string{"b.txt": "b\n"})
			check(t, err)
			_, err = s.sim.OpenPull(full, "ann", "fix", "main", "fix", "", false)
			check(t, err)
			c(s)
			head, err := s.sim.Pull(full, 1)
			check(t, err)
			_, err = s.repo.Checks.Look(ctx, github.LookAt{SHA: head.Head, Pull: 1, Branch: "main"})
			check(t, err)
			_, err = s.repo.Rules.Required(ctx, "main")
			check(t, err)
			check(t, s.sim.CreateStatus(full, head.Base, "ann", "license/cla", "success", ""))
			w, err := s.repo.Checks.FinalState(ctx, 1, "main")
			want := [][]sia.Reported{{{Name: "license/cla"}}}
			if d := cmp.Diff(want, w.History.Base); d != "" || err != nil {
				t.Errorf("%s, %v", d, err)
			}
			look, err := s.repo.Checks.Look(ctx, github.LookAt{SHA: head.Head, Pull: 1, Branch: "main"})
			if d := cmp.Diff(want, look.History.Base); d != "" || err != nil {
				t.Errorf("then remembered: %s, %v", d, err)
			}
		})
	}
}

// A look reads earlier heads up to the limit.
func TestLookAtEarlierHeads(t *testing.T) {
	ctx := context.Background()
	s := open(t, ghsim.Config{NoWorkflows: true})
	var heads []string
	for i := range github.MaxEarlier + 1 {
		sha, err := s.sim.PushFiles(full, "fix", "ann", "fix", map[string]string{"b.txt": strings.Repeat("b", i+1)})
		check(t, err)
		check(t, s.sim.CreateStatus(full, sha, "ann", fmt.Sprint("ci/", i), "success", ""))
		heads = append(heads, sha)
	}
	look, err := s.repo.Checks.Look(ctx, github.LookAt{SHA: heads[github.MaxEarlier], Earlier: heads[:github.MaxEarlier]})
	check(t, err)
	if len(look.Earlier) != github.MaxEarlier {
		t.Fatalf("%d of %d earlier heads", len(look.Earlier), github.MaxEarlier)
	}
	for i, earlier := range look.Earlier {
		if got := earlier.Checks.Statuses; len(got) != 1 || got[0].Context != fmt.Sprint("ci/", i) {
			t.Errorf("head %d: %+v", i, got)
		}
	}
}

// A branch that not all of GitHub's replicas have yet is not taken for one with hidden rules: the request is retried.
func TestRequiredOfANewBranchOnTheSimulator(t *testing.T) {
	s := open(t, ghsim.Config{NoWorkflows: true})
	ctx := context.Background()
	s.sim.Lag(1)
	_, err := s.sim.PushFiles(full, "dev", "ann", "another base", map[string]string{"b.txt": "b\n"})
	check(t, err)
	check(t, s.sim.SetRuleset(full, "dev", "lint"))
	if got, err := s.repo.Rules.Required(ctx, "dev"); err == nil || sia.IsPermanent(err) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := s.repo.Rules.Required(ctx, "dev"); err != nil || !got.Known || len(got.All) != 1 {
		t.Errorf("a moment later: %+v, %v", got, err)
	}
}

func TestMissingPermissionOnTheSimulator(t *testing.T) {
	s := open(t, ghsim.Config{NoWorkflows: true})
	check(t, s.sim.SetAppPermissions(s.simID,
		map[string]string{"contents": "write", "issues": "write", "pull_requests": "write", "statuses": "read",
			"actions": "write"}))
	ctx := context.Background()
	n, err := s.sim.OpenIssue(full, "ann", "T", "B")
	check(t, err)
	if _, err := s.repo.Issue(ctx, n); err != nil {
		t.Errorf("what was granted does not work: %v", err)
	}
	s.ahead = 10 * time.Second // the token is no longer new, so that a refusal counts
	_, err = s.repo.Checks.Of(ctx, s.head)
	if !sia.IsPermanent(err) || !strings.Contains(err.Error(), `"checks: read"`) {
		t.Errorf("got %v", err)
	}
}

func TestTroubleOnTheSimulator(t *testing.T) {
	s := open(t, ghsim.Config{NoWorkflows: true})
	ctx := context.Background()
	n, err := s.sim.OpenIssue(full, "ann", "T", "B")
	check(t, err)
	if _, err := s.repo.Issue(ctx, n); err != nil {
		t.Fatal(err)
	}
	// The response to a comment is lost after the comment was written: looking first finds it.
	s.sim.FailRequests(ghsim.Once(ghsim.Fault{Status: 502, After: true, Times: 1}, func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/comments")
	}))
	const marker = "<!-- sia:v1 task=1-1 kind=announce key=1 -->"
	if _, err := s.repo.UpsertComment(ctx, n, marker, "x", 0); err == nil || sia.IsPermanent(err) {
		t.Errorf("got %v", err)
	}
	_, err = s.repo.UpsertComment(ctx, n, marker, "x", 0)
	check(t, err)
	if v, err := s.sim.Issue(full, n); err != nil || len(v.Comments) != 1 {
		t.Errorf("comments %+v, %v", v.Comments, err)
	}
	s.sim.ExhaustRateLimit(s.in, "core", time.Now().Add(time.Hour))
	if _, err := s.repo.Issue(ctx, n); sia.IsPermanent(err) || sia.RetryAfter(err) < 50*time.Minute {
		t.Errorf("got %v", err)
	}
}

func TestLogsOnTheSimulator(t *testing.T) {
	s := open(t, ghsim.Config{})
	ctx := context.Background()
	const workflow = "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n" +
		"      - run: echo one; echo two; exit 1\n"
	head, err := s.sim.PushFiles(full, "sia/issue-1", "ann", "work",
		map[string]string{".github/workflows/ci.yml": workflow})
	check(t, err)
	check(t, s.sim.WaitIdle(ctx))
	set, err := s.repo.Checks.Of(ctx, head)
	check(t, err)
	if len(set.Runs) != 1 || set.Runs[0].Conclusion != "failure" || set.Runs[0].RunID == 0 || set.Runs[0].JobID == 0 {
		t.Fatalf("checks %+v", set)
	}
	log, err := s.repo.Actions.JobLog(ctx, set.Runs[0])
	check(t, err)
	b, err := io.ReadAll(log)
	check(t, err)
	check(t, log.Close())
	if !strings.Contains(string(b), "two") {
		t.Errorf("log %s", b)
	}
	if _, err := s.repo.Actions.RerunChecks(ctx, set.Runs); err != nil {
		t.Fatal(err)
	}
	check(t, s.sim.WaitIdle(ctx))
	if set, err = s.repo.Checks.Of(ctx, head); err != nil || len(set.Runs) != 2 {
		t.Errorf("after the re-run: %+v, %v", set, err)
	}
	if _, err := s.repo.Actions.JobLog(ctx, github.CheckRun{Name: "x", JobID: 999999}); !errors.Is(err, github.ErrNoLog) {
		t.Errorf("got %v", err)
	}
}

// TestWhatBlocksAnIssue: the issue has the numbers of its blockers and sub-issues, and the open blockers are listed.
func TestWhatBlocksAnIssue(t *testing.T) {
	s := open(t, ghsim.Config{NoWorkflows: true})
	ctx := context.Background()
	var n [4]int
	for i := range n {
		var err error
		n[i], err = s.sim.OpenIssue(full, "ann", "Issue", "body")
		check(t, err)
	}
	check(t, s.sim.BlockIssue(full, n[0], "ann", n[1]))
	check(t, s.sim.BlockIssue(full, n[0], "ann", n[2]))
	check(t, s.sim.AddSubIssue(full, n[0], "ann", n[3]))
	check(t, s.sim.CloseIssue(full, n[1], "ann"))
	issue, err := s.repo.Issue(ctx, n[0])
	check(t, err)
	if issue.Blockers != 1 || issue.SubIssues != 1 || issue.OpenSubs != 1 {
		t.Errorf("issue %+v", issue)
	}
	changed, err := s.repo.ChangedIssues(ctx, time.Now().Add(-time.Hour))
	check(t, err)
	if d := cmp.Diff(issue, changed[n[0]]); d != "" {
		t.Error(d)
	}
	blockers, err := s.repo.OpenBlockers(ctx, n[0])
	check(t, err)
	if len(blockers) != 1 || blockers[0].Number != n[2] || blockers[0].Repo != full || blockers[0].URL == "" {
		t.Errorf("blockers %+v", blockers)
	}
	s.sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if strings.HasSuffix(r.URL.Path, "/dependencies/blocked_by") {
			return &ghsim.Fault{Status: http.StatusNotFound}
		}
		return nil
	})
	if got, err := s.repo.OpenBlockers(ctx, n[0]); err != nil || len(got) != 0 {
		t.Errorf("an old server: %v, %v", got, err)
	}
}
