package improve

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/visible"
)

// shown is the text of a file for a model: without secrets and invisible characters, and truncated if it is too long.
type shown struct {
	text  string
	bytes int  // number of bytes of the file that are shown
	whole bool // the text is the whole file, except for line endings
}

// show returns the text of a file for a model, at most limit bytes.
func (e *Engine) show(f File, limit int) shown {
	clean := visible.Text(e.Mask(f.Text))
	s := shown{text: clean, bytes: len(f.Text), whole: clean == strings.ReplaceAll(f.Text, "\r\n", "\n")}
	if len(clean) <= limit {
		return s
	}
	s.text, s.whole = text.HeadOf(clean, limit), false
	// If something was removed, the lengths differ: bytes is then too small rather than too large.
	s.bytes = min(len(s.text), len(f.Text)-1)
	return s
}

// note tells a model which part of the file it sees; "" for all of it.
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

// unifiedDiff returns the unified diff of two files, or "" for none.
func unifiedDiff(name string, before, after File) string {
	from, to := "a/"+name, "b/"+name
	if before.Absent {
		from = "/dev/null"
	}
	d := string(diff.Diff(from, []byte(before.Text), to, []byte(after.Text)))
	_, d, _ = strings.Cut(d, "\n") // the library's first line is not part of the format
	return d
}
