package failure

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"
)

// template is a failing log with placeholders for text that varies from run to run, and one for text that matters.
var templates = []struct{ name, log string }{
	{"go", "=== RUN   Test%[1]s\n--- FAIL: Test%[1]s (%[2]d.%[3]02ds)\n" +
		"    cart_test.go:31: %[1]s: got 100 from 127.0.0.1:%[4]d\nFAIL\texample.com/shop\t%[2]d.%[3]03ds\n"},
	{"pytest", "_____________ test_%[1]s _____________\n\n>       assert %[1]s(100)\n" +
		"E       assert %[1]s at 0x7f%[4]08x\n\n/home/runner/work/job%[4]d/test_cart.py:31: AssertionError\n"},
	{"gcc", "/tmp/build-%[4]d/shop/cart.c:%[2]d:9: error: '%[1]s' undeclared\n   12 |   return %[1]s;\n"},
	{"java", "%[1]s(org.shop.CartTest)  Time elapsed: %[2]d.%[3]d sec  <<< FAILURE!\njava.lang.AssertionError: %[1]s\n" +
		"\tat org.shop.CartTest.%[1]s(CartTest.java:%[3]d)\n"},
	{"plain", "10:%[3]02d:11 starting\nerror: %[1]s failed after %[2]d ms, id %[4]x\n"},
}

// A failure has the same signature on a re-run; another failure has another one.
func TestSignature(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tpl := rapid.SampledFrom(templates).Draw(t, "template")
		log := func(what string, run string) string {
			a := rapid.IntRange(1, 9).Draw(t, run+" a")
			b := rapid.IntRange(10, 59).Draw(t, run+" b")
			c := rapid.IntRange(1<<20, 1<<28).Draw(t, run+" c")
			return fmt.Sprintf(tpl.log, what, a, b, c)
		}
		name := rapid.StringMatching(`[A-Z][a-z]{3,9}`)
		what := name.Draw(t, "what")
		other := name.Filter(func(s string) bool { return s != what }).Draw(t, "other")
		sig := func(log string) string {
			rep, err := Read(context.Background(), strings.NewReader(log), Options{})
			if err != nil || rep.Signature == "" {
				t.Fatalf("%q: %+v, %v", log, rep, err)
			}
			return rep.Signature
		}
		first, again, differs := sig(log(what, "first")), sig(log(what, "again")), sig(log(other, "other"))
		if first != again {
			t.Fatalf("%s: a re-run has another signature", tpl.name)
		}
		if first == differs {
			t.Fatalf("%s: %s and %s have one signature", tpl.name, what, other)
		}
	})
}

// Parallel tests fail in any order, and pytest-xdist names the worker of each.
func TestSignatureOfOrder(t *testing.T) {
	goTest := func(test string) string {
		return "--- FAIL: Test" + test + " (0.01s)\n    cart_test.go:31: " + test + ": got 100\n"
	}
	jest := func(test string) string {
		return "  ● cart › adds " + test + "\n\n    expect(received).toBe(expected)\n\n    Expected: 119\n" +
			"    Received: \"" + test + "\"\n\n      at Object.<anonymous> (cart.test.js:31:5)\n\n"
	}
	pytest := func(test, worker string) string {
		return "_____________ test_" + test + " _____________\n[gw" + worker + "] linux -- Python 3.12.3 /usr/bin/py\n\n" +
			">       assert cart." + test + "(100) == 119\nE       assert 100 == 119\n\ntest_cart.py:31: AssertionError\n"
	}
	var many, back string
	for i := range 17 {
		name := string(rune('A' + i))
		many, back = many+goTest("Tax"+name), goTest("Tax"+name)+back
	}
	for name, logs := range map[string][2]string{
		"go":     {goTest("Tax") + goTest("Sum") + "FAIL\n", goTest("Sum") + goTest("Tax") + "FAIL\n"},
		"many":   {many + "FAIL\n", back + "FAIL\n"},
		"jest":   {jest("tax") + jest("sum"), jest("sum") + jest("tax")},
		"pytest": {pytest("tax", "0") + pytest("sum", "1"), pytest("sum", "0") + pytest("tax", "1")},
		"xdist":  {pytest("tax", "0"), pytest("tax", "3")},
	} {
		if a, b := read(t, logs[0], Options{}), read(t, logs[1], Options{}); a.Signature != b.Signature || a.Signature == "" {
			t.Errorf("%s: %s and %s\n%s\n\n%s", name, a.Signature, b.Signature, a.Long, b.Long)
		}
	}
}

func TestMask(t *testing.T) {
	for in, want := range map[string]string{
		"2031-02-03T10:00:01.5Z error TS2304 in cart": "# error TS2304 in cart",
		"at 0x7f00a1b2 pid 4711":                      "at # pid #",
		"/home/runner/work/shop/shop/cart.go:12: no":  "~/cart.go:#: no",
		"commit 1a2b3c4d5e6f by nobody":               "commit # by nobody",
		"took  12.5 ms,\tport 8080, 512MiB":           "took # ms, port #, #",
		"test_utf8 of E0425 at 10:00:01 PM":           "test_utf8 of E0425 at #",
		"id 9b2e4d10-1111-4222-8333-444455556666":     "id #",
		"id aaaaaa, id 100000, id 1e5f00":             "id #, id #, id #",
		"the facade effaced commit facade":            "the facade effaced commit #",
	} {
		if got := maskVarying(in); got != want {
			t.Errorf("mask(%q) = %q, want %q", in, got, want)
		}
	}
}
