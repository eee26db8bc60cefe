package text_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia/text"
)

func TestEditDistance(t *testing.T) {
	long := strings.Repeat("a", 65)
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"stop", "stop", 0}, {"stop", "stap", 1}, {"resume", "resme", 1},
		{"kitten", "sitting", 3}, {"ab", "ba", 2}, {long, long, 65}, {long, "a", 65},
	} {
		if got := text.EditDistance(c.a, c.b); got != c.want {
			t.Errorf("EditDistance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if there, back := text.EditDistance(c.a, c.b), text.EditDistance(c.b, c.a); there != back {
			t.Errorf("%q and %q: %d one way and %d the other", c.a, c.b, there, back)
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"go", "stop", "status", "start", "example-injection"}
	for name, want := range map[string]string{
		"foo": "", "g": "", "og": "", "goo": "go", "stpo": "stop", "statsu": "status", "sttart": "start",
		"example-injectoin": "example-injection", "example": "", "": "", "merge": "",
	} {
		if got := text.Nearest(name, words); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
