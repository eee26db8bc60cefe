package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/sia-bot/sia/sia/text"
)

func TestClip(t *testing.T) {
	for _, c := range []struct {
		s     string
		runes int
		want  string
	}{
		{"", 0, ""}, {"", 5, ""},
		{"short", 5, "short"}, {"short", 6, "short"},
		{"longer", 5, "long…"}, {"longer", 1, "…"}, {"longer", 0, ""}, {"longer", -1, ""},
		{"größe", 5, "größe"}, {"größer", 5, "größ…"}, {"日本語日本語", 3, "日本…"},
		{"two words", 5, "two…"}, {"two\n\nlines", 6, "two…"}, {"   nothing", 3, "…"},
		{"\xff\xff\xff", 3, "\xff\xff\xff"}, {"\xff\xff\xff\xff", 3, "\xff\xff…"},
	} {
		if got := text.Clip(c.s, c.runes); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.s, c.runes, got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for s, want := range map[string]string{
		"":                               "",
		" \n\t ":                         "",
		"one":                            "one",
		"  two\r\n\tlines\u00a0of  it\n": "two lines of it",
		"br\xff\xfeken":                  "br\uFFFDken",
	} {
		if got := text.OneLine(s); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestFirstSentence(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "One": "One", "One.": "One.", "It is\n0.5 now. Two. Three.": "It is 0.5 now.",
	} {
		if got := text.FirstSentence(s); got != want {
			t.Errorf("FirstSentence(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestWhatHoldsForAllTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(0, 40).Draw(t, "n")
		clipped := text.Clip(s, n)
		if got := utf8.RuneCountInString(clipped); got > n {
			t.Errorf("%q has %d characters, more than %d", clipped, got, n)
		}
		if again := text.Clip(clipped, n); again != clipped {
			t.Errorf("%q, clipped again, is %q", clipped, again)
		}
		kept, cut := strings.CutSuffix(clipped, "…")
		if !strings.HasPrefix(s, clipped) && !(cut && strings.HasPrefix(s, kept)) {
			t.Errorf("%q does not begin as %q", clipped, s)
		}
		line := text.OneLine(s)
		if again := text.OneLine(line); again != line || !utf8.ValidString(line) || strings.ContainsAny(line, "\r\n\t") {
			t.Errorf("%q is no line; made one again, it is %q", line, again)
		}
	})
}

func TestSentence(t *testing.T) {
	for s, want := range map[string]string{"": "", " \n": "", "no": "no.", "no.": "no.", " why? ": "why?",
		"stop!": "stop!"} {
		if got := text.Sentence(s); got != want {
			t.Errorf("Sentence(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestList(t *testing.T) {
	for want, words := range map[string][]string{
		"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"},
	} {
		if got := text.List(words); got != want {
			t.Errorf("%q is listed as %q, want %q", words, got, want)
		}
	}
}

func TestCapital(t *testing.T) {
	for s, want := range map[string]string{"": "", "it": "It", "über": "Über", "1 a": "1 a", "\xffa": "\xffa"} {
		if got := text.Capital(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}
