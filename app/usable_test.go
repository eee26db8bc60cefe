package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/sia-bot/sia/app/web/webtest"
	"github.com/sia-bot/sia/sim/apptest"
)

// links are the addresses of a site that the links of the page that is open lead to, without what it downloads.
const links = `[...new Set([...document.querySelectorAll("a[href]")].map((a) => a.href.split("#")[0]))]
	.filter((a) => a.startsWith(location.origin) && !a.includes("/raw/")).join("\n")`

// After a task went wrong, was diagnosed and passed, everybody can use what people look at: SIA's pages, the page
// on which one signs in, and those of the simulator that the demo shows.
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
		judge.Look(t, name, 390, "light")
		judge.Look(t, name+"-wide", 1280, "dark")
	}
	look("signin", s.Public+"/tasks")
	must := func(err error) {
		t.Helper()
		check(t, err)
	}
	must(chromedp.Do(browser, chromedp.Navigate(s.Public+"/tasks"),
		chromedp.Click(chromedp.Search(`//a[contains(., "Sign in")]`)), chromedp.WaitVisible("[name=login]")))
	at, err := chromedp.Run(browser, chromedp.Location())
	must(err)
	look("simulator-signin", at)
	must(chromedp.Do(browser, chromedp.Click(fmt.Sprintf("[value=%s]", apptest.Owner)), chromedp.WaitVisible(".who")))
	id := string(s.Task(n).ID)
	for name, path := range map[string]string{"sia-overview": "/", "sia-task": "/tasks/" + id,
		"sia-attempt-1": "/tasks/" + id + "/attempts/1", "sia-attempt-2": "/tasks/" + id + "/attempts/2",
		"sia-policies": "/policies", "sia-lessons": "/lessons", "sia-nowhere": "/nowhere"} {
		look(name, s.Public+path)
	}

	seen, todo := map[string]bool{}, []string{s.Sim.URL() + "/"}
	kinds := map[string]int{} // of pages, so that not all of hundreds of commits are looked at
	for len(todo) > 0 {
		address := todo[0]
		todo = todo[1:]
		parts := strings.Split(strings.TrimPrefix(address, s.Sim.URL()), "/")
		isName := func(p string) bool { return strings.ContainsAny(p, "0123456789.") }
		kind := strings.Join(slices.DeleteFunc(parts, isName), "/")
		if seen[address] || kinds[kind] >= 3 {
			continue
		}
		seen[address] = true
		kinds[kind]++
		resp, err := http.Get(address)
		must(err)
		must(resp.Body.Close())
		if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
			continue
		}
		look(fmt.Sprintf("simulator-%d", len(seen)), address)
		found, err := chromedp.Run(browser, chromedp.Evaluate[string](links))
		must(err)
		todo = append(todo, strings.Split(found, "\n")...)
	}
	if len(seen) < 12 {
		t.Errorf("only %d pages of the simulator are linked: %v", len(seen), seen)
	}
}
