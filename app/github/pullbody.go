package github

import (
	"strings"
	"time"
)

// Lines around the app's part of a pull request's body. What people write above or below stays.
const (
	ownBegin = "<!-- sia:begin. What you write above or below stays. -->"
	ownEnd   = "<!-- sia:end -->"
)

// bodyTTL is how long to use a cached body of a pull request.
const bodyTTL = 10 * time.Second

// ownPart returns text between the app's lines.
func ownPart(text string) string { return ownBegin + "\n" + strings.TrimSpace(text) + "\n" + ownEnd }

// replaceOwnPart replaces the app's part of a pull request's body. If the body has none, it is inserted at the
// beginning. The app's part is shortened if the whole body would exceed GitHub's limit.
func replaceOwnPart(body, text string) string {
	before, rest, begins := strings.Cut(body, ownBegin)
	_, after, ends := strings.Cut(rest, ownEnd)
	if !begins || !ends {
		before, after = "", "\n\n"+strings.TrimSpace(strings.NewReplacer(ownBegin, "", ownEnd, "").Replace(body))
		if after == "\n\n" {
			after = ""
		}
	}
	around := len(before) + len(ownPart("")) + len(after)
	return before + ownPart(truncate(text, max(0, maxBody-around))) + after
}
