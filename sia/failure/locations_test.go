package failure_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sia-bot/sia/sia/failure"
)

func TestLocations(t *testing.T) {
	const log = "    web_test.go:12: got 1\n" +
		"./mail/mail.go:7:2: undefined: x\n" +
		`  File "/home/runner/work/shop/shop/app/views.py", line 31, in book` + "\n" +
		"src/a.ts(12,5): error TS2304\n" +
		"   at Shop.Tests.Run() in D:\\a\\shop\\Tests.cs:line 9\n" +
		"    at run (/srv/node_modules/x.js:1:3)\n" +
		"panic at main.rs:0\n" +
		"2026-05-01T10:00:00.000Z done in 3.5s\n"
	want := []failure.Location{{File: "web_test.go", Line: 12}, {File: "mail/mail.go", Line: 7},
		{File: "/home/runner/work/shop/shop/app/views.py", Line: 31}, {File: "src/a.ts", Line: 12},
		{File: "/a/shop/Tests.cs", Line: 9}, {File: "/srv/node_modules/x.js", Line: 1}}
	got := failure.Locations(log, 100)
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(failure.Location{}, "At")); d != "" {
		t.Error(d)
	}
	for _, p := range failure.Locations(log, 2) {
		if log[p.At:p.At+3] != "web" && log[p.At:p.At+3] != "./m" {
			t.Errorf("%s is said to be at %q", p.File, log[p.At:p.At+3])
		}
	}
}
