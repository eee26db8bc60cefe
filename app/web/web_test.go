package web_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/app/web"
	"github.com/sia-bot/sia/app/web/signin"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
)

var update = flag.Bool("update", false, "write the golden files")

var start = time.Date(2026, 5, 4, 14, 0, 0, 0, time.UTC)

// hostile is active content that pages must not execute.
const hostile = "<script>alert(1)</script><img src=//evil.test/x onerror=alert(1)> [click](javascript:alert(1)) " +
	"![](https://evil.test/leak) </article>"

// serve serves the pages of a database with one task in its second attempt.
func serve(t *testing.T) (*httptest.Server, *store.Store) {
	t.Helper()
	s := storetest.Open(t, store.Config{Now: func() time.Time { return start }})
	repo := sia.Repo{ID: 9, Owner: "acme", Name: "bookings"}
	id := sia.NewTaskID(repo.ID, 12)
	ada := sia.Actor{Login: "ada", ID: 7}
	apply := func(minutes int, fact sia.Fact) {
		t.Helper()
		task, err := s.Task(t.Context(), id)
		e := sia.Event{ID: string(fact.Kind()), At: start.Add(time.Duration(minutes) * time.Minute), By: ada, Fact: fact}
		for key, kind := range task.Pending {
			if err == nil && string(kind) == map[sia.Kind]string{sia.KBegun: "begin", sia.KDecided: "decide",
				sia.KAttemptEnded: "attempt"}[fact.Kind()] {
				e.ID, e.Effect, e.By = key, key, sia.Actor{}
			}
		}
		_, err = s.Apply(t.Context(), id, e)
		must(t, err)
	}
	apply(0, sia.Start{Installation: 1, Repo: repo, Issue: 12, Title: "Send an email " + hostile, Body: "Please.",
		DefaultBranch: "main"})
	set := sia.DefaultSettings()
	set.SIA.TriggerAfter = 2
	begun := sia.Begun{Settings: set, BaseBranch: "main", BaseSHA: sia.SHA(strings.Repeat("a", 40)),
		Title: "Send an email " + hostile, Body: "Please."}
	works := sia.Decided{Type: sia.DecideAssign, Choice: "coder", Agent: "builtin/scripted", Reason: "it is the only one"}
	apply(1, begun)
	apply(1, works)
	apply(3, sia.AttemptEnded{End: sia.EndFinished, Turns: 1, Cost: 450, Summary: hostile,
		Ledger: &sia.AttemptLedger{Version: sia.LedgerVersion, Dropped: 2,
			Entries: []sia.LedgerEntry{{Kind: sia.LedgerDeadEnd, Says: "A longer " + hostile}}}})
	apply(3, sia.Decided{Type: sia.DecideRecover, Choice: sia.ChooseRetry, Reason: "the settings say so"})
	apply(4, begun)
	apply(4, works)
	for n, turn := range []agent.Turn{
		{Number: 0, Kind: agent.TurnBrief, At: start, Text: "Resolve issue 12.\n" + hostile},
		{Number: 1, Kind: agent.TurnModel, At: start.Add(time.Minute), Text: "I read it first. " + hostile, Cost: 450,
			Calls: []agent.Call{{Name: "read", Arguments: `{"path":"mail.go"}`, Result: "package mail\n```\n" + hostile}}},
	} {
		b, err := json.Marshal(turn)
		must(t, err)
		must(t, s.AppendTurn(t.Context(), id, 2, 0, n, b))
	}
	must(t, s.LogDecision(t.Context(), sia.Decision{
		ID: "d1", Task: id, Repo: repo.ID, Attempt: 1, Type: sia.DecideTechnique, Policy: "technique/1",
		Choice: "decomposition", Propensity: 1, Reason: "It resolved 7 of 9 here.", At: start,
	}))
	srv := httptest.NewServer(signin.Local(pages(t, s, &doer{})))
	t.Cleanup(srv.Close)
	return srv, s
}

// pages are the pages of a database, for the test's viewer.
func pages(t testing.TB, from web.Reader, do *doer) http.Handler {
	t.Helper()
	return pagesOf(t, from, do, change{})
}

// pagesOf are the pages with a given change of attempts.
func pagesOf(t testing.TB, from web.Reader, do *doer, diffs change) http.Handler {
	t.Helper()
	h, err := web.New(web.Deps{From: from, Do: do, Lessons: do, Settings: defaults{}, Advise: defaults{},
		Models: defaults{},
		Diffs:  diffs, Links: render.Links{Host: "https://github.com"}, Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return start.Add(10 * time.Minute) }, Ending: t.Context().Done()})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestPages(t *testing.T) {
	srv, _ := serve(t)
	for name, path := range map[string]string{"overview": "/", "tasks": "/tasks", "task": "/tasks/9-12",
		"attempt": "/tasks/9-12/attempts/2"} {
		t.Run(name, func(t *testing.T) {
			code, header, body := get(t, srv, path, "")
			if code != http.StatusOK || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Fatalf("%d, %v", code, header)
			}
			for _, live := range []string{"<script>", "<img", "href=\"javascript", "onerror="} {
				if strings.Contains(strings.ReplaceAll(body, "&lt;img src=//evil.test/x onerror=", ""), live) {
					t.Errorf("what a stranger wrote is alive: %s", live)
				}
			}
			golden(t, name+".html", body)
		})
	}
}

// The final review of the head is on the task's page.
func TestTheFinalReviewIsShown(t *testing.T) {
	srv, s := serve(t)
	repo := sia.Repo{ID: 9, Owner: "acme", Name: "bookings"}
	task := sia.Task{ID: sia.NewTaskID(9, 13), Repo: repo, Issue: 13, Title: "Greet", State: sia.Passed, Head: "f00d",
		Final: &sia.FinalReview{SHA: "f00d", Done: true, URL: "https://github.com/r",
			Demands: []sia.Demand{{Quote: "Greet", State: sia.DemandUnmet, Why: "nobody is greeted"}}}}
	_, err := s.Apply(t.Context(), task.ID, sia.Event{ID: "restored", At: start, Fact: sia.Restored{Task: task}})
	must(t, err)
	_, _, body := get(t, srv, "/tasks/9-13", "")
	want := `Final review (advice only): 0 of 1 requirements done — <a href="https://github.com/r">the review</a>`
	if !strings.Contains(body, want) {
		t.Errorf("want %q in:\n%s", want, body)
	}
}

// A check's result is not repeated.
func TestChecksSayWhyOnce(t *testing.T) {
	srv, s := serve(t)
	task := sia.Task{ID: sia.NewTaskID(9, 13), Repo: sia.Repo{ID: 9, Owner: "acme", Name: "bookings"}, Issue: 13,
		Title: "Greet", State: sia.Stopped, Head: "f00d", Checks: []sia.Check{{Name: "unit", Colour: sia.Red, Why: "failed"},
			{Name: "lint", Colour: sia.Red, Why: "timed out"}}}
	_, err := s.Apply(t.Context(), task.ID, sia.Event{ID: "restored", At: start, Fact: sia.Restored{Task: task}})
	must(t, err)
	_, _, body := get(t, srv, "/tasks/9-13", "")
	if !strings.Contains(body, `<p class="small">failed</p>`) ||
		!strings.Contains(body, `<p class="small">failed: timed out</p>`) {
		t.Error(body)
	}
}

func TestPagesAreForThisMachine(t *testing.T) {
	srv, s := serve(t)
	for host, want := range map[string]int{
		"localhost": 200, "localhost:9090": 200, "127.0.0.1:9090": 200, "[::1]:9090": 200, "LOCALHOST": 200,
		"evil.test": 403, "localhost.evil.test": 403, "10.0.0.7:9090": 403, "127.0.0.1.evil.test": 403,
	} {
		if code, _, _ := get(t, srv, "/tasks/9-12", host); code != want {
			t.Errorf("asked for %s: %d, want %d", host, code, want)
		}
	}
	for _, path := range []string{"/tasks/9-13", "/tasks/x", "/tasks/9-12/attempts/0", "/tasks/9-12/attempts/3",
		"/tasks/9-12/attempts/x", "/x"} {
		if code, _, _ := get(t, srv, path, ""); code != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", path, code)
		}
	}
	far := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	far.RemoteAddr = "10.0.0.7:1234"
	seen := httptest.NewRecorder()
	if srv.Config.Handler.ServeHTTP(seen, far); seen.Code != http.StatusForbidden {
		t.Errorf("asked from elsewhere: %d", seen.Code)
	}
	resp, err := http.Post(srv.URL+"/tasks/9-12", "", nil)
	must(t, err)
	must(t, resp.Body.Close())
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("a form from elsewhere: %d, want 403", resp.StatusCode)
	}
	must(t, s.Close())
	if code, _, body := get(t, srv, "/", ""); code != http.StatusServiceUnavailable ||
		!strings.Contains(body, "database does not answer") {
		t.Errorf("without a database: %d %s", code, body)
	}
}

// crowded is a database with a task that has green checks and changes to accept, and with tasks that changed later:
// some in progress, and some with a question.
func crowded(t *testing.T, work, questions int) *store.Store {
	t.Helper()
	var seconds atomic.Int64
	s := storetest.Open(t, store.Config{Now: func() time.Time {
		return start.Add(time.Duration(seconds.Add(1)) * time.Second)
	}})
	ok(t, s.UpsertInstallation(t.Context(), store.Installation{ID: 1, Account: "acme"}))
	ok(t, s.UpsertRepository(t.Context(), store.Repository{Repo: bookings, Installation: 1, DefaultBranch: "main"}))
	apply := begun(t, s, 1, bookings, 1, "green ")
	apply(3, sia.AttemptEnded{End: sia.EndFinished, Commit: "c0ffee", Diff: sia.DiffStat{Files: 1}, Turns: 3})
	apply(4, sia.Pushed{SHA: "c0ffee"})
	apply(5, sia.PullOpened{Number: 101, NodeID: "PR", URL: "https://github.com/acme/bookings/pull/101"})
	apply(6, sia.Judged{SHA: "c0ffee", Looked: start.Add(6 * time.Minute), Verdict: sia.VerdictTampered,
		Explain: []string{"a test was deleted"}})
	for i := range work {
		begun(t, s, 1, bookings, 100+i, "busy ")
	}
	for i := range questions {
		asked(t, s, 1, bookings, 200+i, "puzzled ")
	}
	return s
}

// Tasks that wait for a person are listed first and counted, however many tasks changed later, also with green checks.
// The list of tasks finds them.
func TestWhatWaitsIsFound(t *testing.T) {
	h := pages(t, crowded(t, 20, 0), &doer{})
	_, body := ask(t, h, operator(), "GET /", "")
	needs, rest, _ := strings.Cut(body, "Under way ")
	if !strings.Contains(needs, `Waits for a person <span class="count">1</span>`) ||
		!strings.Contains(needs, "green task 1") ||
		!strings.HasPrefix(rest, `<span class="count">20</span>`) || strings.Count(rest, "busy task") != 20 {
		t.Errorf("the first page:\n%s", body)
	}
	_, body = ask(t, h, operator(), "GET /tasks?state=waiting", "")
	if !strings.Contains(body, "green task 1") || strings.Contains(body, "busy task") ||
		!strings.Contains(body, `<option value="waiting" selected>`) {
		t.Errorf("the tasks that wait:\n%s", body)
	}
}

// Passed tasks with an open pull request are listed for review, the longest wait first, also if they changed last, and
// counted; others are not. The list of tasks finds them.
func TestReadyToReview(t *testing.T) {
	s := crowded(t, 0, 0)
	for i := range 25 {
		task := sia.Task{ID: sia.NewTaskID(bookings.ID, 300+i), Installation: 1, Repo: bookings, Issue: 300 + i,
			Title: fmt.Sprint("passed task ", i), State: sia.Passed, Since: start.Add(-time.Duration(i) * time.Hour),
			Pull: sia.Pull{Number: 400 + i, Merged: i == 24}}
		_, err := s.Apply(t.Context(), task.ID, sia.Event{ID: "restored", At: start, Fact: sia.Restored{Task: task}})
		ok(t, err)
	}
	h := pages(t, s, &doer{})
	_, body := ask(t, h, operator(), "GET /", "")
	_, list, _ := strings.Cut(body, `Ready to review <span class="count">24</span>`)
	list, _, _ = strings.Cut(list, "Under way ")
	first, second := strings.Index(list, "passed task 23<"), strings.Index(list, "passed task 22<")
	if strings.Count(list, "passed task") != 2*20 || first < 0 || second < first ||
		!strings.Contains(list, `href="https://github.com/acme/bookings/pull/423"`) ||
		!strings.Contains(list, `<a href="/tasks?state=ready">All 24</a>`) {
		t.Errorf("the first page:\n%s", body)
	}
	_, body = ask(t, h, operator(), "GET /tasks?state=ready", "")
	if !strings.Contains(body, "passed task 23<") || strings.Contains(body, "passed task 24<") ||
		strings.Contains(body, "green task 1") {
		t.Errorf("the tasks to review:\n%s", body)
	}
}

// A draft that a person has to mark ready, and a change of a policy that a person has to approve or merge, wait for a
// person. A change that SIA has not asked about does not, and nobody sees a change of a repository of others.
func TestDraftsAndPoliciesWait(t *testing.T) {
	s := crowded(t, 0, 0)
	task := sia.Task{ID: sia.NewTaskID(bookings.ID, 300), Installation: 1, Repo: bookings, Issue: 300, State: sia.Passed,
		Title: "left task", Since: start, Pull: sia.Pull{Number: 400, Draft: true, Refused: "the plan has no drafts"}}
	_, err := s.Apply(t.Context(), task.ID, sia.Event{ID: "restored", At: start, Fact: sia.Restored{Task: task}})
	ok(t, err)
	for _, x := range []store.Experiment{
		{ID: "asked", Phase: store.ExperimentProposed, Comment: 5, Pull: 31},
		{ID: "better", Phase: store.ExperimentBetter, Why: store.ExperimentUnmerged + "a rule forbids it", Pull: 32},
		{ID: "not-asked", Phase: store.ExperimentProposed, Pull: 33},
		{ID: "being-merged", Phase: store.ExperimentBetter, Why: "12 of 20", Pull: 34},
		{ID: "others", Phase: store.ExperimentProposed, Comment: 6, Pull: 35, Place: vault},
	} {
		if x.Place.ID == 0 {
			x.Place = bookings
		}
		x.Installation, x.Name, x.Change, x.CreatedAt = 1, "recover", "0.1 -> 0.3", start
		ok(t, s.SaveExperiment(t.Context(), "", x, ""))
	}
	h := pages(t, s, &doer{})
	_, body := ask(t, h, viewer.Viewer{Repos: map[int64]viewer.Role{bookings.ID: viewer.Reads}}, "GET /", "")
	_, list, _ := strings.Cut(body, `Waits for a person <span class="count">4</span>`)
	list, rest, _ := strings.Cut(list, "Under way ")
	for _, want := range []string{"green task 1", "left task", "Press “Ready for review” there.",
		"https://github.com/acme/bookings/pull/400", `<a href="/policies/asked">`, "A 👍 on SIA&#39;s comment there",
		"https://github.com/acme/bookings/pull/31", `<a href="/policies/better">`,
		"a person has to merge it: a rule forbids it."} {
		if !strings.Contains(list, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(list, "Ready to review") || strings.Contains(body, "not-asked") ||
		strings.Contains(body, "others") ||
		strings.Contains(body, "being-merged") || strings.Contains(rest, "left task") {
		t.Errorf("the first page:\n%s", body)
	}
	_, body = ask(t, h, operator(), "GET /tasks?state=waiting", "")
	if !strings.Contains(body, "left task") {
		t.Errorf("the tasks that wait:\n%s", body)
	}
}

// If there are more questions than a page shows, it says so, and links to all of them.
func TestManyQuestions(t *testing.T) {
	h := pages(t, crowded(t, 0, 51), &doer{})
	_, body := ask(t, h, operator(), "GET /escalations", "")
	if n := strings.Count(body, `<section class="box wait">`); n != 50 ||
		!strings.Contains(body, `<a href="/tasks?state=escalated">All tasks with a question</a>; here stand the 50`) {
		t.Errorf("%d questions:\n%s", n, body)
	}
}

func get(t *testing.T, srv *httptest.Server, path, host string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+path, nil)
	must(t, err)
	req.Host = host
	resp, err := srv.Client().Do(req)
	must(t, err)
	b, err := io.ReadAll(resp.Body)
	must(t, err)
	must(t, resp.Body.Close())
	return resp.StatusCode, resp.Header, string(b)
}

var (
	blank = regexp.MustCompile(`\n{2,}`)
	token = regexp.MustCompile(`name="csrf" value="[^"]*"`)
)

func golden(t *testing.T, name, got string) {
	t.Helper()
	got = token.ReplaceAllString(blank.ReplaceAllString(got, "\n"), `name="csrf" value="…"`)
	path := filepath.Join("testdata", name)
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs; if that is wanted, run go test ./app/web -update\n%s", name, d)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
