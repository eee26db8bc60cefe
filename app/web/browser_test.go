package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/app/web/webtest"
	"github.com/sia-bot/sia/sia"
)

// axe finds what keeps people with disabilities out of a page (npm install, see package.json).
const axe = "../../node_modules/axe-core/axe.min.js"

// everyPage are pages of the world as somebody sees them, each with a name for a picture.
func everyPage() map[string]string {
	return map[string]string{"overview": "/", "tasks": "/tasks", "task": "/tasks/9-1", "passed": "/tasks/9-5",
		"question": "/tasks/9-4", "attempt": "/tasks/9-4/attempts/1", "diff": "/tasks/9-5/attempts/1",
		"running": "/tasks/9-6", "live": "/tasks/9-6/attempts/1",
		"costs": "/costs", "escalations": "/escalations", "techniques": "/techniques?repo=9",
		"coders": "/coders?repo=9", "patterns": "/patterns", "policies": "/policies",
		"change": "/policies/bookings-change", "lessons": "/lessons?repo=9",
		"lesson": "/lessons/9/" + string(lessonOf(bookings)), "settings": "/settings?repo=9",
		"installations": "/installations", "installation": "/installations/1", "nowhere": "/nowhere"}
}

// Every page, on a phone and on a desk, light and dark, whoever looks, is one that people can use who
// see badly or not at all, or don't use a mouse; and none scrolls sideways.
//
// With SHOTS=folder it also writes a picture of each page there.
//
//test:thorough
func TestEverybodyCanUsePages(t *testing.T) {
	script, err := os.ReadFile(axe)
	if err != nil {
		t.Fatalf("%v; make deps installs it", err)
	}
	s := world(t)
	h := pages(t, s, &doer{})
	ctx := webtest.Chromium(t)
	for name, who := range map[string]viewer.Viewer{"admin": admin(), "member": member(), "stranger": stranger(),
		"nobody": nobody()} {
		// The policy of pages forbids scripts from elsewhere, such as the one that looks at them.
		srv := httptest.NewServer(as(who, unguarded(h)))
		t.Cleanup(srv.Close)
		for page, path := range everyPage() {
			must(t, chromedp.Do(ctx, chromedp.Navigate(srv.URL+path)))
			const unfold = `; document.querySelectorAll("details").forEach((d) => { d.dataset.was = d.open; d.open = true }); ''`
			_, err := chromedp.Run(ctx, chromedp.Evaluate[string](string(script)+unfold))
			must(t, err)
			for _, width := range []int64{390, 1280} {
				for _, scheme := range []string{"light", "dark"} {
					look(ctx, t, fmt.Sprintf("%s-%s-%d-%s", page, name, width, scheme), width, scheme)
				}
			}
		}
	}
}

// look has the page that is open judged on a screen of a width, in points.
func look(ctx context.Context, t *testing.T, name string, width int64, scheme string) {
	t.Helper()
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	must(t, err)
	must(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, 900)))
	found, err := chromedp.Run(ctx, chromedp.Evaluate[string](`axe.run({resultTypes: ["violations"]})
		.then((r) => JSON.stringify(r.violations
			.map((v) => v.id + ": " + v.help + " — " + v.nodes.map((n) => n.html).join(" | "))))`, chromedp.EvalAwaitPromise))
	must(t, err)
	wide, err := chromedp.Run(ctx, chromedp.Evaluate[float64](`document.documentElement.scrollWidth - window.innerWidth`))
	must(t, err)
	var faults []string
	must(t, json.Unmarshal([]byte(found), &faults))
	for _, f := range faults {
		t.Errorf("%s: %s", name, f)
	}
	if wide > 0 {
		t.Errorf("%s scrolls sideways by %.0f px", name, wide)
	}
	if dir := os.Getenv("SHOTS"); dir != "" {
		const folded = `document.querySelectorAll("details").forEach((d) => { d.open = d.dataset.was === "true" }); ''`
		_, err := chromedp.Run(ctx, chromedp.Evaluate[string](folded))
		must(t, err)
		shot, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, name+".png"), shot, 0o600))
	}
}

// unguarded leaves the policy of pages away.
func unguarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(lenient{w}, r)
	})
}

type lenient struct{ http.ResponseWriter }

func (l lenient) WriteHeader(status int) {
	l.Header().Del("Content-Security-Policy")
	l.ResponseWriter.WriteHeader(status)
}

func (l lenient) Write(b []byte) (int, error) {
	l.Header().Del("Content-Security-Policy")
	return l.ResponseWriter.Write(b)
}

func (l lenient) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// An open page shows what happens without being loaded again, under the policy of pages; and what
// somebody is writing there stays.
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
