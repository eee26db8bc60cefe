package webtest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Judge checks the accessibility of pages, for people with low or no vision, without a mouse, or with a phone.
type Judge struct {
	browser context.Context
	axe     string // the script of axe-core
}

// NewJudge opens a window of a browser. root is the repository's root; its npm packages include axe-core. The window
// ignores the pages' Content-Security-Policy, which would block axe-core's script.
func NewJudge(browser context.Context, t *testing.T, root string) Judge {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(root, "node_modules/axe-core/axe.min.js"))
	if err != nil {
		t.Fatalf("%v; make deps installs it", err)
	}
	if _, err := chromedp.Call(browser, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	return Judge{browser, string(script)}
}

// Open loads a page and unfolds everything on it.
func (j Judge) Open(t *testing.T, address string) {
	t.Helper()
	if err := chromedp.Do(j.browser, chromedp.Navigate(address)); err != nil {
		t.Fatalf("open %s: %v", address, err)
	}
	j.Stay(t)
}

// Stay is Open for the page already in the window, such as after a form.
func (j Judge) Stay(t *testing.T) {
	t.Helper()
	const unfold = `; document.querySelectorAll("details").forEach((d) => { d.dataset.was = d.open; d.open = true }); ''`
	if _, err := chromedp.Run(j.browser, chromedp.Evaluate[string](j.axe+unfold)); err != nil {
		t.Fatalf("unfold a page: %v", err)
	}
}

// Look checks the open page at a screen width in points, in the colour scheme light or dark. Everything that axe-core
// finds fails the test, and so does a page that scrolls sideways. With SHOTS=folder it also writes a picture of the
// page before unfolding.
//
// A scheme changes only colours, as a test of app/look checks. A page already checked at a width is checked in another
// scheme only by axe-core's two rules about colours, as no other rule can find anything new.
func (j Judge) Look(t *testing.T, name string, width int64, scheme string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	_, err := chromedp.Call(j.browser, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	must(err)
	must(chromedp.Do(j.browser, chromedp.EmulateViewport(width, 900)))
	found, err := chromedp.Run(j.browser, chromedp.Evaluate[string](`(() => {
		window.judged ??= new Set();
		const rules = judged.has(innerWidth) ? {runOnly: ["color-contrast", "link-in-text-block"]} : {};
		judged.add(innerWidth);
		return axe.run({resultTypes: ["violations"], ...rules}).then((r) => JSON.stringify(r.violations.map((v) =>
			v.impact + ": " + v.id + ": " + v.help + " — " + v.nodes.map((n) => n.html).join(" | "))));
	})()`, chromedp.EvalAwaitPromise))
	must(err)
	var faults []string
	must(json.Unmarshal([]byte(found), &faults))
	for _, f := range faults {
		t.Errorf("%s: %s", name, f)
	}
	wide, err := chromedp.Run(j.browser,
		chromedp.Evaluate[float64](`document.documentElement.scrollWidth - window.innerWidth`))
	must(err)
	if wide > 0 {
		t.Errorf("%s scrolls sideways by %.0f px", name, wide)
	}
	if dir := os.Getenv("SHOTS"); dir != "" {
		j.shoot(t, filepath.Join(dir, name+".png"))
	}
}

// shoot writes a picture of the page before unfolding.
func (j Judge) shoot(t *testing.T, file string) {
	t.Helper()
	fold := func(open string) error {
		_, err := chromedp.Run(j.browser, chromedp.Evaluate[string](
			`document.querySelectorAll("details").forEach((d) => { d.open = `+open+` });
				new Promise((painted) => requestAnimationFrame(() => setTimeout(() => painted(""))))`,
			chromedp.EvalAwaitPromise))
		return err
	}
	err := fold(`d.dataset.was === "true"`)
	var shot []byte
	if err == nil {
		shot, err = chromedp.Run(j.browser, chromedp.FullScreenshot(100))
	}
	if err == nil {
		err = os.WriteFile(file, shot, 0o600)
	}
	if err == nil {
		err = fold("true")
	}
	if err != nil {
		t.Fatalf("picture %s: %v", file, err)
	}
}
