package web_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/app/web/setup"
	"github.com/sia-bot/sia/app/web/signin"
	"github.com/sia-bot/sia/app/web/webtest"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sim/ghsim"
)

// Set-up is accessible on a phone and a desktop, light and dark: each step, each error page, and the page of the
// simulated GitHub between them.
//
//test:thorough
//test:plain
func TestEverybodyCanUseSetUp(t *testing.T) {
	browser := webtest.Chromium(t)
	judge := webtest.NewJudge(browser, t, "../..")
	look := func(name string) {
		t.Helper()
		judge.Stay(t)
		for _, width := range []int64{390, 1280} {
			for _, scheme := range []string{"light", "dark"} {
				judge.Look(t, fmt.Sprintf("setup-%s-%d-%s", name, width, scheme), width, scheme)
			}
		}
	}
	see := func(name, address string) {
		t.Helper()
		must(t, chromedp.Do(browser, chromedp.Navigate(address)))
		look(name)
	}
	press := func(name, words string) {
		t.Helper()
		_, err := chromedp.RunResponse(browser, chromedp.Click(chromedp.Search(
			fmt.Sprintf(`//button[normalize-space(.)=%q]`, words))))
		must(t, err)
		look(name)
	}
	sim, err := ghsim.New(ghsim.Config{Dir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { must(t, sim.Close()) })
	_, err = sim.Start("127.0.0.1:0")
	must(t, err)

	invitation := signin.NewInvitation("/setup", false, time.Now)
	reg, err := setup.NewRegistration(setup.RegistrationConfig{Dir: t.TempDir(), GitHub: sim.URL(),
		Callback: "/signin/callback", Stored: func(setup.Registered) {}, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
		Missing: func(setup.Registered) []string { return []string{"a model: --model-url and --model"} }})
	must(t, err)
	srv := httptest.NewServer(signin.Invited(invitation, reg.Handler("")))
	t.Cleanup(srv.Close)
	see("stranger", srv.URL+"/setup")
	see("invited", srv.URL+invitation.Link())
	press("choose", "Go on in this browser")
	see("manual", srv.URL+"/setup/manual")
	see("failed", srv.URL+"/setup/done?code=x&state=x")
	must(t, chromedp.Do(browser, chromedp.Navigate(srv.URL+"/setup"),
		chromedp.SendKeys("[name=public_url]", "http://192.168.1.7:8080/path")))
	press("refused", "Continue")
	must(t, chromedp.Do(browser, chromedp.Navigate(srv.URL+"/setup"),
		chromedp.SendKeys("[name=public_url]", "http://192.168.1.7:8080")))
	press("confirm", "Continue")
	press("github", "Register the app on GitHub")
	press("stored", "Create the app")

	app, err := sim.CreateApp("sia")
	must(t, err)
	hook := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(hook.Close)
	must(t, sim.SetWebhook(app.ID, hook.URL+"/webhook", "s"))
	gh, err := github.New(github.Config{AppID: app.ID, PrivateKey: app.PrivateKeyPEM, BaseURL: sim.APIURL(),
		Secrets: &secret.Masker{}, Writes: github.Uncounted{}, Now: time.Now})
	must(t, err)
	progress := setup.NewProgress(gh, storetest.Open(t, store.Config{}), "https://sia.example.com",
		time.Now().Add(-time.Hour), slog.New(slog.DiscardHandler), time.Now)
	srv = httptest.NewServer(as(operator(), progress.Handler()))
	t.Cleanup(srv.Close)
	must(t, sim.WaitIdle(t.Context())) // the ping was answered
	see("progress", srv.URL+"/setup")
	_, err = sim.CreateRepo("acme", "shop", ghsim.RepoSpec{Files: map[string]string{"a": "a"}})
	must(t, err)
	_, err = sim.Install(app.ID, "acme")
	must(t, err)
	srv = httptest.NewServer(as(operator(), setup.NewProgress(gh, storetest.Open(t, store.Config{}), "",
		time.Now().Add(-time.Hour), slog.New(slog.DiscardHandler), time.Now).Handler()))
	t.Cleanup(srv.Close)
	see("installed", srv.URL+"/setup")
}
