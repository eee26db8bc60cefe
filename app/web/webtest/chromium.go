// Package webtest starts a real browser for tests. It is required: if it is missing, tests fail with a message that
// says how to install it.
//
// Only tests import it.
package webtest

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// limit is how long a test may use its browser.
const limit = 10 * time.Minute

// Chromium starts a headless browser, which ends with the test. The context is that of the first window;
// chromedp.NewContext with chromedp.WithNewBrowserContext opens windows with separate cookies.
func Chromium(t *testing.T) context.Context {
	t.Helper()
	alloc, stop := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(alloc)
	t.Cleanup(end)
	ctx, late := context.WithTimeout(ctx, limit)
	t.Cleanup(late)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start Chromium: %v; .ci/deps installs it", err)
	}
	return ctx
}
