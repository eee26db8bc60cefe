package sandbox

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"
)

// The output is kept completely if it fits, and else its start and its end, with a line between them about the omitted
// size, for any sequence of writes.
func TestOutputKeepsBeginningAndEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\nä世")), 0, 400, -1).Draw(t, "text")
		keep := rapid.IntRange(2, 120).Draw(t, "keep")
		var all bytes.Buffer
		o := newOutput(keep, 1<<20, &all)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if _, err := o.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		got := string(o.bytes())
		if all.String() != text || o.total != int64(len(text)) {
			t.Fatalf("passed on %q", all.String())
		}
		if len(text) <= 2*(keep/2) {
			if got != text {
				t.Fatalf("got %q, want %q", got, text)
			}
			return
		}
		head, tail, cut := strings.Cut(got, "\n[")
		number, tail, _ := strings.Cut(tail, " bytes of output left out]\n")
		if !cut || !utf8.ValidString(got) || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) ||
			number != fmt.Sprint(len(text)-len(head)-len(tail)) {
			t.Fatalf("of %q kept %q", text, got)
		}
	})
}

func TestOutputEnds(t *testing.T) {
	o := newOutput(10, 100, nil)
	n, err := o.Write(bytes.Repeat([]byte("x"), 150))
	if n != 100 || err == nil || o.total != 100 {
		t.Errorf("took %d: %v", n, err)
	}
}
