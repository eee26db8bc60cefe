package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
)

// addresses lists all addresses with every method, with names of a repository's items filled in.
func addresses(installation, repo string, task sia.TaskID, lesson, change string) (all []string) {
	for _, pattern := range web.Patterns() {
		method, path, _ := strings.Cut(pattern, " ")
		id := string(task)
		switch {
		case strings.Contains(path, "/installations/"):
			id = installation
		case strings.Contains(path, "/lessons/"):
			id = lesson
		case strings.Contains(path, "/policies/"):
			id = change
		}
		path = strings.NewReplacer("{$}", "", "{id}", id, "{n}", "1", "{repo}", repo).Replace(path)
		if method == http.MethodPost {
			all = append(all, "POST "+path)
			continue
		}
		for _, query := range []string{"", "?format=json", "?repo=" + repo, "?format=json&repo=" + repo, "?task=" + id +
			"&format=json",
			"?text=word&state=passed", "?text=word&format=json", "?technique=vault-technique", "?all=1&repo=" + repo} {
			all = append(all, "GET "+path+query)
		}
	}
	return all
}

// ask requests an address as a viewer. Of an event stream, it reads what arrives at once.
func ask(t *testing.T, h http.Handler, v viewer.Viewer, address, body string) (int, string) {
	t.Helper()
	method, path, _ := strings.Cut(address, " ")
	ctx := t.Context()
	if strings.HasPrefix(path, "/live?") || path == "/live" {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		ctx = ended
	}
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	as(v, h).ServeHTTP(w, r)
	b, err := io.ReadAll(w.Result().Body)
	ok(t, err)
	return w.Code, string(b) + w.Header().Get("Location")
}

// For every address and method, no answer contains anything of another installation, nor of a repository of the
// viewer's installation that GitHub hides from them; and nothing is done to them.
func TestNobodySeesWhatIsNotTheirs(t *testing.T) {
	s := world(t)
	for name, c := range map[string]struct {
		who   viewer.Viewer
		never []string
	}{
		"admin of acme":      {admin(), []string{"globex", "vault"}},
		"member of bookings": {member(), []string{"globex", "vault", "payroll"}},
		"stranger":           {stranger(), []string{"acme", "bookings", "payroll"}},
		"nobody":             {nobody(), []string{"globex", "vault", "acme", "bookings", "payroll"}},
	} {
		t.Run(name, func(t *testing.T) {
			do := &doer{}
			h := pages(t, s, do)
			for _, of := range []struct {
				repo         sia.Repo
				installation string
				id           string
			}{{vault, "2", "20"}, {payroll, "1", "10"}, {bookings, "1", "9"}} {
				mine := c.who.May(of.repo.ID, viewer.Reads)
				for _, a := range addresses(of.installation, of.id, sia.NewTaskID(of.repo.ID, 4), string(lessonOf(of.repo)),
					of.repo.Name+"-change") {
					if strings.HasPrefix(a, "POST") && mine {
						continue
					}
					code, body := ask(t, h, c.who, a, "do=stop")
					// The viewer's own input in the address may be in the answer.
					body = strings.ReplaceAll(body, "vault-technique", "")
					for _, word := range c.never {
						if strings.Contains(body, word) {
							t.Errorf("%s tells of %s: %d %s", a, word, code, body)
						}
					}
					if !mine && strings.Contains(a, "/"+string(sia.NewTaskID(of.repo.ID, 4))) && code != http.StatusNotFound {
						t.Errorf("%s: %d, want 404", a, code)
					}
				}
			}
			if len(do.said) > 0 {
				t.Errorf("done: %q", do.said)
			}
		})
	}
}

// The coders' page shows the result of the conversation with each model.
func TestCodersShowModels(t *testing.T) {
	h := pages(t, world(t), &doer{})
	_, body := ask(t, h, admin(), "GET /coders", "")
	for _, want := range []string{"gpt-5.4-mini", "responses", `<span class="label good">caching</span>`,
		"gemma3 does not support tools"} {
		if !strings.Contains(body, want) {
			t.Errorf("/coders lacks %q:\n%s", want, body)
		}
	}
}

// A choice without a result is in no tally, and the list says so.
func TestCodersTellResults(t *testing.T) {
	s := world(t)
	all, err := s.LastDecisions(t.Context(), store.SeesAll(), 9, sia.DecideAssign, 10)
	if err != nil || len(all) < 2 {
		t.Fatalf("%d choices, %v", len(all), err)
	}
	ok(t, s.SettleDecision(t.Context(), all[0].ID, "resolved", 1))
	_, body := ask(t, pages(t, s, &doer{}), admin(), "GET /coders?repo=9", "")
	for _, want := range []string{fmt.Sprintf("The last %d choices, 1 of them with a result, and why", len(all)),
		"· resolved</span>", "· no result yet</span>",
		`<tr><th scope="row">fix</th><td class="name">bookings-coder</td><td class="num">67 %</td>`} {
		if !strings.Contains(body, want) {
			t.Errorf("/coders lacks %q:\n%s", want, body)
		}
	}
}

// Viewers see what is theirs: the test above would pass on empty pages.
func TestEverybodySeesWhatIsTheirs(t *testing.T) {
	s := world(t)
	h := pages(t, s, &doer{})
	for path, want := range map[string]string{
		"/": "bookings-word which of the two?", "/tasks": "bookings-word task 1",
		"/tasks?text=TASK+2":                  "bookings-word task 2",
		"/tasks?technique=bookings-technique": "task 3", "/tasks?state=stopped": "task 3", "/tasks?month=2026-05": "task 1",
		"/tasks?repo=9": "task 1", "/tasks/9-4": "bookings-word said", "/tasks/9-1": "bookings-word expected 1, got 2",
		"/tasks/9-5": "2 files, +12 −3", "/tasks/9-1/attempts/1": "Attempt 1", "/costs": "acme/bookings",
		"/escalations": "bookings-word first",
		"/techniques":  "2 of 3</td>",
		"/coders":      "bookings-coder", "/patterns": "2 of 3",
		"/policies": "bookings-policy", "/policies/bookings-change": "bookings-word 0.1", "/lessons": "must not be edited",
		"/lessons/9/" + string(lessonOf(bookings)): "bookings-word helped", "/settings": "max_approaches",
		"/installations": "/installations/1", "/installations/1": "acme/bookings",
	} {
		if code, body := ask(t, h, admin(), "GET "+path, ""); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s lacks %q: %d\n%s", path, want, code, body)
		}
	}
	for path, not := range map[string]string{
		"/tasks?text=nothing": "task 1", "/tasks?month=2026-04": "task 1", "/tasks?state=queued": "task 1",
		"/tasks?page=2":  "task 1",
		"/tasks?repo=10": "bookings-word task", "/techniques?repo=10": "bookings-technique",
	} {
		if code, body := ask(t, h, admin(), "GET "+path, ""); code != http.StatusOK || strings.Contains(body, not) {
			t.Errorf("%s shows %q: %d\n%s", path, not, code, body)
		}
	}
	for _, path := range []string{"/tasks?page=0", "/tasks?page=x", "/tasks?page=1001", "/tasks?state=no",
		"/tasks?month=May",
		"/tasks?repo=-1", "/coders?repo=x"} {
		if code, _ := ask(t, h, admin(), "GET "+path, ""); code != http.StatusBadRequest {
			t.Errorf("%s: %d, want 400", path, code)
		}
	}
}
