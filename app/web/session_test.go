package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// A session shows edits as diffs and commands as a terminal with their duration, with the model's words between them;
// every turn has an address, and the current step is at the top.
func TestSessionReads(t *testing.T) {
	h := pages(t, world(t), &doer{})
	code, body := ask(t, h, member(), "GET /tasks/9-5/attempts/1", "")
	if code != http.StatusOK {
		t.Fatalf("%d: %s", code, body)
	}
	for _, want := range []string{
		`<section class="turn" id="turn-2"><div class="at"><a href="#turn-2" aria-label="Turn 2">2</a><span>22 s</span>`,
		`is <strong>confirmed</strong> first.`, `<code>booking/handler.go:20</code> <span class="small">2 lines</span>`,
		`Wrote <code>mail/mailer.go</code> <span class="plus">+6</span> <span class="minus">−0</span>`,
		`<span class="add">&#43;// Mailer sends a message.`,
		`Edited <code>booking/handler.go</code> <span class="plus">+3</span> <span class="minus">−2</span>`,
		"<span> }\n</span>", `<span class="label bad">failed</span>`, "old does not occur in the file",
		`<code>$ go vet ./... &amp;&amp; gofmt -l .</code><span class="end small">failed · 2 s</span>`,
		`<code>$ ls -la</code><span class="end small">done · 40 ms</span>`, "done · 1 min 11 s",
		"<li>→ Call it from the handler</li>",
		"a tenth of the turns is left", "Attempt 1 of 1", "4 turns",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("lacks %q:\n%s", want, body)
		}
	}
	if strings.Contains(body, `{&#34;path&#34;`) || strings.Contains(body, `id="now"`) {
		t.Error("it shows arguments as JSON, or what runs where nothing does")
	}
	_, body = ask(t, h, member(), "GET /tasks/9-6/attempts/1", "")
	now, first := strings.Index(body, `id="now"`), strings.Index(body, `id="turn-1"`)
	if now < 0 || now > first || !strings.Contains(body, "Now: turn 3 of at most 60") {
		t.Errorf("what happens now stands at %d, the first turn at %d:\n%s", now, first, body)
	}
}

// Models' and strangers' words in a session are text, whatever their form; nothing makes the page large.
//
//test:plain
//test:thorough
func TestHostileSessions(t *testing.T) {
	evil := hostile + "\u202eevil\x1b[31m\u200b &#x202e;evil&#8203; token ghp_" + strings.Repeat("a1B2", 9)
	quoted := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	huge := strings.Repeat("<b>\n", 1<<14)
	turn := agent.Turn{Number: 1, Kind: agent.TurnModel, At: start, Text: "# " + evil + "\n\n[x](https://evil.test)\n" +
		"<https://evil.test>\n```\n" + hostile + "\n```\n" + huge, Note: evil, Calls: []agent.Call{
		{Name: evil, Arguments: evil, Result: evil},
		{Name: "run", Arguments: quoted(map[string]string{"command": evil}), Result: huge},
		{Name: "run", Arguments: quoted(map[string][]string{"command": {"a", evil}}), Result: evil},
		{Name: "write", Arguments: quoted(map[string]string{"path": evil, "content": huge})},
		{Name: "edit", Arguments: quoted(map[string]string{"path": evil, "old": evil, "new": evil + huge})},
		{Name: "patch", Arguments: quoted(map[string]string{"patch": "+++ " + evil + "\n" + huge}), Changed: []string{evil}},
		{Name: "read", Arguments: quoted(map[string]any{"path": 7}), Result: evil},
		{Name: "plan", Arguments: quoted(map[string]any{"steps": []map[string]string{{"do": evil}}})},
		{Name: "finish", Arguments: quoted(map[string]string{"summary": evil})},
	}}
	s := world(t)
	for i := range 60 {
		turn.Number = i + 10
		b, err := json.Marshal(turn)
		must(t, err)
		must(t, s.AppendTurn(t.Context(), "9-6", 1, 0, i+4, b))
	}
	code, body := ask(t, pages(t, s, &doer{}), member(), "GET /tasks/9-6/attempts/1", "")
	for _, alive := range []string{"<script>", "<img", "<b>", "\u202e", "\x1b", "\u200b", `href="https://evil`,
		`href="javascript`, "ghp_a1B2", "<h1># "} {
		if strings.Contains(body, alive) {
			t.Errorf("%q is alive", alive)
		}
	}
	if code != http.StatusOK || strings.Count(body, "<h1>") != 1 || len(body) > 4<<20 {
		t.Errorf("%d: %d titles, %d bytes", code, strings.Count(body, "<h1>"), len(body))
	}
}

// A task's cost is the sum of the listed items, whatever part of it is in the log.
func TestOneAccountOfCost(t *testing.T) {
	s := world(t)
	task, err := s.Task(t.Context(), "9-5")
	must(t, err)
	h := pages(t, s, &doer{})
	cell := func(name, credits string) string {
		return fmt.Sprintf("%s</th><td class=\"num\">%s</td>", name, credits)
	}
	_, body := ask(t, h, member(), "GET /tasks/9-5", "")
	if !strings.Contains(body, cell("Total", task.Credits.Spent.String())) ||
		!strings.Contains(body, `<a href="/tasks/9-5/attempts/1">Attempt 1</a></th><td class="num">4</td>`) {
		t.Errorf("spent %s:\n%s", task.Credits.Spent, body)
	}
	_, body = ask(t, h, member(), "GET /tasks/9-1", "") // rebuilt from memory: attempts have no cost
	if !strings.Contains(body, cell("Other", "12")) || !strings.Contains(body, cell("Total", "12")) {
		t.Errorf("12 were spent:\n%s", body)
	}
	if strings.Contains(body, "attempt 0") || strings.Contains(body, "Attempt 0") {
		t.Error("there is no attempt 0")
	}
}

// The first page shows what needs people before what is in progress, and then the results, with the five targets.
func TestOverviewInOrder(t *testing.T) {
	_, body := ask(t, pages(t, world(t), &doer{}), member(), "GET /", "")
	last := 0
	for _, want := range []string{"Waits for a person <span class=\"count\">1</span>", "which of the two?",
		"Under way <span class=\"count\">1", "task 6", "1 of 1 passed", "Targets", "Interventions that resolve",
		"67 %", "target &gt; 70 % · 2 of 3",
		"Resolved by the first technique", "Escalated to a person", "Techniques per resolution", "Credits per solved task"} {
		at := strings.Index(body[last:], want)
		if at < 0 {
			t.Fatalf("no %q behind what is before it:\n%s", want, body)
		}
		last += at
	}
	marks := regexp.MustCompile(`<span class="hidden">: (met|missed|not measured|nothing earlier)`).FindAllString(body, -1)
	if len(marks) != 5 || !strings.Contains(body, "missed so far, by too few tasks to be sure") {
		t.Errorf("targets are marked %q", marks)
	}
	entries, _, _ := strings.Cut(body, "</nav>")
	if n := strings.Count(entries, "<a href"); n != 5 {
		t.Errorf("%d entries of navigation", n)
	}
}

// Viewers who may not answer have no button for it.
func TestReadersAreNotAskedToAnswer(t *testing.T) {
	h := pages(t, world(t), &doer{})
	for _, path := range []string{"/", "/tasks?state=escalated"} {
		_, body := ask(t, h, member(), "GET "+path, "")
		if !strings.Contains(body, ">Answer<") {
			t.Errorf("who writes, at %s:\n%s", path, body)
		}
		if _, body = ask(t, h, reader(), "GET "+path, ""); strings.Contains(body, ">Answer<") ||
			!strings.Contains(body, "which of the two?") {
			t.Errorf("who reads, at %s:\n%s", path, body)
		}
	}
}

// Without any installation, the operator is led to set-up, and nobody else.
func TestInstalledNowhere(t *testing.T) {
	h := pages(t, storetest.Open(t, store.Config{}), &doer{})
	for path, want := range map[string]string{"/installations": "installed nowhere yet", "/": "shows where that is"} {
		_, body := ask(t, h, operator(), "GET "+path, "")
		if !strings.Contains(body, want) || !strings.Contains(body, `href="/setup"`) {
			t.Errorf("%s:\n%s", path, body)
		}
		_, body = ask(t, h, member(), "GET "+path, "")
		if strings.Contains(body, want) || strings.Contains(body, `href="/setup"`) {
			t.Errorf("%s, for somebody else:\n%s", path, body)
		}
	}
	_, body := ask(t, pages(t, world(t), &doer{}), member(), "GET /settings", "")
	if strings.Contains(body, "/installations") {
		t.Errorf("who administers nothing has an entry for it:\n%s", body)
	}
	if _, body := ask(t, h, operator(), "GET /settings", ""); !strings.Contains(body, `<a href="/setup">Set-up</a>`) {
		t.Errorf("set-up is in no navigation:\n%s", body)
	}
}

// A repository can be chosen by name, and a page after the last one says so.
func TestTasksByName(t *testing.T) {
	h := pages(t, world(t), &doer{})
	for address, want := range map[string]string{
		"/tasks?repo=ACME/bookings":   `<option value="9" selected>acme/bookings</option>`,
		"/settings?repo=acme/payroll": `<option value="10" selected>acme/payroll</option>`,
		"/tasks?page=99&repo=9":       `page 99 is empty. <a href="/tasks?page=1&amp;repo=9">The first page</a>`,
	} {
		if code, body := ask(t, h, admin(), "GET "+address, ""); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d lacks %q:\n%s", address, code, want, body)
		}
	}
	for address, want := range map[string]int{"/tasks?repo=globex/vault": http.StatusNotFound,
		"/tasks?repo=bookings": http.StatusBadRequest} {
		code, body := ask(t, h, admin(), "GET "+address, "")
		if code != want || code == http.StatusBadRequest && !strings.Contains(body, "owner/name") {
			t.Errorf("%s: %d\n%s", address, code, body)
		}
	}
}

// An attempt from which a lesson was withheld counts neither for nor against it.
func TestWithheldLessonsCountNothing(t *testing.T) {
	s := world(t)
	id := lessonOf(bookings)
	must(t, s.CountLessons(t.Context(), bookings.ID, lesson.Evidence{Key: "w", Lesson: id, Bad: 1, Arm: lesson.Withheld,
		At: start, Why: "attempt 1 of issue #9, not told it, failed"}))
	_, body := ask(t, pages(t, s, &doer{}), member(), "GET /lessons/9/"+string(id), "")
	if want := `<td class="num">–</td><td class="num">–</td><td class="text">attempt 1 of issue #9, not told it, failed` +
		` (not counted: others are compared with it)</td>`; !strings.Contains(body, want) {
		t.Errorf("lacks %q:\n%s", want, body)
	}
}

// An unknown address is answered with a page, or with JSON.
func TestNothingIsAPage(t *testing.T) {
	h := pages(t, world(t), &doer{})
	for _, path := range []string{"/nowhere", "/tasks/9-99", "/tasks/9-1/attempts/7", "/tasks/20-1", "/policies/x"} {
		code, body := ask(t, h, member(), "GET "+path, "")
		if code != http.StatusNotFound || !strings.Contains(body, "<h1>Not found</h1>") ||
			!strings.Contains(body, `href="/style.css"`) || strings.Contains(body, "globex") {
			t.Errorf("%s: %d\n%s", path, code, body)
		}
	}
	if code, body := ask(t, h, member(), "GET /tasks?page=x", ""); code != http.StatusBadRequest ||
		!strings.Contains(body, "want a number from 1 to 1000") || !strings.Contains(body, "/style.css") {
		t.Errorf("%d\n%s", code, body)
	}
}

// Figures are cached for viewers of the same repositories, and recomputed when they are old.
func TestTargetsAreOnesOwn(t *testing.T) {
	s := world(t)
	h := pages(t, s, &doer{})
	_, mine := ask(t, h, member(), "GET /", "")
	_, all := ask(t, h, operator(), "GET /", "")
	if !strings.Contains(mine, "2 of 3") || !strings.Contains(all, "6 of 9") {
		t.Errorf("of one repository:\n%s\nof all:\n%s", mine, all)
	}
	_, err := s.Apply(t.Context(), "9-4", sia.Event{ID: "stop", At: start.Add(time.Hour), Fact: sia.Stop{Reason: "x"}})
	must(t, err)
	if _, again := ask(t, h, member(), "GET /", ""); !strings.Contains(again, "2 of 3") {
		t.Error("within five minutes they are as they were")
	}
}
