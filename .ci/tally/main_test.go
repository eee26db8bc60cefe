//test:plain
package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestTally(t *testing.T) {
	for _, c := range []struct {
		name, in string
		code     int
		last     string
		says     string
	}{
		{"all pass", `
{"Action":"run","Package":"p","Test":"A"}
{"Action":"pass","Package":"p","Test":"A"}
{"Action":"pass","Package":"p","Elapsed":1}
{"Action":"skip","Package":"without tests"}`, 0, "1 passed, 0 failed", "ok    p  1.0s"},
		{"subtests count, their parents don't", `
{"Action":"run","Package":"p","Test":"A"}
{"Action":"run","Package":"p","Test":"A/x"}
{"Action":"run","Package":"p","Test":"A/y"}
{"Action":"pass","Package":"p","Test":"A/x"}
{"Action":"output","Package":"p","Test":"A/y","Output":"because\n"}
{"Action":"fail","Package":"p","Test":"A/y"}
{"Action":"fail","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t1s\n"}
{"Action":"fail","Package":"p"}`, 1, "1 passed, 1 failed", "because"},
		{"a test that fails beside its subtests counts", `
{"Action":"run","Package":"p","Test":"A"}
{"Action":"run","Package":"p","Test":"A/x"}
{"Action":"pass","Package":"p","Test":"A/x"}
{"Action":"output","Package":"p","Test":"A","Output":"because\n"}
{"Action":"fail","Package":"p","Test":"A"}
{"Action":"fail","Package":"p"}`, 1, "1 passed, 1 failed", "because"},
		{"a skip is a failure", `
{"Action":"skip","Package":"p","Test":"A"}
{"Action":"pass","Package":"p","Test":"B"}
{"Action":"pass","Package":"p"}`, 1, "1 passed, 1 failed", "SKIP  p.A"},
		{"does not build", `
{"Action":"build-output","ImportPath":"p","Output":"p.go:1: undefined\n"}
{"Action":"build-fail","ImportPath":"p"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p"}`, 1, "0 passed, 1 failed", "p.go:1: undefined"},
		{"panics", `
{"Action":"run","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Test":"A","Output":"panic: no\n"}
{"Action":"fail","Package":"p"}`, 1, "0 passed, 1 failed", "panic: no"},
		{"nothing ran", "", 1, "0 passed, 0 failed", ""},
		{"not JSON", "go: cannot find main module\n", 1, "0 passed, 0 failed", "cannot find main module"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if got := tally(strings.NewReader(c.in), &out); got != c.code {
				t.Errorf("exit code %d, want %d", got, c.code)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if lines[len(lines)-1] != c.last || !strings.Contains(out.String(), c.says) {
				t.Errorf("printed\n%s\nwant %q, and last %q", out.String(), c.says, c.last)
			}
		})
	}
}
