package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"

	"github.com/sia-bot/sia/sia/text"
)

func TestFence(t *testing.T) {
	for in, mark := range map[string]string{"plain": "```", "a ``` b": "````", "````\nx": "`````"} {
		if got := text.Fence(in); got != mark+"text\n"+in+"\n"+mark {
			t.Errorf("Fence(%q) = %q", in, got)
		}
	}
}

func TestFit(t *testing.T) {
	lines := strings.Repeat("line\n", 40)
	for _, keep := range []text.End{text.Head, text.Tail} {
		if got := text.Fit(lines, len(lines), keep); got != lines {
			t.Errorf("a text that fits was cut: %q", got)
		}
		got := text.Fit(lines, 120, keep)
		if len(got) > 120 || !strings.Contains(got, "were cut]") || strings.Count(got, "line") < 10 {
			t.Errorf("Fit(…, %v) = %q", keep, got)
		}
	}
}

func TestHeadOf(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"short", 5, "short"}, {"one line and\nmore", 14, "one line and"}, {"a\nlonger line", 8, "a\nlonger"},
		{"größer", 3, "gr"}, {"x", -1, ""},
	} {
		if got := text.HeadOf(c.s, c.n); got != c.want {
			t.Errorf("HeadOf(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(0, 40).Draw(t, "n")
		got := text.HeadOf(s, n)
		if len(got) > n || !strings.HasPrefix(s, got) || utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("HeadOf(%q, %d) = %q", s, n, got)
		}
	})
}
