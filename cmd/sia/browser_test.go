package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// window is a user's browser. It records input and output, in which tests look for secrets.
type window struct {
	t           *testing.T
	ctx         context.Context
	typed, seen strings.Builder
}

// newWindow opens a window with its own cookies and with scripts enabled or disabled.
func newWindow(browser context.Context, t *testing.T, scripts bool) *window {
	t.Helper()
	ctx, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	w := &window{t: t, ctx: ctx}
	_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: !scripts})
	w.must(err, "open a window")
	return w
}

// does performs actions, and fails the test after a minute.
func (w *window) does(what string, steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, time.Minute)
	defer cancel()
	w.must(chromedp.Do(ctx, steps...), what)
}

func (w *window) must(err error, what string) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%s: %v; at %s is seen:\n%s", what, err, w.address(), w.looks())
	}
}

// looks returns the text of the page.
func (w *window) looks() string {
	page, err := chromedp.Run(w.ctx, chromedp.OuterHTML(chromedp.CSS("html")))
	if err != nil {
		return err.Error()
	}
	w.seen.WriteString(page + "\n")
	return page
}

// address returns the address of the page.
func (w *window) address() string {
	at, err := chromedp.Run(w.ctx, chromedp.Location())
	if err != nil {
		return err.Error()
	}
	return at
}

// open navigates to an address.
func (w *window) open(address string) {
	w.t.Helper()
	w.does("open "+address, chromedp.Navigate(address))
}

// shows waits until the page shows some words. The page may reload meanwhile.
func (w *window) shows(words string) {
	w.t.Helper()
	w.does("wait for "+words, chromedp.WaitReady(chromedp.Search(fmt.Sprintf(`//main[contains(., %q)]`, words))))
	w.looks()
}

// types replaces the text of a field.
func (w *window) types(field, words string) {
	w.t.Helper()
	w.typed.WriteString(words + "\n")
	w.does("go to "+field, chromedp.Focus(chromedp.CSS("[name="+field+"]")))
	_, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool]("document.activeElement.select(); true"))
	w.must(err, "select "+field)
	w.does("type into "+field, chromedp.KeyEvent(words))
}

// presses clicks a button or a link, found by the beginning of its text, and waits for the next page. It clicks again
// if needed, since browsers drop clicks before a new page is painted.
func (w *window) presses(words string) {
	w.t.Helper()
	at := chromedp.Search(fmt.Sprintf(`//*[self::a or self::button][starts-with(normalize-space(.), %q)]`, words))
	var err error
	for range 3 {
		ctx, cancel := context.WithTimeout(w.ctx, 20*time.Second)
		_, err = chromedp.RunResponse(ctx, chromedp.Click(at))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	w.must(err, "press "+words)
}
