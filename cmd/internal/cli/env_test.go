package cli

import (
	"errors"
	"strings"
	"testing"
)

// Untrusted text can't control a terminal, wherever a line or a table contains it; SIA's own colours stay.
func TestStrangersSteerNoTerminal(t *testing.T) {
	const theirs = "a\x1b[31m\x07b\u202e\u200bc\u009b\r\nd"
	const plain = "a\ufffd[31m\ufffdbc\ufffd\nd"
	style := Style{on: true}
	var out strings.Builder
	e := &Env{Out: &out}
	e.Linef("%s %q %5d %*d %v", theirs, "q", 7, 3, 8, errors.New(theirs))
	if want := plain + ` "q"     7   8 ` + plain + "\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	out.Reset()
	e.Linef("%s", style.Red(theirs))
	if want := "\x1b[31m" + plain + "\x1b[0m\n"; out.String() != want {
		t.Errorf("coloured: %q, want %q", out.String(), want)
	}
	out.Reset()
	w := NewTable(&out)
	w.Rowf("%s\t%s", style.Bold("b"), "x\x1by\u2066")
	if err := w.Flush(); err != nil || out.String() != "\x1b[1mb\x1b[0m  x\ufffdy\n" {
		t.Errorf("table: %q, %v", out.String(), err)
	}
}

// Secrets are masked wherever a line, a colour or a table contains them.
func TestSecretsAreMasked(t *testing.T) {
	const token, mark = "ghp_0123456789abcdefghijABCDEFGHIJ012345", "[secret: github-pat]"
	style := Style{on: true}
	var out, errs strings.Builder
	e := &Env{Out: &out, Err: &errs}
	e.Linef("%s %s", errors.New(token), style.Red(token))
	e.Progressf("told %s", token)
	w := NewTable(&out)
	w.Rowf("%s\t%s", token, style.Bold(token))
	w.Fieldf("name", "%s", token)
	w.Fieldf("nothing", "%s", "")
	if err := w.Flush(); err != nil || strings.Contains(out.String()+errs.String(), "ghp_") ||
		strings.Count(out.String(), mark) != 5 || errs.String() != "told "+mark+"\n" ||
		strings.Contains(out.String(), "nothing") {
		t.Errorf("%q, %q, %v", out.String(), errs.String(), err)
	}
}
