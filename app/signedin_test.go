package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/webtest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// person is a user with a browser and cookies.
type person struct {
	t     *testing.T
	ctx   context.Context
	login string
	base  string // of SIA's pages
}

// openPages returns a user who opens the pages for the first time, and has to sign in.
func openPages(browser context.Context, t *testing.T, login, base string) *person {
	t.Helper()
	ctx, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	p := &person{t: t, ctx: ctx, login: login, base: base}
	if code := p.open("/tasks"); code != http.StatusOK || p.at() != base+"/signin?to=%2Ftasks" {
		t.Fatalf("%s, who is not signed in, comes to %s: %d", login, p.at(), code)
	}
	return p
}

// open loads a page and returns its status.
func (p *person) open(path string) int {
	p.t.Helper()
	resp, err := chromedp.Run(p.ctx, chromedp.NavigateResponse(p.base+path))
	if err != nil {
		p.t.Fatalf("%s opens %s: %v", p.login, path, err)
	}
	return int(resp.Status)
}

func (p *person) at() string {
	p.t.Helper()
	at, err := chromedp.Run(p.ctx, chromedp.Location())
	check(p.t, err)
	return at
}

func (p *person) page() string {
	p.t.Helper()
	return p.eval("document.documentElement.outerHTML")
}

// eval evaluates a script on the whole document at once: nodes read one by one may disappear when a page is reloaded
// or left. A script that a new page interrupts is run again in that.
func (p *person) eval(script string) string {
	p.t.Helper()
	var text string
	var err error
	for range 20 {
		if text, err = chromedp.Run(p.ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise)); err == nil {
			return text
		}
	}
	p.t.Fatalf("%s reads a page: %v", p.login, err)
	return ""
}

// press presses a link or button with a text, and waits for the next page. Browsers drop clicks before a page is
// painted, so it presses again.
func (p *person) press(words string) {
	p.t.Helper()
	at := chromedp.Search(fmt.Sprintf(`//*[self::a or self::button][normalize-space(.)=%q]`, words))
	var err error
	for range 3 {
		ctx, cancel := context.WithTimeout(p.ctx, 20*time.Second)
		_, err = chromedp.RunResponse(ctx, chromedp.Click(at))
		cancel()
		if ctx.Err() == nil || err == nil {
			break
		}
	}
	if err != nil {
		p.t.Fatalf("%s presses %q: %v, on\n%s", p.login, words, err, p.page())
	}
}

// said returns the answer to what the user pressed. It is read from the document, because unpainted text is not
// visible.
func (p *person) said() string {
	p.t.Helper()
	return p.eval(`new Promise(said => {
		const look = () => {
			const found = document.querySelector(".said")
			found ? said(found.textContent) : setTimeout(look, 10)
		}
		look()
	})`)
}

// fill types into a field, after unfolding it if necessary. If the page is reloaded meanwhile, it types again.
func (p *person) fill(into, text string) {
	p.t.Helper()
	field := fmt.Sprintf("document.querySelector(%q)", into)
	for range 3 {
		p.eval("(f => { const folded = f.closest('details'); if (folded) folded.open = true; " +
			"f.focus(); return '' })(" + field + ")")
		if err := chromedp.Do(p.ctx, chromedp.KeyEvent(text)); err != nil {
			p.t.Fatalf("%s types into %s: %v", p.login, into, err)
		}
		if p.eval(field+".value") == text {
			return
		}
		p.eval("(f => { f.value = ''; return '' })(" + field + ")")
	}
	p.t.Fatalf("%s could not type into %s", p.login, into)
}

// signIn signs in on GitHub's page and returns to the requested one.
func (p *person) signIn() {
	p.t.Helper()
	p.press("Sign in with GitHub")
	p.press(p.login)
	if p.at() != p.base+"/tasks" || !strings.Contains(p.page(), "Sign out") {
		p.t.Fatalf("%s signed in, and is at %s:\n%s", p.login, p.at(), p.page())
	}
}

// answer is the response to a program in a user's browser.
type answer struct {
	Status int    `json:"status"`
	Body   string `json:"body"`
}

// fetch sends a request like a program in the user's browser. It does not read endless responses.
func (p *person) fetch(method, path, form string) (a answer) {
	p.t.Helper()
	script := fmt.Sprintf(`(async () => {
		const stop = new AbortController(), method = %q, form = %q, csrf = document.querySelector("[name=csrf]")
		const body = method === "GET" ? undefined : new URLSearchParams(form + (csrf ? "&csrf=" + csrf.value : ""))
		const r = await fetch(%q, {method, body, signal: stop.signal,
			headers: {Accept: "application/json"}, redirect: "manual"})
		const endless = (r.headers.get("Content-Type") || "").startsWith("text/event-stream")
		const answer = {status: r.type === "opaqueredirect" ? 303 : r.status, body: endless ? "" : await r.text()}
		stop.abort()
		return JSON.stringify(answer)
	})()`, method, form, path)
	text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s asks for %s: %v", p.login, path, err)
	}
	check(p.t, json.Unmarshal([]byte(text), &a))
	return a
}

// place is the data of an installation.
type place struct {
	installation, repo int64
	name               string // of the repository
	task               sia.TaskID
	lesson             lesson.ID
	words              []string // that occur nowhere else
}

// findContent returns what a page or its JSON twin reveals of a place: names, texts, numbers.
func (c place) findContent(page string) string {
	for _, w := range c.words {
		if strings.Contains(page, w) {
			return w
		}
	}
	for _, n := range []int64{c.repo, c.installation} {
		if regexp.MustCompile(`\b` + strconv.FormatInt(n, 10) + `\b`).MatchString(page) {
			return strconv.FormatInt(n, 10)
		}
	}
	return ""
}

// address fills in an address of the table of routes.
func (c place) address(pattern string) string {
	id := string(c.task)
	for part, of := range map[string]string{"/installations/": strconv.FormatInt(c.installation, 10),
		"/lessons/": string(c.lesson), "/policies/": c.name + "-change"} {
		if strings.Contains(pattern, part) {
			id = of
		}
	}
	return strings.NewReplacer("{$}", "", "{id}", id, "{n}", "1", "{repo}", strconv.FormatInt(c.repo, 10)).Replace(pattern)
}

// addContent adds to a repository an open question, a lesson, and a change of a policy on trial.
func addContent(t *testing.T, s *apptest.Stage, owner, name string, installation int64) place {
	t.Helper()
	repo, err := s.Sim.Repo(owner + "/" + name)
	check(t, err)
	word := name + "word"
	n, err := s.Sim.OpenIssue(owner+"/"+name, owner, "Greet the customers of "+word,
		"Put a greeting into `hello.txt`.", "sia")
	check(t, err)
	s.Settle()
	id := sia.NewTaskID(repo.ID, n)
	if task, err := s.App.Store.Task(t.Context(), id); err != nil || task.State != sia.Escalated {
		t.Fatalf("%s is %s: %v", id, task.State, err)
	}
	place := place{installation: installation, repo: repo.ID, name: name, task: id,
		words: []string{owner, word, string(id)}}
	l := lesson.NewTaught(repo.ID, "test", word+" is generated and must not be edited", sia.Actor{Login: owner},
		sia.Task{}, s.Clock.Now())
	place.lesson = l.ID
	check(t, s.App.Store.PutLessons(t.Context(), repo.ID, l))
	check(t, s.App.Store.SaveExperiment(t.Context(), "", store.Experiment{ID: name + "-change",
		Installation: installation, Place: sia.Repo{ID: repo.ID, Owner: owner, Name: name},
		Decision: "recover", Name: word, Change: word, Reason: word,
		By: "model", Phase: store.ExperimentRunning, Why: word, CreatedAt: s.Clock.Now()}, word))
	return place
}

// The whole server, with users who sign in with a browser: an administrator of an installation, a user with write
// access to its repository, one with read access, an administrator of another installation, a user without access to
// both, and one who has not signed in. Each requests every address, of one place and of the other, as a user and as a
// program. Forbidden pages are answered like missing ones, and reveal nothing.
func TestWhoSeesWhatWithABrowser(t *testing.T) {
	t.Parallel()
	s := theStory(t, "escalate-answer").StartWith(t, func(c *apptest.Config) { c.SignIn = true })
	files := map[string]string{}
	paths, err := s.Sim.Files(apptest.Repo, "main")
	check(t, err)
	for _, path := range paths {
		files[path], err = s.Sim.File(apptest.Repo, "main", path)
		check(t, err)
	}
	for _, login := range []string{"mel", "rita", "mallory", "zoe"} {
		s.Sim.CreateUser(login)
	}
	check(t, s.Sim.SetPermission(apptest.Repo, "mel", "write"))
	check(t, s.Sim.SetPermission(apptest.Repo, "rita", "read"))
	_, err = s.Sim.CreateRepo("mallory", "vault", ghsim.RepoSpec{Files: files, Public: true})
	check(t, err)
	shop := addContent(t, s, apptest.Owner, apptest.Name, s.Install)
	vault := addContent(t, s, "mallory", "vault", s.InstallFor("mallory", "vault"))

	browser := webtest.Chromium(t)
	people := map[string]*person{}
	for _, login := range []string{apptest.Owner, "mel", "rita", "mallory", "zoe", "nobody"} {
		people[login] = openPages(browser, t, login, s.Public)
		if login != "nobody" {
			people[login].signIn()
		}
	}
	const ok, not = http.StatusOK, http.StatusNotFound
	all := codes{ok, ok, ok, ok}
	theirs, whole := codes{ok, ok, ok, not}, codes{ok, not, not, not}
	want := map[string]codes{ // for ada, mel, rita and mallory, about ada's
		"GET /style.css": all, "GET /live.js": all, "GET /live": all, "GET /{$}": all, "GET /tasks": all, "GET /costs": all,
		"GET /escalations": all, "GET /techniques": all, "GET /coders": all, "GET /patterns": all, "GET /policies": all,
		"GET /lessons": all, "GET /settings": all, "GET /installations": all,
		"GET /tasks/{id}": theirs, "GET /tasks/{id}/attempts/{n}": theirs, "GET /policies/{id}": theirs,
		"GET /lessons/{repo}/{id}": theirs,
		"GET /installations/{id}":  whole,
		"GET /{rest...}":           {not, not, not, not},
		// A form without a button: unauthorized users don't learn that it exists.
		"POST /tasks/{id}": {400, 400, not, not}, "POST /lessons/{repo}/{id}": {400, 400, not, not},
		"POST /installations/{id}": {400, not, not, not},
	}
	source, err := os.ReadFile("web/routes.go")
	check(t, err)
	for _, m := range regexp.MustCompile(`pattern: "([^"]+)"`).FindAllStringSubmatch(string(source), -1) {
		if _, known := want[m[1]]; !known {
			t.Errorf("who may see %s? Say so here", m[1])
		}
	}
	for i, login := range []string{apptest.Owner, "mel", "rita", "mallory"} {
		other := vault
		if login == "mallory" {
			other = shop
		}
		t.Run(login, func(t *testing.T) {
			p := people[login]
			p.t = t
			p.open("/tasks")
			for _, pattern := range slices.Sorted(maps.Keys(want)) {
				p.request(pattern, shop, want[pattern][i], other)
				p.visit(pattern, shop, want[pattern][i], other)
				if login != "mallory" && strings.Contains(pattern, "{id}") {
					p.request(pattern, vault, not, other)
				}
			}
			mine := map[bool]place{true: vault, false: shop}[login == "mallory"]
			if p.open("/tasks"); mine.findContent(p.page()) == "" {
				t.Errorf("%s does not see what is theirs:\n%s", login, p.page())
			}
		})
	}
	// A user without access sees empty pages; a user who is not signed in, none.
	zoe, nobody := people["zoe"], people["nobody"]
	for _, pattern := range slices.Sorted(maps.Keys(want)) {
		code := ok
		if strings.Contains(pattern, "{id}") || pattern == "GET /{rest...}" {
			code = not
		}
		zoe.request(pattern, shop, code, shop)
		zoe.request(pattern, vault, code, vault)
		method, path, _ := strings.Cut(shop.address(pattern), " ")
		r, err := http.NewRequestWithContext(t.Context(), method, s.Public+path, nil)
		check(t, err)
		resp, err := http.DefaultClient.Do(r)
		check(t, err)
		check(t, resp.Body.Close())
		if resp.StatusCode != http.StatusUnauthorized && path != "/style.css" {
			t.Errorf("nobody asks for %s: %d", path, resp.StatusCode)
		}
	}
	if nobody.open(shop.address("/lessons/{repo}/{id}")); !strings.HasPrefix(nobody.at(), s.Public+"/signin?to=") ||
		strings.Contains(nobody.page(), "shopword") {
		t.Errorf("nobody is led to %s:\n%s", nobody.at(), nobody.page())
	}
	pressAll(t, s, people, shop)
}

// codes are the statuses for the owner, a member, a reader and a stranger.
type codes [4]int

// request requests an address like a program, expects a status, and nothing of a place that is not the user's.
func (p *person) request(pattern string, of place, want int, other place) {
	p.t.Helper()
	method, path, _ := strings.Cut(of.address(pattern), " ")
	form := ""
	if method == http.MethodPost {
		form = "do="
	}
	p.told(method+" "+path, p.fetch(method, path, form), want, other)
}

// visit does the same with the user's browser.
func (p *person) visit(pattern string, of place, want int, other place) {
	p.t.Helper()
	method, path, _ := strings.Cut(of.address(pattern), " ")
	if method != http.MethodGet || strings.Contains(path, ".") || path == "/live" {
		return
	}
	code := p.open(path)
	p.told("a look at "+path, answer{code, p.page()}, want, other)
	if code != http.StatusOK { // an error page has no form, and the next request needs a form's token
		p.open("/tasks")
	}
}

func (p *person) told(what string, a answer, want int, other place) {
	p.t.Helper()
	if a.Status != want {
		p.t.Errorf("%s: %s: %d, want %d: %s", p.login, what, a.Status, want, a.Body)
	}
	if told := other.findContent(a.Body); told != "" {
		p.t.Errorf("%s: %s tells of %q:\n%s", p.login, what, told, a.Body)
	}
}

// pressAll makes users press all available buttons.
func pressAll(t *testing.T, s *apptest.Stage, people map[string]*person, shop place) {
	t.Helper()
	task := func() sia.Task {
		t.Helper()
		found, err := s.App.Store.Task(t.Context(), shop.task)
		check(t, err)
		return found
	}
	ada, mel, rita := people[apptest.Owner], people["mel"], people["rita"]
	ada.t = t
	mel.t, rita.t = t, t
	page := shop.address("/tasks/{id}")
	if rita.open(page); strings.Contains(rita.page(), "Pause") {
		t.Error("who only reads has buttons")
	}
	mel.open(page)
	mel.press("Pause")
	if state, said := task().State, mel.said(); state != sia.OnHold || !strings.Contains(said, "/sia pause") {
		t.Errorf("mel pauses: %s, %q", state, said)
	}
	mel.press("Resume")
	s.Settle()
	if state := task().State; state != sia.Escalated {
		t.Errorf("mel resumes: %s, %q", state, mel.said())
	}
	switches := shop.address("/installations/{id}")
	if got := mel.fetch(http.MethodPost, switches, "do=pause"); got.Status != http.StatusNotFound {
		t.Errorf("mel pauses everything: %d %s", got.Status, got.Body)
	}
	lessons := shop.address("/lessons/{repo}/{id}")
	if mel.open(lessons); strings.Contains(mel.page(), "Tell it to all") {
		t.Error("mel may share a lesson")
	}
	if got := mel.fetch(http.MethodPost, lessons, "do=share"); got.Status != http.StatusBadRequest {
		t.Errorf("mel shares: %d %s", got.Status, got.Body)
	}
	mel.open(lessons)
	mel.fill("#edit [name=when]", "the schema changes")
	mel.press("Save")
	if !strings.HasPrefix(mel.said(), "Changed:") ||
		!strings.Contains(mel.page(), "When the schema changes: shopword is generated") {
		t.Errorf("mel changes a lesson: %q\n%s", mel.said(), mel.page())
	}
	ada.open(switches)
	ada.press("Pause everything")
	if all, err := s.App.Store.Halts(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("ada pauses everything: %v %v; %q", all, err, ada.said())
	}
	ada.press("Resume everything")
	if all, err := s.App.Store.Halts(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("ada resumes everything: %v %v; %q", all, err, ada.said())
	}
	s.Settle()
	ada.open("/escalations")
	ada.fill("textarea", "in English, with a comma")
	ada.press("Answer")
	s.Settle()
	if got := task(); got.State != sia.Passed || len(got.Answers) != 1 || got.Answers[0].By.Login != apptest.Owner {
		t.Errorf("answered, it is %s: %+v; %q", got.State, got.Answers, ada.said())
	}
	// A revoked role ends when GitHub is asked again, and signing out ends the session.
	check(t, s.Sim.SetPermission(apptest.Repo, "mel", "none"))
	s.Wait(2 * time.Minute)
	if code := mel.open(page); code != http.StatusNotFound {
		t.Errorf("mel, who may no more: %d", code)
	}
	ada.press("Sign out")
	if ada.open(page); !strings.HasPrefix(ada.at(), s.Public+"/signin?to=") {
		t.Errorf("ada, signed out, is at %s", ada.at())
	}
}
