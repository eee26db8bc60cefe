package text_test

import (
	"testing"

	"github.com/sia-bot/sia/sia/text"
)

func TestReply(t *testing.T) {
	for in, want := range map[string]string{
		"a\n> b\nc": "a\n> b\nc", "> b\n\n> c\na": "a", "> b": "", "": "",
		"a\nOn Tue, Ana wrote:\n\n> b\n>\n> c\n": "a", "a\r\n\r\nOn Tue, Ana\r\nwrote:\r\n> b\r\nd": "a\n\nd",
		"On a start it wrote:\nready": "On a start it wrote:\nready", "a\n-- \nAna": "a", "a\n--\nb": "a\n--\nb",
		"a\n-----Original Message-----\nb": "a", "On Tue, Ana wrote:": "",
	} {
		if got := text.Reply(in); got != want {
			t.Errorf("Reply(%q) = %q, want %q", in, got, want)
		}
	}
}
