package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/app/web/webtest"
	"github.com/sia-bot/sia/sia"
)

// everyPage lists the pages of the world, each with a name for a picture.
func everyPage() map[string]string {
	return map[string]string{"overview": "/", "tasks": "/tasks", "task": "/tasks/9-1", "passed": "/tasks/9-5",
		"question": "/tasks/9-4", "attempt": "/tasks/9-4/attempts/1", "diff": "/tasks/9-5/attempts/1",
		"running": "/tasks/9-6", "live": "/tasks/9-6/attempts/1",
		"costs": "/costs", "escalations": "/escalations", "techniques": "/techniques?repo=9",
		"coders": "/coders?repo=9", "patterns": "/patterns", "policies": "/policies",
		"change": "/policies/bookings-change", "lessons": "/lessons?repo=9",
		"lesson": "/lessons/9/" + string(lessonOf(bookings)), "settings": "/settings?repo=9",
		"installations": "/installations", "installation": "/installations/1",
		"nothing": "/tasks?text=nothing", "refused": "/tasks?page=0", "nowhere": "/nowhere"}
}

// Every page, on a phone and a desktop, light and dark, for every viewer, is accessible to people with low or no vision
// or without a mouse, and does not scroll sideways. A page that is the same for several viewers except for its
// navigation is checked once.
// navigation is judged once.
//
// With SHOTS=folder it also writes a picture of each page there.
//
//test:thorough
//test:plain
func TestEverybodyCanUsePages(t *testing.T) {
	h := pages(t, world(t), &doer{})
	judge := webtest.NewJudge(webtest.Chromium(t), t, "../..")
	judged := map[string]bool{}
	for _, v := range []struct {
		name string
		who  viewer.Viewer
	}{{"operator", operator()}, {"admin", admin()}, {"member", member()}, {"nobody", nobody()}} {
		name, srv := v.name, httptest.NewServer(as(v.who, h))
		t.Cleanup(srv.Close)
		for page, path := range everyPage() {
			_, body := ask(t, h, v.who, "GET "+path, "")
			shown := token.ReplaceAllString(between(body, "<main", "</main>"), "")
			if judged[shown] && page != "overview" {
				continue
			}
			judged[shown] = true
			t.Run(name+"/"+page, func(t *testing.T) {
				judge.Open(t, srv.URL+path)
				for _, width := range []int64{390, 1280} {
					for _, scheme := range []string{"light", "dark"} {
						judge.Look(t, fmt.Sprintf("%s-%s-%d-%s", page, name, width, scheme), width, scheme)
					}
				}
			})
		}
	}
}

// No navigation entry is cut off on a small phone.
//
//test:thorough
func TestNavigationFitsASmallPhone(t *testing.T) {
	srv := httptest.NewServer(as(operator(), pages(t, world(t), &doer{})))
	t.Cleanup(srv.Close)
	ctx := webtest.Chromium(t)
	must(t, chromedp.Do(ctx, chromedp.EmulateViewport(360, 800)))
	for _, path := range []string{"/", "/tasks", "/lessons", "/settings"} {
		must(t, chromedp.Do(ctx, chromedp.Navigate(srv.URL+path)))
		over, err := chromedp.Run(ctx, chromedp.Evaluate[[]int](
			`[...document.querySelectorAll("nav.tabs")].map(n => n.scrollWidth - n.clientWidth)`))
		must(t, err)
		if slices.Max(over) > 0 {
			t.Errorf("%s: navigations are wider than their place by %v", path, over)
		}
	}
}

// On a small phone the button of a row has its words in one line; on a desktop it does not touch what follows.
//
//test:thorough
func TestButtonsOfRows(t *testing.T) {
	srv := httptest.NewServer(as(operator(), pages(t, world(t), &doer{})))
	t.Cleanup(srv.Close)
	ctx := webtest.Chromium(t)
	for width, wrong := range map[int64]string{
		360: `b.getBoundingClientRect().height > 40`,
		1280: `b.nextElementSibling &&
			b.nextElementSibling.getBoundingClientRect().left - b.getBoundingClientRect().right < 4`,
	} {
		must(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, 800), chromedp.Navigate(srv.URL+"/tasks")))
		counted, err := chromedp.Run(ctx, chromedp.Evaluate[[]int](
			`(all => [all.length, all.filter(b => `+wrong+`).length])([...document.querySelectorAll(".row .button")])`))
		must(t, err)
		if counted[0] == 0 || counted[1] > 0 {
			t.Errorf("at %d pixels, %d of %d buttons are too high or touch what follows", width, counted[1], counted[0])
		}
	}
}

// An open page shows changes without a reload, under the pages' Content-Security-Policy, and keeps text that somebody
// is writing.
//
//test:thorough
func TestOpenPagesRenewThemselves(t *testing.T) {
	s := world(t)
	srv := httptest.NewServer(as(member(), pages(t, s, &doer{})))
	t.Cleanup(srv.Close)
	ctx := webtest.Chromium(t)
	must(t, chromedp.Do(ctx, chromedp.Navigate(srv.URL+"/escalations"), chromedp.WaitVisible("textarea"),
		chromedp.SendKeys("textarea", "I am writing")))
	watching, end := chromedp.NewContext(ctx)
	defer end()
	must(t, chromedp.Do(watching, chromedp.Navigate(srv.URL+"/tasks/9-4"), chromedp.WaitVisible("#question")))
	_, err := s.Apply(t.Context(), "9-4", sia.Event{ID: "stop", At: start.Add(time.Hour), By: sia.Actor{Login: "ada"},
		Fact: sia.Stop{Reason: "nobody wants it"}})
	must(t, err)
	must(t, chromedp.Do(watching, chromedp.WaitNotPresent("#question")))
	text, err := chromedp.Run(watching, chromedp.Text("main"))
	must(t, err)
	if !strings.Contains(text, "nobody wants it") {
		t.Errorf("the page shows:\n%s", text)
	}
	written, err := chromedp.Run(ctx, chromedp.Value("textarea"))
	must(t, err)
	if written != "I am writing" {
		t.Errorf("of what was written is left: %q", written)
	}
}

// An open page recovers after its event stream, and then its reload, was refused once.
//
//test:thorough
func TestOpenPagesOutliveRefusals(t *testing.T) {
	s := world(t)
	h := as(member(), pages(t, s, &doer{}))
	var lines, loads atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/live" && lines.Add(1) == 1 || r.URL.Path == "/tasks/9-4" && loads.Add(1) == 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	ctx := webtest.Chromium(t)
	must(t, chromedp.Do(ctx, chromedp.Navigate(srv.URL+"/tasks/9-4"), chromedp.WaitVisible("#question")))
	stop(t, s, "9-4")
	must(t, chromedp.Do(ctx, chromedp.WaitNotPresent("#question")))
	if lines.Load() < 2 || loads.Load() < 3 {
		t.Errorf("%d lines were asked for, and the page %d times", lines.Load(), loads.Load())
	}
}

// A hidden page has no event stream, and gets missed changes when it is shown again.
//
//test:thorough
func TestHiddenPagesHaveNoLine(t *testing.T) {
	s := world(t)
	h := as(member(), pages(t, s, &doer{}))
	began, ended := make(chan bool, 9), make(chan bool, 9)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/live" {
			began <- true
			defer func() { ended <- true }()
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	ctx := webtest.Chromium(t)
	show := func(hidden bool) {
		t.Helper()
		_, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf(`Object.defineProperty(document, "hidden",
			{configurable: true, value: %v}); document.dispatchEvent(new Event("visibilitychange")); ""`, hidden)))
		must(t, err)
	}
	must(t, chromedp.Do(ctx, chromedp.Navigate(srv.URL+"/tasks/9-4"), chromedp.WaitVisible("#question")))
	<-began
	show(true)
	<-ended
	// The page's next request comes after a stream that it would have opened.
	_, err := chromedp.Run(ctx, chromedp.Evaluate[string](`fetch("/").then(() => "")`, chromedp.EvalAwaitPromise))
	must(t, err)
	if len(began) > 0 {
		t.Error("a hidden page opened a line")
	}
	stop(t, s, "9-4")
	show(false)
	<-began
	must(t, chromedp.Do(ctx, chromedp.WaitNotPresent("#question")))
}
