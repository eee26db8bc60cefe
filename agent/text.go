package agent

import "github.com/sia-bot/sia/sia/text"

// clipLine returns s on one line, cut to at most n characters.
func clipLine(s string, n int) string { return text.Clip(text.OneLine(s), n) }

// middleOut cuts s to about n bytes by leaving out its middle. The kept end is a third as long as the beginning.
func middleOut(s string, n int) string { return text.Ends(s, n*3/4, n/4) }
