package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sim/apptest"
)

// press sends a form of a task's page as a user, and returns the answer that the page then shows.
func press(t *testing.T, s *apptest.Stage, v viewer.Viewer, path string, pairs ...string) string {
	t.Helper()
	v.Token = "as the door gives each viewer one"
	sent := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		sent.Set(pairs[i], pairs[i+1])
	}
	show := func(method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(viewer.With(t.Context(), v), method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		s.App.Pages().ServeHTTP(w, r)
		return w
	}
	done := show(http.MethodPost, path, sent.Encode())
	if done.Code != http.StatusSeeOther {
		t.Fatalf("%s %s: %d %s", path, sent.Encode(), done.Code, done.Body)
	}
	page := show(http.MethodGet, done.Header().Get("Location"), "").Body.String()
	_, said, _ := strings.Cut(page, `<p class="said" role="status">`)
	said, _, _ = strings.Cut(said, "</p>")
	return said
}

// Buttons on a page work like comments: GitHub decides whether the user has permission, regardless of the time of
// sign-in; the answer reports the result; and the task continues accordingly.
//
//test:race
func TestPagesAreHeardAsCommentsAre(t *testing.T) {
	t.Parallel()
	s := shop(t, "escalate-answer")
	s.Sim.CreateUser("visitor")
	check(t, s.Sim.SetPermission(apptest.Repo, "visitor", "read"))
	s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
	n := openLabelled(t, s, apptest.Owner)
	s.Until()
	id := s.Task(n).ID
	repo := s.Task(n).Repo.ID
	owner := viewer.Viewer{Actor: sia.Actor{Login: apptest.Owner}, Repos: map[int64]viewer.Role{repo: viewer.Writes}}
	visitor := viewer.Viewer{Actor: sia.Actor{Login: "visitor"}, Repos: map[int64]viewer.Role{repo: viewer.Writes}}
	page := "/tasks/" + string(id)
	if said := press(t, s, visitor, page, "do", "pause"); !strings.Contains(said, "write access") ||
		s.Task(n).State != sia.Working {
		t.Errorf("a visitor pauses: %s; %q", s.Task(n).State, said)
	}
	if said := press(t, s, owner, page, "do", "pause"); s.Task(n).State != sia.OnHold || !strings.Contains(said,
		"/sia pause") {
		t.Errorf("the owner pauses: %s; %q", s.Task(n).State, said)
	}
	if said := press(t, s, owner, page, "do", "pause"); !strings.Contains(said, "paused already") {
		t.Errorf("the owner pauses again: %q", said)
	}
	s.Go()
	s.Settle()
	if said := press(t, s, viewer.Viewer{Operator: true}, page, "do", "resume"); said == "" {
		t.Error("who runs the server resumes, and no answer is shown")
	}
	s.Settle()
	if task := s.Task(n); task.State != sia.Escalated {
		t.Fatalf("it did not come to a question, but is %s", task.State)
	}
	press(t, s, owner, page, "do", "answer", "words", "in English, with a comma", "back", "/escalations")
	s.Settle()
	if task := s.Task(n); task.State != sia.Passed || len(task.Answers) != 1 ||
		task.Answers[0].Text != "in English, with a comma" {
		t.Errorf("answered, it is %s: %+v", task.State, task.Answers)
	}
	if said := press(t, s, owner, page, "do", "stop"); !strings.Contains(said,
		"Nothing was done: the task has passed already") {
		t.Errorf("stopped after it passed: %q", said)
	}
}

// Administrators of an installation can pause and resume all of it, and users with write access to a repository can
// permanently forget its lessons; nobody else can.
func TestPagesSwitchAndForget(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Sim.CreateUser("visitor")
	check(t, s.Sim.SetPermission(apptest.Repo, "visitor", "read"))
	s.Hold(apptest.Point{When: "before", Kind: sia.DoAttempt, Attempt: 1})
	n := openLabelled(t, s, apptest.Owner)
	s.Until()
	repo, in := s.Task(n).Repo.ID, s.Task(n).Installation
	admin := viewer.Viewer{Actor: sia.Actor{Login: apptest.Owner}, Repos: map[int64]viewer.Role{repo: viewer.Administers},
		Installations: []viewer.Installation{{ID: in, Account: apptest.Owner, Whole: true}}}
	visitor := viewer.Viewer{Actor: sia.Actor{Login: "visitor"}, Repos: map[int64]viewer.Role{repo: viewer.Writes}}
	installation := fmt.Sprintf("/installations/%d", in)
	if said := press(t, s, admin, installation, "do", "pause"); s.Task(n).State != sia.OnHold ||
		!strings.Contains(said, "1 task stopped") {
		t.Errorf("paused: %s; %q", s.Task(n).State, said)
	}
	s.Go()
	s.Settle()
	if said := press(t, s, admin, installation, "do", "resume"); !strings.Contains(said, "1 task goes on") {
		t.Errorf("resumed: %q", said)
	}
	s.Settle()
	if state := s.Task(n).State; state != sia.Passed {
		t.Errorf("resumed, it is %s", state)
	}

	l := lesson.NewTaught(repo, "test", "run make generate after a change of the schema", sia.Actor{Login: "ada"},
		sia.Task{}, s.Clock.Now())
	check(t, s.App.Store.PutLessons(t.Context(), repo, l))
	page := fmt.Sprintf("/lessons/%d/%s", repo, l.ID)
	for _, c := range []struct {
		who  viewer.Viewer
		said string
		then lesson.State
	}{{visitor, "write access", lesson.Active}, {admin, "make generate", lesson.Forgotten}} {
		said := press(t, s, c.who, page, "do", "forget")
		kept, err := s.App.Store.Lesson(t.Context(), repo, l.ID)
		if err != nil || kept.State != c.then || !strings.Contains(said, c.said) {
			t.Errorf("%s forgets it: %q; it is %s, %v", c.who.Actor.Login, said, kept.State, err)
		}
	}
	acts, err := s.App.Store.Acts(t.Context(), store.ActFilter{Login: admin.Actor.Login, Limit: 9})
	check(t, err)
	var did []string
	for _, a := range acts {
		if a.Task == "" {
			did = append(did, a.What)
		}
	}
	if want := []string{"forget", "lift", "halt", "install app"}; !slices.Equal(did, want) {
		t.Errorf("%s is known to have done %v, want %v", admin.Actor.Login, did, want)
	}
}

// A lesson that a user edits on its page is on the memory branch after SIA's next commit there, and is not reverted by
// the previous file; users without write access can't edit.
func TestLessonsAreEditedOnTheirPage(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Sim.CreateUser("visitor")
	check(t, s.Sim.SetPermission(apptest.Repo, "visitor", "read"))
	repo, err := s.Sim.Repo(apptest.Repo)
	check(t, err)
	l := lesson.NewTaught(repo.ID, "test", "run make generate", sia.Actor{Login: "ada"}, sia.Task{}, s.Clock.Now())
	check(t, s.App.Store.PutLessons(t.Context(), repo.ID, l))
	resolve(t, s, "Greet the customers") // the file is written
	writes := func(login string) viewer.Viewer {
		return viewer.Viewer{Actor: sia.Actor{Login: login}, Repos: map[int64]viewer.Role{repo.ID: viewer.Writes}}
	}
	seen := lesson.DraftOf(l)
	sent := url.Values{"do": {"edit"}, "seen": {seen.Seen}, "kind": {string(l.Kind)},
		"text": {"run make gen\r\n& commit it"}, "when": {"the schema changes"}}
	for login, want := range map[string]int{"visitor": http.StatusUnprocessableEntity,
		apptest.Owner: http.StatusSeeOther} {
		r := httptest.NewRequestWithContext(viewer.With(t.Context(), writes(login)), http.MethodPost,
			fmt.Sprintf("/lessons/%d/%s", repo.ID, l.ID), strings.NewReader(sent.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		if s.App.Pages().ServeHTTP(w, r); login == "visitor" &&
			(w.Code != want || !strings.Contains(w.Body.String(), "write access")) {
			t.Errorf("%s: %d %s", login, w.Code, w.Body)
		} else if login != "visitor" && w.Code != want {
			t.Errorf("%s: %d %s", login, w.Code, w.Body)
		}
	}
	resolve(t, s, "Greet the customers of the shop")
	file := onMemory(t, s, lesson.Path)
	if !strings.Contains(file, "run make gen &amp; commit it") || strings.Contains(file, "run make generate") {
		t.Errorf("on the memory branch:\n%s", file)
	}
	known, err := s.App.Store.Lessons(t.Context(), repo.ID)
	check(t, err)
	if i := slices.IndexFunc(known, func(k lesson.Lesson) bool { return k.Text == "run make gen & commit it" }); i < 0 ||
		known[i].Context != "the schema changes" || known[i].From.By.Login != apptest.Owner {
		t.Errorf("known: %+v", known)
	}
}

// An attempt's changes are shown on its page from the server's mirror, without requests to GitHub; if the mirror is
// deleted, the page says so.
func TestAnAttemptShowsItsDiff(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass-after-sia")
	n := resolve(t, s, "Greet the customers")
	show := func(attempt int) string {
		t.Helper()
		r := httptest.NewRequestWithContext(viewer.With(t.Context(), viewer.Viewer{Operator: true}), http.MethodGet,
			fmt.Sprintf("/tasks/%s/attempts/%d", s.Task(n).ID, attempt), nil)
		w := httptest.NewRecorder()
		s.App.Pages().ServeHTTP(w, r)
		return w.Body.String()
	}
	asked := s.Sim.CountCalls()
	for attempt, want := range map[int]string{1: `<span class="add">&#43;Hello world`,
		2: `<span class="add">&#43;Hello, world!`} {
		page := show(attempt)
		size := `: 1 file <span class="small"><span class="plus">+1</span> <span class="minus">−0</span></span></summary>`
		if !strings.Contains(page, want) || !strings.Contains(page, size) {
			t.Errorf("attempt %d lacks %q:\n%s", attempt, want, page)
		}
	}
	check(t, os.RemoveAll(filepath.Join(s.Folder(), "git", "mirrors")))
	if page := show(2); !strings.Contains(page, "does not have these commits any more") {
		t.Errorf("without a mirror:\n%s", page)
	}
	if n := s.Sim.CountCalls() - asked; n != 0 {
		t.Errorf("GitHub was asked %d times", n)
	}
}
