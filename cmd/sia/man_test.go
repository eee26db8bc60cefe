package main

import (
	"io"
	"os/exec"
	"strings"
	"testing"
)

// groff, which man uses, reports no warning for any page, and renders each as intended.
//
//test:thorough
func TestManPages(t *testing.T) {
	parser, err := newParser(&commandLine{}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	nodes := visibleNodes(parser.Model.Node)
	var all strings.Builder
	for _, n := range nodes {
		all.WriteString(manPage(n))
	}
	cmd := exec.CommandContext(t.Context(), "groff", "-man", "-Tascii", "-P-cbou", "-ww", "-rHY=0")
	cmd.Stdin = strings.NewReader(all.String())
	var said strings.Builder
	cmd.Stderr = &said
	shown, err := cmd.Output()
	if err != nil || said.Len() > 0 {
		t.Fatalf("%v (.ci/deps installs groff)\n%s", err, said.String())
	}
	text := strings.Join(strings.Fields(string(shown)), " ")
	for _, n := range nodes {
		if want := manName(n) + " - "; !strings.Contains(text, want) {
			t.Errorf("no page begins with %q", want)
		}
	}
	for _, want := range []string{
		"sia task stop <task> [flags]",
		"--state=STATE Only tasks in this state, such as paused. One of any, queued, working,",
		"-v, --verbose Show SIA's own log on standard error.",
		"0 done, 1 failed, 2 wrong usage, 130 stopped with Ctrl-C.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is on no page", want)
		}
	}
	for _, hidden := range []string{"sia-forward", "sia-complete "} {
		if strings.Contains(text, hidden) {
			t.Errorf("%q is shown, though no person calls it", hidden)
		}
	}
}

// Text is shown literally, whatever it means to man.
func TestRoff(t *testing.T) {
	for in, want := range map[string]string{
		".sia/config.yml":  `\&.sia/config.yml`,
		"'quoted'":         `\&'quoted'`,
		`C:\sia --dir`:     `C:\esia \-\-dir`,
		"two\n.SH lines":   "two .SH lines",
		"grüße … 95 % — ✓": "grüße … 95 % — ✓",
	} {
		if got := roff(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := roffQuote(`a "b"`); got != `"a \(dqb\(dq"` {
		t.Errorf("%s", got)
	}
}
