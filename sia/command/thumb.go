package command

import "strings"

// thumbs are the ways to write a thumb that points down: as GitHub keeps it, and as people type it.
var thumbs = [...]string{"👎", ":-1:", ":thumbsdown:"}

// Thumb reads a comment that begins with 👎, of any skin tone, and says in words why. ok is false
// when it begins otherwise, or has no words.
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
