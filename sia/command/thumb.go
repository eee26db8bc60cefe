package command

import "strings"

// thumbs are the spellings of 👎: as GitHub stores it, and as people type it.
var thumbs = [...]string{"👎", ":-1:", ":thumbsdown:"}

// Thumb returns the text after the 👎, of any skin tone, with which a comment begins. ok is false
// if the comment does not begin with 👎, or has no text after it.
func Thumb(body string) (words string, ok bool) {
	body = strings.TrimLeft(body, " \t\r\n")
	for _, thumb := range thumbs {
		rest, found := strings.CutPrefix(body, thumb)
		if !found {
			continue
		}
		rest = strings.TrimLeftFunc(rest, func(r rune) bool { return r >= '🏻' && r <= '🏿' || r == '\ufe0f' })
		rest = strings.TrimSpace(strings.TrimLeft(rest, " \t\r\n,.:;!–—-"))
		return rest, rest != ""
	}
	return "", false
}
