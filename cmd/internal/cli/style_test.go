package cli

import (
	"bytes"
	"os"
	"testing"
)

// Only a terminal gets colours, and not if the user disables them.
func TestColour(t *testing.T) {
	device, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0) // a pseudoterminal
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	for _, c := range []struct {
		noColor, term string
		want          string
	}{
		{"", "xterm", "\x1b[31mred\x1b[0m"},
		{"1", "xterm", "red"},
		{"0", "xterm", "red"}, // any value: https://no-color.org
		{"", "dumb", "red"},
	} {
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("TERM", c.term)
		if got := StyleFor(device).Red("red"); string(got) != c.want {
			t.Errorf("NO_COLOR=%q TERM=%q: %q, want %q", c.noColor, c.term, got, c.want)
		}
	}
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	if got := StyleFor(&bytes.Buffer{}).Red("red"); got != "red" {
		t.Errorf("a file gets colours: %q", got)
	}
}

// The null device is not a terminal, though it is a character device, too.
func TestNobodySitsAtTheNullDevice(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if Interactive(null) {
		t.Error("it counts as a terminal")
	}
}
