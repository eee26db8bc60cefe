package web_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/sia-bot/sia/app/web"
	"github.com/sia-bot/sia/app/web/webtest"
)

// Every form works in a browser without scripts: each button is pressed, and every form address is reached.
//
//test:thorough
//test:plain
func TestFormsNeedNoScripts(t *testing.T) {
	do := &doer{}
	srv := httptest.NewServer(as(operator(), pages(t, world(t), do)))
	t.Cleanup(srv.Close)
	ctx := webtest.Chromium(t)
	_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	must(t, err)
	page := func() string {
		t.Helper()
		html, err := chromedp.Run(ctx, chromedp.OuterHTML(chromedp.CSS("main")))
		must(t, err)
		return html
	}
	sent := map[string]bool{} // patterns
	for name, path := range everyPage() {
		must(t, chromedp.Do(ctx, chromedp.Navigate(srv.URL+path)))
		buttons := strings.Count(page(), "<button")
		for i := range buttons {
			t.Run(fmt.Sprintf("%s/%d", name, i+1), func(t *testing.T) {
				button := fmt.Sprintf("(//main//form//button)[%d]", i+1)
				form := button + "/ancestor::form"
				must(t, chromedp.Do(ctx, chromedp.Navigate(srv.URL+path)))
				html, err := chromedp.Run(ctx, chromedp.OuterHTML(chromedp.Search(form)))
				must(t, err)
				if strings.Contains(page(), `<details class="box" id="edit"`) && strings.Contains(html, "Save") {
					must(t, chromedp.Do(ctx, chromedp.Click(chromedp.CSS("#edit > summary"))))
				}
				if strings.Contains(html, `value="answer"`) {
					must(t, chromedp.Do(ctx, chromedp.Click(chromedp.Search(form+"//input[@value='B']"))))
				}
				heard := len(do.said)
				_, err = chromedp.RunResponse(ctx, chromedp.Click(chromedp.Search(button)))
				must(t, err)
				at, err := chromedp.Run(ctx, chromedp.Location())
				must(t, err)
				to, err := url.Parse(at)
				must(t, err)
				if !strings.Contains(html, `method="post"`) {
					if to.Path != strings.Split(path, "?")[0] || to.RawQuery == "" || strings.Contains(page(), `class="problem"`) {
						t.Errorf("it leads to %s:\n%s", at, page())
					}
					return
				}
				if len(do.said) != heard+1 || !strings.Contains(page(), `<p class="said" role="status">`) {
					t.Errorf("it was not heard, or is not answered: %q at %s\n%s", do.said[heard:], at, page())
				}
				action := httptest.NewRequest("POST", between(html, `action="`, `"`), nil)
				sent[web.PatternOf(action)] = true
			})
		}
	}
	for _, p := range web.Patterns() {
		if strings.HasPrefix(p, "POST") && !sent[p] {
			t.Errorf("no form was sent to %s; is there a page for it in everyPage?", p)
		}
	}
}

// between is the text between two texts; empty if they are absent.
func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

// No page reloads itself where scripts don't run, which would disturb writing and screen readers: it has a link for
// that.
func TestNoPageReloadsItself(t *testing.T) {
	h := pages(t, world(t), &doer{})
	links := 0
	for name, path := range everyPage() {
		_, body := ask(t, h, operator(), "GET "+path, "")
		if strings.Contains(body, `http-equiv="refresh"`) {
			t.Errorf("%s loads itself again", name)
		}
		links += strings.Count(body, ">Reload</a></p></noscript>")
	}
	if links == 0 {
		t.Error("no page has a link to load it again")
	}
}

// Every page is among those tested in a browser.
func TestEveryPageIsLookedAt(t *testing.T) {
	var looked []string
	for _, path := range everyPage() {
		looked = append(looked, web.PatternOf(httptest.NewRequest("GET", path, nil)))
	}
	for _, p := range web.Patterns() {
		script := slices.Contains([]string{"GET /style.css", "GET /live.js", "GET /live"}, p)
		if strings.HasPrefix(p, "GET") && !script && !slices.Contains(looked, p) {
			t.Errorf("%s is no page of everyPage", p)
		}
	}
}
