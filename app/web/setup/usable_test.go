package setup_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/sia-bot/sia/app/web/setup"
	"github.com/sia-bot/sia/app/web/webtest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// Everybody can use the pages of set-up, on a phone and on a desk, light and dark: each step, what is said when one goes
// wrong, and the page of the simulated GitHub between them.
//
//test:thorough
func TestEverybodyCanUseSetUp(t *testing.T) {
	browser := webtest.Chromium(t)
	judge := webtest.NewJudge(browser, t, "../../..")
	look := func(name string) {
		t.Helper()
		judge.Stay(t)
		for _, width := range []int64{390, 1280} {
			for _, scheme := range []string{"light", "dark"} {
				judge.Look(t, fmt.Sprintf("setup-%s-%d-%s", name, width, scheme), width, scheme)
			}
		}
	}
	p := open(t, func(c *setup.RegistrationConfig) {
		c.Missing = func(setup.Registered) []string { return []string{"a model: --model-url and --model"} }
	})
	see := func(name, address string) {
		t.Helper()
		p.must(chromedp.Do(browser, chromedp.Navigate(address)))
		look(name)
	}
	press := func(name, words string) {
		t.Helper()
		_, err := chromedp.RunResponse(browser, chromedp.Click(chromedp.Search(
			fmt.Sprintf(`//button[normalize-space(.)=%q]`, words))))
		p.must(err)
		look(name)
	}
	see("manual", p.pages.URL+"/setup/manual")
	see("failed", p.pages.URL+"/setup/done?code=x&state=x")
	see("choose", p.pages.URL+"/setup")
	p.must(chromedp.Do(browser, chromedp.SendKeys("[name=public_url]", "http://192.168.1.7:8080/path")))
	press("refused", "Continue")
	p.must(chromedp.Do(browser, chromedp.Navigate(p.pages.URL+"/setup"),
		chromedp.SendKeys("[name=public_url]", "http://192.168.1.7:8080")))
	press("confirm", "Continue")
	press("github", "Register the app on GitHub")
	press("stored", "Create the app")

	for name, answer := range map[string]int{"arrives": http.StatusAccepted, "lost": http.StatusBadGateway} {
		s := serving(t, answer)
		s.page(time.Hour)
		see("progress-"+name, s.pages.URL+"/setup")
		_, err := s.CreateRepo("acme", "shop", ghsim.RepoSpec{Files: map[string]string{"a": "a"}})
		s.must(err)
		_, err = s.Install(s.app.ID, "acme")
		s.must(err)
		s.settle()
		s.clock.Advance(time.Minute)
		see("installed-"+name, s.pages.URL+"/setup")
	}
}
