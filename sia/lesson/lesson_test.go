package lesson

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Words that masking removes from a text are also removed from the words by which the lesson is found, where no pattern
// would recognise them.
func TestCleanForgetsWhatItMasks(t *testing.T) {
	l := NewTaught(9, "x", "The deploy key ghp_abcdef0123456789 opens staging.", sia.Actor{Login: "ada"}, sia.Task{},
		time.Unix(0, 0))
	if !slices.Contains(l.Words, "abcdef0123456789") {
		t.Fatalf("words %q; the test plants in the wrong place", l.Words)
	}
	l = l.Clean(func(s string) string { return strings.ReplaceAll(s, "ghp_abcdef0123456789", "[secret]") })
	for _, w := range l.Words {
		if strings.HasPrefix(w, "ghp") || strings.HasPrefix(w, "abcdef") {
			t.Errorf("the word %q was left", w)
		}
	}
	if !slices.Contains(l.Words, "deploy") {
		t.Errorf("words %q: harmless ones are lost", l.Words)
	}
}
