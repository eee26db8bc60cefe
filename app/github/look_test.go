package github_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/ghsim/conformance"
)

// twice is a workflow that runs for a push and for a pull request, with a job that is skipped in one of the runs.
const twice = `name: CI
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps: [{run: grep -q green hello.txt}]
  docs:
    if: github.event_name == 'push'
    runs-on: ubuntu-latest
    steps: [{run: "true"}]
`

// judged opens a pull request with all kinds of checks on its head. It returns the head and the pull request's
// number.
func judged(t *testing.T, s *site) (head string, pull int) {
	t.Helper()
	_, err := s.sim.PushFiles(full, "main", "ann", "CI", map[string]string{".github/workflows/ci.yml": twice,
		".github/workflows/broken.yml": "on: push\njobs: 7\n", "hello.txt": "green\n"})
	check(t, err)
	head, err = s.sim.PushFiles(full, "topic", "ann", "a change", map[string]string{"hello.txt": "green as well\n"})
	check(t, err)
	check(t, s.sim.SetActions(full, ghsim.Actions{Default: "on: dynamic\njobs: {analyze: {steps: [{run: exit 1}]}}\n"}))
	pull, err = s.sim.OpenPull(full, "ann", "topic", "main", "A change", "", true)
	check(t, err)
	check(t, s.sim.CreateStatus(full, head, "ann", "ci/legacy", "failure", "It is red"))
	check(t, s.sim.CreateStatus(full, head, "ann", "ci/other", "success", "It is green"))
	merge, err := s.sim.TestMerge(full, pull)
	check(t, err)
	check(t, s.sim.CreateStatus(full, merge, "ann", "ci/other", "pending", "It runs on the merge"))
	check(t, s.sim.WaitIdle(context.Background()))
	return head, pull
}

// overREST makes GitHub refuse GraphQL.
func overREST(s *site) {
	s.sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if strings.HasSuffix(r.URL.Path, "/graphql") {
			return &ghsim.Fault{Status: 404, Body: `{"message":"Not Found"}`}
		}
		return nil
	})
}

// One GraphQL request returns the same look as four of REST.
func TestLook(t *testing.T) {
	t.Parallel()
	s := open(t, ghsim.Config{})
	ctx := context.Background()
	head, pull := judged(t, s)

	_, err := s.repo.Checks.Look(ctx, github.LookAt{SHA: head, Pull: pull}) // GitHub is still computing the merge
	check(t, err)
	before := len(s.sim.Calls())
	byGraphQL, err := s.repo.Checks.Look(ctx, github.LookAt{SHA: head, Pull: pull})
	check(t, err)
	if n := len(s.sim.Calls()) - before; n != 1 {
		t.Errorf("%d requests for a look", n)
	}
	both, err := s.repo.Checks.Look(ctx, github.LookAt{SHA: head, Pull: pull, Base: s.head})
	check(t, err)
	base, err := s.repo.Checks.Look(ctx, github.LookAt{SHA: s.head})
	check(t, err)
	if d := gocmp.Diff(&base, both.Base); d != "" {
		t.Errorf("the base by itself against the base beside its head:\n%s", d)
	}
	overREST(s)
	fresh := s.app.Repo(s.in, s.repo.Name())
	rest, err := fresh.Checks.Look(ctx, github.LookAt{SHA: head, Pull: pull})
	check(t, err)
	if rest.WorkflowsKnown || len(rest.Checks.Runs) < 4 {
		t.Errorf("over REST: %+v", rest)
	}
	rest.Workflows, rest.WorkflowsKnown, err = fresh.Actions.Workflows(ctx, head)
	check(t, err)
	if len(rest.Workflows) < 3 {
		t.Errorf("%d runs of workflows", len(rest.Workflows))
	}
	sameLook(t, rest, byGraphQL)
	if s := rest.Checks.Statuses; len(s) != 2 || s[0].State != "failure" || s[1].State != "pending" {
		t.Errorf("statuses %+v", s)
	}
}

// sameLook compares a look over REST, with the workflow runs, with one over GraphQL. It sorts both.
func sameLook(t *testing.T, rest, byGraphQL github.Look) {
	t.Helper()
	byContext := func(a, b gate.Status) int { return cmp.Compare(a.Context, b.Context) }
	slices.SortFunc(rest.Checks.Statuses, byContext)
	slices.SortFunc(byGraphQL.Checks.Statuses, byContext)
	byID := func(a, b github.CheckRun) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(rest.Checks.Runs, byID)
	slices.SortFunc(byGraphQL.Checks.Runs, byID)
	workflowsByID := func(a, b gate.Workflow) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(rest.Workflows, workflowsByID)
	slices.SortFunc(byGraphQL.Workflows, workflowsByID)
	// GraphQL lacks attempts; REST lacks the base's head and the head's author.
	if d := gocmp.Diff(rest, byGraphQL, cmpopts.IgnoreFields(gate.Workflow{}, "Attempt"),
		cmpopts.IgnoreFields(github.Mergeability{}, "Base", "Blocked"),
		cmpopts.IgnoreFields(github.PullState{}, "HeadBy")); d != "" {
		t.Errorf("REST against GraphQL:\n%s", d)
	}
}

// queries counts the requests over GraphQL of one look.
type queries struct {
	n  int
	on func(query int) *ghsim.Fault // called before each is answered; nil: all are answered
}

// lookAnew makes a look with a new client, which has cached nothing and does not avoid GraphQL.
func (s *site) lookAnew(t *testing.T, q *queries, at github.LookAt) github.Look {
	t.Helper()
	got, err := s.anew(t, q).Checks.Look(context.Background(), at)
	check(t, err)
	return got
}

// anew is the repository with a new client.
func (s *site) anew(t *testing.T, q *queries) *github.Repo {
	t.Helper()
	s.sim.ClearFaults()
	q.n = 0
	s.sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if !strings.HasSuffix(r.URL.Path, "/graphql") {
			return nil
		}
		if q.n++; q.on == nil {
			return nil
		}
		return q.on(q.n)
	})
	app, err := github.New(s.cfg)
	check(t, err)
	return app.Repo(s.in, s.repo.Name())
}

func moreChecks(t *testing.T, s *site, head, app string, n int) {
	t.Helper()
	for i := range n {
		_, err := s.sim.CreateCheck(full, head, ghsim.AppCheck{App: app, Name: fmt.Sprint("lint ", i),
			Conclusion: "success"})
		check(t, err)
	}
}

// A head with more check suites, and more check runs in two of them, than a page has is read whole, in as many requests
// as the largest suite has pages. If a list grows in the meantime, it is read again.
func TestLookAtManyChecks(t *testing.T) {
	t.Parallel()
	s := open(t, ghsim.Config{Wrap: conformance.New(t).Middleware})
	const to16 = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]"
	head, err := s.sim.PushFiles(full, "main", "ann", "CI", map[string]string{
		".github/workflows/ci.yml": "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n" +
			"    strategy: {matrix: {a: " + to16 + ", b: " + to16 + "}}\n    steps: [{run: \"true\"}]\n"})
	check(t, err)
	moreChecks(t, s, head, "app", 150)
	for i := range 70 {
		moreChecks(t, s, head, fmt.Sprint("app", i), 1)
	}
	check(t, s.sim.WaitIdle(context.Background()))
	runs := 16*16 + 150 + 70
	growing := func(app string) func(int) *ghsim.Fault {
		return func(query int) *ghsim.Fault {
			if query == 2 {
				moreChecks(t, s, head, app, 1)
			}
			return nil
		}
	}
	for _, tt := range []struct {
		name string
		on   func(query int) *ghsim.Fault
		more int // check runs
		want int // requests
	}{
		{"nothing changes", nil, 0, 3},
		{"a suite grows", growing("app"), 1, 2 + 3},
		{"there is another suite", growing("another app"), 1, 2 + 3},
	} {
		q := &queries{on: tt.on}
		at := github.LookAt{SHA: head, Base: head}
		got := s.lookAnew(t, q, at)
		if runs += tt.more; q.n != tt.want || len(got.Checks.Runs) != runs || len(got.Base.Checks.Runs) != runs {
			t.Errorf("%s: %d check runs in %d requests, want %d in %d", tt.name, len(got.Checks.Runs), q.n, runs, tt.want)
		}
		rest := s.lookAnew(t, &queries{on: func(int) *ghsim.Fault { return &ghsim.Fault{Status: 404} }}, at)
		rest.Workflows, rest.WorkflowsKnown, err = s.repo.Actions.Workflows(context.Background(), head)
		check(t, err)
		got.Base = nil
		sameLook(t, rest, got)
	}
	q := &queries{}
	near := s.lookAnew(t, q, github.LookAt{SHA: head, Branch: "main"}).History.Base[0]
	if q.n != (runs+99)/100 || len(near) != runs-1 { // "lint 0" of "app" is there twice
		t.Errorf("%d of %d checks reported, in %d requests", len(near), runs, q.n)
	}
}

// If a further page can't be read, or the pages never end, the look is read over REST. The next one uses GraphQL again,
// unless GitHub failed or refused the query.
func TestLookAtPagesThatFail(t *testing.T) {
	t.Parallel()
	s := open(t, ghsim.Config{NoWorkflows: true})
	moreChecks(t, s, s.head, "app", 101)
	second := func(body string) func(int) *ghsim.Fault {
		return func(query int) *ghsim.Fault {
			if query == 2 {
				return &ghsim.Fault{Status: 200, Body: body}
			}
			return nil
		}
	}
	endless := func(suites int) *ghsim.Fault {
		page := fmt.Sprintf(`{"totalCount":%d,"pageInfo":{"hasNextPage":true,"endCursor":"x"},"nodes":[]}`, suites)
		return &ghsim.Fault{Status: 200, Body: `{"data":{"of0":{"page":` + page +
			`},"repository":{"object":{"id":"C","checkSuites":` + page + `,"status":null}}}}`}
	}
	for name, tt := range map[string]struct {
		on   func(query int) *ghsim.Fault
		want int // requests over GraphQL
	}{
		"a deleted object":  {second(`{"data":null,"errors":[{"type":"NOT_FOUND","message":"Could not resolve"}]}`), 2},
		"too many":          {func(int) *ghsim.Fault { return endless(601) }, 1},
		"an error":          {second(`{"errors":[{"type":"INTERNAL","message":"Something went wrong"}]}`), 2},
		"an invalid cursor": {second(`{"data":null,"errors":[{"type":"INVALID_CURSOR_ARGUMENTS","message":"x"}]}`), 2},
		"no object":         {second(`{"data":{}}`), 2},
		"no page":           {second(`{"data":{"of0":{}}}`), 2},
		"no list":           {second(`{"data":{"of0":{"page":{"totalCount":101,"pageInfo":{"hasNextPage":false}}}}}`), 2},
		"no end":            {func(int) *ghsim.Fault { return endless(1) }, 10},
		"always another":    {endless, 10},
	} {
		q := &queries{on: tt.on}
		repo := s.anew(t, q)
		got, err := repo.Checks.Look(context.Background(), github.LookAt{SHA: s.head})
		check(t, err)
		if q.n != tt.want || len(got.Checks.Runs) != 101 || got.WorkflowsKnown {
			t.Errorf("%s: %d check runs after %d requests over GraphQL", name, len(got.Checks.Runs), q.n)
		}
		before := q.n
		_, err = repo.Checks.Look(context.Background(), github.LookAt{SHA: s.head})
		check(t, err)
		if again := q.n > before; again == (name == "an error" || name == "an invalid cursor") {
			t.Errorf("%s: GraphQL is used afterwards: %v", name, again)
		}
	}
}

// GraphQL has its own limit, and reports it in a response with status 200. Requests that only GraphQL can answer
// wait; the others use REST.
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#exceeding-the-rate-limit
func TestLimitOfGraphQL(t *testing.T) {
	t.Parallel()
	s := open(t, ghsim.Config{})
	ctx := context.Background()
	head, pull := judged(t, s)
	now, err := s.repo.Pull(ctx, pull)
	check(t, err)
	s.sim.ExhaustRateLimit(s.in, "graphql", time.Now().Add(30*time.Minute))
	if err := s.repo.MarkReady(ctx, now.NodeID); sia.IsPermanent(err) || sia.RetryAfter(err) < 29*time.Minute ||
		!strings.Contains(err.Error(), "goes on by itself") {
		t.Errorf("got %v, to be tried again after %s", err, sia.RetryAfter(err))
	}
	look, err := s.repo.Checks.Look(ctx, github.LookAt{SHA: head, Pull: pull})
	check(t, err)
	if len(look.Checks.Runs) < 4 || look.Pull.Head != head {
		t.Errorf("over REST: %+v", look)
	}
	if _, err := s.repo.Rules.OnCommits(ctx, "main"); err != nil {
		t.Error(err)
	}
}

// A check run that a workflow creates through the API is no job in the history, whether it is read over GraphQL or
// REST: it is in a suite of an arbitrary run. Skipped checks are not in the history.
func TestHistoryOfWhatAWorkflowReports(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(*site){"GraphQL": func(*site) {}, "REST": overREST} {
		t.Run(name, func(t *testing.T) {
			s := open(t, ghsim.Config{})
			ctx := context.Background()
			head, err := s.sim.PushFiles(full, "main", "ann", "CI", map[string]string{".github/workflows/ci.yml": twice,
				"hello.txt": "green\n"})
			check(t, err)
			for _, c := range []ghsim.AppCheck{{App: ghsim.ActionsApp, Name: "report", Conclusion: "success"},
				{App: "codecov", Name: "codecov/patch", Conclusion: "success"},
				{App: "codecov", Name: "codecov/project", Conclusion: "skipped"}} {
				_, err = s.sim.CreateCheck(full, head, c)
				check(t, err)
			}
			check(t, s.sim.WaitIdle(ctx))
			refuse(s)
			look, err := s.repo.Checks.Look(ctx, github.LookAt{SHA: head, Branch: "main"})
			check(t, err)
			got := slices.DeleteFunc(look.History.Base[0], func(r sia.Reported) bool { return r.Workflow != "" })
			slices.SortFunc(got, func(a, b sia.Reported) int { return cmp.Compare(a.Name, b.Name) })
			want := []sia.Reported{{Name: "codecov/patch", App: "codecov"}, {Name: "report", App: github.ActionsApp}}
			if d := gocmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// The history has all checks of a commit, also beyond a page, whether it is read over GraphQL or REST.
func TestHistoryOfManyReports(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(*site){"GraphQL": func(*site) {}, "REST": overREST} {
		t.Run(name, func(t *testing.T) {
			s := open(t, ghsim.Config{})
			ctx := context.Background()
			head, err := s.sim.PushFiles(full, "main", "ann", "CI", map[string]string{".github/workflows/ci.yml": twice,
				"hello.txt": "green\n"})
			check(t, err)
			check(t, s.sim.WaitIdle(ctx))
			const most = 150
			for i := range most {
				check(t, s.sim.CreateStatus(full, head, "ann", fmt.Sprint("ci/", i), "success", "It is green"))
			}
			refuse(s)
			look, err := s.repo.Checks.Look(ctx, github.LookAt{SHA: head, Branch: "main"})
			check(t, err)
			got := look.History.Base[0]
			statuses := len(slices.DeleteFunc(slices.Clone(got), func(r sia.Reported) bool { return r.App != "" }))
			isJob := func(r sia.Reported) bool { return r.Workflow == ".github/workflows/ci.yml" && r.Event == "push" }
			if statuses != most || !slices.ContainsFunc(got, isJob) {
				t.Errorf("%d statuses of %d, and of the jobs %+v", statuses, most, got[:min(len(got), 3)])
			}
		})
	}
}

// The next look shows a moved base, whether it is read over GraphQL or REST.
func TestLookAtABaseThatMoved(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(*site){"GraphQL": func(*site) {}, "REST": overREST} {
		t.Run(name, func(t *testing.T) {
			s := open(t, ghsim.Config{NoWorkflows: true})
			ctx := context.Background()
			head, err := s.sim.PushFiles(full, "topic", "ann", "ours", map[string]string{"README.md": "ours\n"})
			check(t, err)
			pull, err := s.sim.OpenPull(full, "ann", "topic", "main", "A change", "", false)
			check(t, err)
			look := func() github.Mergeability {
				_, err := s.repo.Checks.Look(ctx, github.LookAt{SHA: head, Pull: pull})
				check(t, err)
				l, err := s.repo.Checks.Look(ctx, github.LookAt{SHA: head, Pull: pull})
				check(t, err)
				return l.Merge
			}
			refuse(s)
			if m := look(); m.Conflicts || m.Behind {
				t.Errorf("at first %+v", m)
			}
			check(t, s.sim.SetRuleset(full, "main", "test")) // without a success GitHub reports only that
			check(t, s.sim.CreateStatus(full, head, "ann", "test", "success", "It is green"))
			check(t, s.sim.RequireUpToDate(full, "main"))
			base, err := s.sim.PushFiles(full, "main", "ann", "beside it", map[string]string{"OTHER.md": "new\n"})
			check(t, err)
			if m := look(); m.Conflicts || !m.Behind || m.Base != "" && m.Base != base {
				t.Errorf("beside it, %+v", m)
			}
			base, err = s.sim.PushFiles(full, "main", "ann", "theirs", map[string]string{"README.md": "theirs\n"})
			check(t, err)
			if m := look(); !m.Conflicts || m.Base != "" && m.Base != base {
				t.Errorf("in its way, %+v", m)
			}
		})
	}
}

// judgedBy is a response about a commit; status follows its check suites.
func judgedBy(checkSuites, status string) string {
	return `{"data":{"repository":{"object":{"checkSuites":` + checkSuites + status + `}}}}`
}

// suites is a page with one check suite.
func suites(fields string) string {
	return `{"pageInfo":{"hasNextPage":false},"nodes":[{"databaseId":1,` + fields + `}]}`
}

// A look reports that GitHub blocks the merge, unless a missing review is the reason. REST does not tell.
func TestLookAtABlockedMerge(t *testing.T) {
	s := open(t, ghsim.Config{NoWorkflows: true})
	ctx := context.Background()
	head, err := s.sim.PushFiles(full, "topic", "ann", "ours", map[string]string{"README.md": "ours\n"})
	check(t, err)
	pull, err := s.sim.OpenPull(full, "ann", "topic", "main", "A change", "", false)
	check(t, err)
	look := func() string {
		l, err := s.repo.Checks.Look(ctx, github.LookAt{SHA: head, Pull: pull})
		check(t, err)
		if l.Merge.Blocked == nil {
			return "unknown"
		}
		return fmt.Sprint(*l.Merge.Blocked)
	}
	conversations := map[string]any{"required_review_thread_resolution": true}
	approval := map[string]any{"required_review_thread_resolution": true, "required_approving_review_count": 1}
	steps := []struct {
		set  func() error
		want string
	}{
		{func() error { return nil }, "unknown"}, // GitHub computes it
		{func() error {
			return s.sim.SetRules(full, "main", ghsim.Rule{Type: "pull_request", Parameters: conversations})
		},
			"false"},
		{func() error {
			_, err := s.sim.ReviewComment(full, pull, "ann", "README.md", 1, "Why?")
			return err
		}, "true"},
		{func() error {
			return s.sim.SetRules(full, "main", ghsim.Rule{Type: "pull_request", Parameters: approval})
		}, "false"},
		{func() error { overREST(s); return nil }, "unknown"},
	}
	for i, c := range steps {
		check(t, c.set())
		if got := look(); got != c.want {
			t.Errorf("step %d: blocked %s, want %s", i, got, c.want)
		}
	}
	if got, err := s.repo.Rules.Required(ctx, "main"); err != nil ||
		!slices.Equal(got.Others, []string{"required_review_thread_resolution"}) {
		t.Errorf("required %+v, %v", got, err)
	}
}

// The app of a check that GraphQL may not show is read over REST, and the rest stays with GraphQL.
// https://github.com/github/branch-deploy/issues/498
func TestLookAtAHiddenApp(t *testing.T) {
	t.Parallel()
	s := open(t, ghsim.Config{})
	head, pull := judged(t, s)
	for _, sha := range []string{head, s.head} {
		_, err := s.sim.CreateCheck(full, sha, ghsim.AppCheck{App: "secret-ci", Name: "build", Status: "completed",
			Conclusion: "success"})
		check(t, err)
	}
	_, err := s.repo.Checks.Look(context.Background(), github.LookAt{SHA: head, Pull: pull}) // computes the merge
	check(t, err)
	at := github.LookAt{SHA: head, Pull: pull, Base: s.head}
	want := s.lookAnew(t, &queries{}, at)
	s.sim.HideApp("secret-ci")
	q := &queries{}
	repo := s.anew(t, q)
	for look, requests := range []int{3, 1} { // of the first, one for a token
		before := len(s.sim.Calls())
		got, err := repo.Checks.Look(context.Background(), at)
		check(t, err)
		if d := gocmp.Diff(want, got); d != "" {
			t.Errorf("look %d:\n%s", look, d)
		}
		if n := len(s.sim.Calls()) - before; n != requests || q.n != look+1 {
			t.Errorf("look %d: %d requests, %d over GraphQL in all", look, n, q.n)
		}
	}
}

// If the response is partial, the look is read over REST.
func TestLookInPart(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"refused":     `{"data":null,"errors":[{"type":"FORBIDDEN","message":"Resource not accessible by integration"}]}`,
		"no field":    `{"errors":[{"message":"Field 'file' doesn't exist on type 'WorkflowRun'"}]}`,
		"no commit":   `{"data":{"repository":{"object":null}}}`,
		"no answer":   `{"data":{"repository":null}}`,
		"no JSON":     `<html>`,
		"more suites": judgedBy(`{"pageInfo":{"hasNextPage":true},"nodes":[]}`, `,"status":null`),
		"more runs":   judgedBy(suites(`"checkRuns":{"pageInfo":{"hasNextPage":true},"nodes":[]}`), `,"status":null`),
		// GitHub has not been seen to leave these out.
		"no page of suites":   judgedBy(`{"nodes":[]}`, `,"status":null`),
		"no list of suites":   judgedBy(`{"pageInfo":{}}`, `,"status":null`),
		"no suite":            judgedBy(`{"pageInfo":{},"nodes":[null]}`, `,"status":null`),
		"no runs":             judgedBy(suites(`"status":"COMPLETED"`), `,"status":null`),
		"no page of runs":     judgedBy(suites(`"checkRuns":{"nodes":[]}`), `,"status":null`),
		"no statuses":         judgedBy(suites(`"checkRuns":{"pageInfo":{},"nodes":[]}`), ""),
		"no list of contexts": judgedBy(suites(`"checkRuns":{"pageInfo":{},"nodes":[]}`), `,"status":{}`),
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, ghsim.Config{NoWorkflows: true})
			check(t, s.sim.CreateStatus(full, s.head, "ann", "ci/legacy", "failure", "It is red"))
			s.sim.FailRequests(func(r *http.Request) *ghsim.Fault {
				if strings.HasSuffix(r.URL.Path, "/graphql") {
					return &ghsim.Fault{Status: 200, Body: body}
				}
				return nil
			})
			got, err := s.repo.Checks.Look(context.Background(), github.LookAt{SHA: s.head})
			if err != nil || len(got.Checks.Statuses) != 1 || got.WorkflowsKnown {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
