package people

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// boxLine is a line of a task list: mark, text.
var boxLine = regexp.MustCompile(`(?m)^(\s*(?:[-*+]|\d+[.)])\s+\[)( |x|X)(\]\s+)(.*?)\r?$`)

// Box is one box of a task list; its index is its place in the text.
type Box struct {
	Text   string
	Ticked bool
}

// Boxes are the task list boxes of a Markdown text.
func Boxes(body string) []Box {
	var bs []Box
	for _, b := range boxLine.FindAllStringSubmatch(body, -1) {
		bs = append(bs, Box{Text: b[4], Ticked: b[2] != " "})
	}
	return bs
}

// tick sets one task list box of a Markdown text; see [People.TickBox].
func tick(body, which string) (string, error) {
	boxes := boxLine.FindAllStringSubmatchIndex(body, -1)
	want, byIndex := -1, false
	if n, err := strconv.Atoi(which); err == nil {
		want, byIndex = n, true
	}
	for n, b := range boxes {
		text := strings.TrimLeft(body[b[8]:b[9]], " *_`~([")
		if byIndex && n == want || !byIndex && startsWithWord(text, which) {
			return body[:b[4]] + "x" + body[b[5]:], nil
		}
	}
	return "", fmt.Errorf("no box %q among %d", which, len(boxes))
}

// startsWithWord reports whether text begins with word and not with a longer word.
func startsWithWord(text, word string) bool {
	if len(text) < len(word) || !strings.EqualFold(text[:len(word)], word) || word == "" {
		return false
	}
	rest := text[len(word):]
	return rest == "" || !isWordByte(rest[0])
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
