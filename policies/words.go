package policies

import (
	"fmt"
	"strings"
)

// String says for people in which contexts the selector holds, such as "bug tasks in go
// labelled "auth", after at least 2 failures".
func (s Selector) String() string {
	if s.specific() == 0 {
		return "every context"
	}
	var b strings.Builder
	say := func(format string, words []string) {
		if len(words) > 0 {
			fmt.Fprintf(&b, format, strings.Join(words, " or "))
		}
	}
	say("%s ", s.Kind)
	b.WriteString("tasks")
	say(" in %s", s.Language)
	quoted := make([]string, len(s.Labels))
	for i, l := range s.Labels {
		quoted[i] = fmt.Sprintf("%q", l)
	}
	say(" labelled %s", quoted)
	say(" of the repository %s", s.Repository)
	say(" of the owner %s", s.Owner)
	switch size := s.Size; {
	case size.Least > 0 && size.Most > 0:
		fmt.Fprintf(&b, " of %d to %d words", size.Least, size.Most)
	case size.Least > 0:
		fmt.Fprintf(&b, " of at least %s", plural(size.Least, "word", "words"))
	case size.Most > 0:
		fmt.Fprintf(&b, " of at most %s", plural(size.Most, "word", "words"))
	}
	if s.Failures > 0 {
		fmt.Fprintf(&b, ", after at least %s", plural(s.Failures, "failure", "failures"))
	}
	say(", after a failure of the class %s", s.Class)
	say(", for the pattern %s", s.Pattern)
	return b.String()
}
