package agent_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/sia/visible"
)

func FuzzSanitize(f *testing.F) {
	for _, s := range []string{"a<!-- b -->c", "<!<!-- x -->-- y -->", "<!-- open", "a\u200b\u202e\U000E0041\r\nb",
		"<!--->", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := agent.Sanitize(s)
		if strings.Contains(got, "<!--") || strings.IndexFunc(got, visible.Hidden) >= 0 || !utf8.ValidString(got) {
			t.Errorf("%q became %q", s, got)
		}
		if again := agent.Sanitize(got); again != got {
			t.Errorf("not idempotent: %q, %q, %q", s, got, again)
		}
	})
}
