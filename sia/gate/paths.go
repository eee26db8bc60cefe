package gate

import (
	"regexp"
	"slices"
	"strings"
)

// Paths is a path filter: a run starts if a changed path is wanted, or if one is not ignored.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#onpushpull_requestpull_request_targetpathspaths-ignore
type Paths struct {
	Wanted  []string // the last pattern that matches a path decides; those with a leading ! exclude
	Ignored []string
}

// maxPatterns is the maximum number of patterns of a filter.
const maxPatterns = 100

// isSet reports whether there is a filter.
func (p Paths) isSet() bool { return len(p.Wanted)+len(p.Ignored) > 0 }

// matches reports whether the filter certainly accepts a change of these paths: an invalid pattern never makes it
// accept.
func (p Paths) matches(changed []string) bool {
	if len(p.Wanted)+len(p.Ignored) > maxPatterns {
		return false
	}
	wanted, ignored := matchers(p.Wanted), matchers(p.Ignored)
	return slices.ContainsFunc(changed, func(path string) bool {
		last := len(wanted) == 0
		for i, m := range wanted {
			if m != nil && m.MatchString(path) {
				last = !strings.HasPrefix(p.Wanted[i], "!")
			}
		}
		return last && !slices.ContainsFunc(ignored, func(m *regexp.Regexp) bool { return m == nil || m.MatchString(path) })
	})
}

// matchers returns the regular expressions of the patterns; nil for an invalid one.
func matchers(patterns []string) []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(patterns))
	for i, p := range patterns {
		out[i], _ = regexp.Compile("^(?:" + expression(strings.TrimPrefix(p, "!")) + ")$")
	}
	return out
}

// expression converts a pattern to a regular expression: * matches anything but a slash, ** anything, and ? and + are
// quantifiers of the preceding character.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#filter-pattern-cheat-sheet
func expression(pattern string) string {
	var b strings.Builder
	for len(pattern) > 0 {
		class := strings.IndexByte(pattern, ']')
		switch {
		case strings.HasPrefix(pattern, "**/"):
			b.WriteString("(?:.*/)?")
			pattern = pattern[3:]
			continue
		case strings.HasPrefix(pattern, "**"):
			b.WriteString(".*")
			pattern = pattern[2:]
			continue
		case pattern[0] == '*':
			b.WriteString("[^/]*")
		case pattern[0] == '?' || pattern[0] == '+':
			b.WriteByte(pattern[0])
		case pattern[0] == '[' && class > 0:
			b.WriteString(pattern[:class+1])
			pattern = pattern[class:]
		case pattern[0] == '\\' && len(pattern) > 1:
			pattern = pattern[1:]
			b.WriteString(regexp.QuoteMeta(pattern[:1]))
		default:
			b.WriteString(regexp.QuoteMeta(pattern[:1]))
		}
		pattern = pattern[1:]
	}
	return b.String()
}
