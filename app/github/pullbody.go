package github

import (
	"strings"
	"time"
)

// The lines around what the app writes into the text of a pull request. What people write above or below stays.
const (
	ownBegin = "<!-- sia:begin. What you write above or below stays. -->"
	ownEnd   = "<!-- sia:end -->"
)

// readFor is how long a pull request's text is taken for what was read of it.
const readFor = 10 * time.Second

// ownPart is a text between the app's lines.
func ownPart(text string) string { return ownBegin + "\n" + strings.TrimSpace(text) + "\n" + ownEnd }

// withOwnPart puts a text in the place of the app's part of a pull request's body. Where the body has no such part, it
// comes first, and everything else stays. The app's part is shortened where both together would be too long for GitHub.
func withOwnPart(body, text string) string {
	before, rest, begins := strings.Cut(body, ownBegin)
	_, after, ends := strings.Cut(rest, ownEnd)
	if !begins || !ends {
		before, after = "", "\n\n"+strings.TrimSpace(strings.NewReplacer(ownBegin, "", ownEnd, "").Replace(body))
		if after == "\n\n" {
			after = ""
		}
	}
	around := len(before) + len(ownPart("")) + len(after)
	return before + ownPart(fitTo(text, max(0, maxBody-around))) + after
}
