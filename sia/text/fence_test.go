package text_test

import (
	"testing"

	"github.com/sia-bot/sia/sia/text"
)

func TestFences(t *testing.T) {
	for line, want := range map[string]string{
		"```": "```", "~~~~ go": "~~~~", "     ````text": "````", "``": "", "``` code ``` in a line": "", "x ```": "", "": "",
		"~~~ ~": "~~~",
	} {
		if got := text.OpensFence(line); got != want {
			t.Errorf("%q opens %q, want %q", line, got, want)
		}
	}
	for line, want := range map[string]bool{
		"```": true, "  `````  ": true, "``": false, "~~~": false, "```x": false, "": false,
	} {
		if got := text.ClosesFence(line, "```"); got != want {
			t.Errorf("%q closes it: %v, want %v", line, got, want)
		}
	}
}
