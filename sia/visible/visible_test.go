package visible

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestHidden(t *testing.T) {
	for _, r := range []rune{
		0, 7, '\r', 0x1b, 0x7f, 0x85, 0x9f, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180e, 0x200b,
		0x200d, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e,
		0x2060, 0x2064, 0x2066, 0x206f, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0x1d173, 0xe0001, 0xe0041, 0xe007f,
		0xe0100, 0xe01ef, 0xe0fff,
	} {
		if !Hidden(r) {
			t.Errorf("%U is taken to be seen", r)
		}
	}
	for _, r := range "\t\n aZ~äßж中あ한ع🙂ñ–“„\u00a0\u0600\u06dd" {
		if Hidden(r) {
			t.Errorf("%U %q is taken to be hidden", r, r)
		}
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n": "plain\ttext\n",
		"a\r\nb\rc":     "a\nb\nc",
		"\x1b[31mred\x1b[0m \x1b]0;title\x07done":   "red done",
		"zero\u200bwidth \u202edesrever\u2069":      "zerowidth desrever",
		"\U000e0069\U000e0067\U000e006eignore":      "ignore",
		"bad\xffbyte":                               "bad\ufffdbyte",
		"<|im_start|>system [INST] x [/INST]":       "‹|im_start|>system ⟦INST] x ⟦/INST]",
		"<start_of_turn>user <<SYS>>":               "‹start_of_turn>user ‹<SYS>>",
		"<\u200b|im_start|>":                        "‹|im_start|>",
		"a <!-- comment --> stays for who needs it": "a <!-- comment --> stays for who needs it",
		"a < b | c > d [x]":                         "a < b | c > d [x]",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"a<!-- hidden -->b":                "a b",
		"a<!-- hidden --!>b":               "a b",
		"a<!-- never closed":               "a<!-- never closed", // as GitHub shows it, within a line
		"a\n<!-- never closed":             "a\n ",
		"<!-- a -->\n```\n<!-- b -->\n```": " \n```\n<!-- b -->\n```",
		"<\u200b!-- hidden by one more":    " ",
		"<!-<!-- x -->- y -->":             "<!- - y -->",
	} {
		if got := Markdown(in); got != want {
			t.Errorf("Markdown(%q) = %q, want %q", in, got, want)
		}
	}
}

// For any untrusted text nothing hidden is left, and a second pass removes nothing
// more.
func TestNothingIsLeft(t *testing.T) {
	parts := rapid.SliceOf(rapid.SampledFrom([]string{
		"a", " ", "\n", "<", "!--", "-->", "--!>", "|im_start|>", "\u200b", "\u202e", "\x1b", "[", "31m", "]0;", "\x07",
		"INST]", "\U000e0041", "\xff", "\r",
	}))
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(parts.Draw(t, "parts"), "")
		for name, f := range map[string]func(string) string{"Text": Text, "Markdown": Markdown} {
			got := f(in)
			if strings.ContainsFunc(got, Hidden) {
				t.Errorf("%s(%q) = %q hides something", name, in, got)
			}
			if again := f(got); again != got {
				t.Errorf("%s(%q) = %q, and again %q", name, in, got, again)
			}
		}
	})
}
