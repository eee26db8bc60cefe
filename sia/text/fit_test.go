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

func TestEnds(t *testing.T) {
	for _, c := range []struct {
		s          string
		head, tail int
		want       string
	}{
		{"all of it", 5, 4, "all of it"}, {"größer als", 3, 3, "gr\n[… 7 bytes left out …]\nals"},
		{"Größe", 1, 1, "G\n[… 5 bytes left out …]\ne"}, {"xxüxx", 2, 3, "xx\n[… 2 bytes left out …]\nxx"},
		{"the first\nand then\nthe last line", 11, 14, "the first\n[… 10 bytes left out …]\nthe last line"},
		{"cut", 0, 0, "\n[… 3 bytes left out …]\n"},
	} {
		if got := text.Ends(c.s, c.head, c.tail); got != c.want {
			t.Errorf("Ends(%q, %d, %d) = %q, want %q", c.s, c.head, c.tail, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(0, 40)
		s, head, tail := rapid.String().Draw(t, "s"), size.Draw(t, "head"), size.Draw(t, "tail")
		got := text.Ends(s, head, tail)
		if len(got) > max(len(s), head+tail+60) || utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("Ends(%q, %d, %d) = %q", s, head, tail, got)
		}
	})
}
