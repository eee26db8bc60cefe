package improve

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/visible"
)

// shown is a file as a model sees it: without secrets, hidden characters and, where it is too
// long, without its end.
type shown struct {
	text  string
	bytes int  // of the file's own text that are shown
	whole bool // what is shown is all of the file, but for the spelling of its line ends
}

// show cuts a file to limit bytes.
func (e *Engine) show(f File, limit int) shown {
	clean := visible.Text(e.Mask(f.Text))
	s := shown{text: clean, bytes: len(f.Text), whole: clean == strings.ReplaceAll(f.Text, "\r\n", "\n")}
	if len(clean) <= limit {
		return s
	}
	s.text, s.whole = text.HeadOf(clean, limit), false
	// Where something was taken out, the two differ in length: then fewer are said to be shown.
	s.bytes = min(len(s.text), len(f.Text)-1)
	return s
}

// note says to a model how much of the file it sees; "" for all.
func (s shown) note(f File) string {
	switch {
	case f.Absent:
		return "There is no such file yet: it is to be written."
	case s.bytes < len(f.Text):
		return "It is too long to be shown whole. This is its beginning; the rest stays as it is."
	case !s.whole:
		return "Secrets in it are replaced by marks such as [secret: name], and characters that nobody sees are left out."
	}
	return ""
}

// unifiedDiff is the difference of two files, or "" for none.
func unifiedDiff(name string, before, after File) string {
	from, to := "a/"+name, "b/"+name
	if before.Absent {
		from = "/dev/null"
	}
	d := string(diff.Diff(from, []byte(before.Text), to, []byte(after.Text)))
	_, d, _ = strings.Cut(d, "\n") // the library's own first line is none of the format
	return d
}
