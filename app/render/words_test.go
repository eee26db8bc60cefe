package render

import (
	"testing"

	"github.com/sia-bot/sia/sia"
)

// An attempt's instructions are summarised by the most distinctive one.
func TestApproach(t *testing.T) {
	for _, c := range []struct {
		attempt sia.Attempt
		plain   string
		inText  string
	}{
		{sia.Attempt{}, "the task as it is written", ""},
		{sia.Attempt{Answers: 1}, "the task and what people decided", ""},
		{sia.Attempt{Answers: 1, Asked: true}, "what reviewers asked for", ""},
		{sia.Attempt{Asked: true, Technique: sia.FreshStart}, "Fresh start", "technique *Fresh start*"},
		{sia.Attempt{Planning: true, Technique: sia.FreshStart}, "a plan", ""},
	} {
		if c.inText == "" {
			c.inText = c.plain
		}
		if plain, inText := Approach(c.attempt), approach(c.attempt); plain != c.plain || inText != c.inText {
			t.Errorf("%q and %q, want %q and %q", plain, inText, c.plain, c.inText)
		}
	}
}
