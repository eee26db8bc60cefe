package app_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/sia-bot/sia/app/web/webtest"
	"github.com/sia-bot/sia/sim/apptest"
)

// links returns the addresses of a site that the links of the open page lead to, without downloads.
const links = `[...new Set([...document.querySelectorAll("a[href]")].map((a) => a.href.split("#")[0]))]
	.filter((a) => a.startsWith(location.origin) && !a.includes("/raw/")).join("\n")`

// After a task failed, was diagnosed and passed, all pages are accessible: SIA's pages, the page for signing in, and
// all of the simulator's, including error pages.
//
//test:thorough
func TestEverybodyCanUseWhatTheDemoShows(t *testing.T) {
	t.Parallel()
	s := theStory(t, "pass-after-sia").StartWith(t, func(c *apptest.Config) { c.SignIn = true })
	n := openLabelled(t, s, apptest.Owner)
	s.Settle()
	browser := webtest.Chromium(t)
	judge := webtest.NewJudge(browser, t, "..")
	look := func(name, address string) {
		t.Helper()
		judge.Open(t, address)
		judge.Look(t, name+"-390-light", 390, "light")
		judge.Look(t, name+"-1280-dark", 1280, "dark")
	}
	look("signin", s.Public+"/tasks")
	look("signin-out", s.Public+"/signin?out")
	look("signin-failed", s.Public+"/signin/callback?state=x")
	must := func(err error) {
		t.Helper()
		check(t, err)
	}
	must(chromedp.Do(browser, chromedp.Navigate(s.Public+"/tasks"),
		chromedp.Click(chromedp.Search(`//a[contains(., "Sign in")]`)), chromedp.WaitVisible("[name=login]")))
	at, err := chromedp.Run(browser, chromedp.Location())
	must(err)
	look("simulator-signin", at)
	visited := []string{at}
	must(chromedp.Do(browser, chromedp.Click(fmt.Sprintf("[value=%s]", apptest.Owner)), chromedp.WaitVisible(".who")))
	id := string(s.Task(n).ID)
	for name, path := range map[string]string{"sia-overview": "/", "sia-task": "/tasks/" + id,
		"sia-attempt-1": "/tasks/" + id + "/attempts/1", "sia-attempt-2": "/tasks/" + id + "/attempts/2",
		"sia-policies": "/policies", "sia-lessons": "/lessons", "sia-nowhere": "/nowhere"} {
		look(name, s.Public+path)
	}

	repo := "/" + apptest.Repo
	seen := map[string]bool{}
	todo := []string{s.Sim.URL() + "/", s.Sim.URL() + repo + "/compare/main...main", // no page links to these
		s.Sim.URL() + "/apps/" + apptest.Slug + "/installations/new", s.Sim.URL() + "/" + apptest.Owner}
	kinds := map[string]int{} // of pages, so that not all of hundreds of commits are visited
	for len(todo) > 0 {
		address := todo[0]
		todo = todo[1:]
		parts := strings.Split(strings.TrimPrefix(address, s.Sim.URL()), "/")
		isName := func(p string) bool { return strings.ContainsAny(p, "0123456789.") }
		kind := strings.Join(slices.DeleteFunc(parts, isName), "/")
		if seen[address] || kinds[kind] >= 2 {
			continue
		}
		seen[address] = true
		kinds[kind]++
		resp, err := http.Get(address)
		must(err)
		must(resp.Body.Close())
		if resp.StatusCode != http.StatusOK {
			t.Errorf("a link of the simulator leads to %s: %s", address, resp.Status)
		}
		if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
			continue
		}
		visited = append(visited, address)
		look(fmt.Sprintf("simulator-%d", len(seen)), address)
		found, err := chromedp.Run(browser, chromedp.Evaluate[string](links))
		must(err)
		todo = append(todo, strings.Split(found, "\n")...)
	}
	for name, path := range map[string]string{"nowhere": "/nowhere/at/all", "no-issue": repo + "/issues/999999"} {
		visited = append(visited, s.Sim.URL()+path)
		look("simulator-"+name, s.Sim.URL()+path)
	}
	// A form that is rejected. The page that a manifest is sent to is tested with set-up (app/web/setup).
	press := func(name, page, button string, do ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		must(chromedp.Do(browser, append([]chromedp.Action[chromedp.Void]{chromedp.Navigate(page)}, do...)...))
		_, err := chromedp.RunResponse(browser, chromedp.Click(chromedp.Search(button)))
		must(err)
		judge.Stay(t)
		judge.Look(t, name+"-390-dark", 390, "dark")
	}
	press("simulator-refused", s.Sim.URL()+repo+"/issues/"+fmt.Sprint(n), `//button[normalize-space(.)="Comment"]`)

	all := http.NewServeMux()
	source, err := os.ReadFile("../sim/ghsim/pages/pages.go")
	must(err)
	var patterns []string
	for _, m := range regexp.MustCompile(`\t(?:get|of)\("([^"]+)"`).FindAllStringSubmatch(string(source), -1) {
		patterns = append(patterns, "GET "+m[1])
		all.HandleFunc("GET "+m[1], func(http.ResponseWriter, *http.Request) {})
	}
	looked := map[string]bool{}
	for _, address := range visited {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		must(err)
		_, pattern := all.Handler(r)
		looked[pattern] = true
	}
	for _, p := range patterns {
		if !looked[p] {
			t.Errorf("nobody looked at the simulator's %s", p)
		}
	}
	if len(patterns) < 15 {
		t.Errorf("only %d pages of the simulator are known", len(patterns))
	}
}
