package policies

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// String describes the contexts of the selector, such as "bug tasks in go labelled "auth", after at least 2 failures".
func (s Selector) String() string {
	if s.specific() == 0 {
		return "every context"
	}
	var b strings.Builder
	say := func(format string, words []string) {
		if len(words) > 0 {
			fmt.Fprintf(&b, format, strings.Join(inWords(words), " or "))
		}
	}
	say("%s ", s.Kind)
	b.WriteString("tasks")
	say(" in %s", s.Language)
	if len(s.Labels) > 0 {
		quoted := make([]string, len(s.Labels))
		for i, l := range s.Labels {
			quoted[i] = strconv.Quote(l)
		}
		b.WriteString(" labelled " + strings.Join(quoted, " or "))
	}
	say(" of the repository %s", s.Repository)
	say(" of the owner %s", s.Owner)
	switch size := s.Size; {
	case size.Least > 0 && size.Most > 0:
		fmt.Fprintf(&b, " of %d to %d words", size.Least, size.Most)
	case size.Least > 0:
		fmt.Fprintf(&b, " of at least %s", text.Count(size.Least, "word"))
	case size.Most > 0:
		fmt.Fprintf(&b, " of at most %s", text.Count(size.Most, "word"))
	}
	if s.Failures > 0 {
		fmt.Fprintf(&b, ", after at least %s", text.Count(s.Failures, "failure"))
	}
	say(", after a failure of the class %s", s.Class)
	say(", for the pattern %s", s.Pattern)
	say(", for a part of the kind %s", s.Part)
	return b.String()
}

// inWords returns words, quoted if they have unprintable characters: the author of a file must not be able to control a
// terminal.
func inWords(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; strconv.Quote(w) != `"`+w+`"` {
			out[i] = strconv.Quote(w)
		}
	}
	return out
}
