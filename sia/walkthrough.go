package sia

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// TestsBeforePush reports whether the tests that an attempt's changes reach are run before the push.
func (t Task) TestsBeforePush() bool { return t.Settings.Checks.Evidence > 0 && t.Merging == nil }

// StartsAt returns the commit that the next attempt starts from: the base, Kept, or the branch's head.
func (t Task) StartsAt() SHA {
	switch {
	case t.Head == "" || t.Brief.FromBase:
		return t.BaseSHA
	case t.Brief.FromKept && t.Kept != "":
		return t.Kept
	}
	return t.Head
}

// InHead returns the attempts with work in the task's head, the oldest first: the one that made it, and those that it
// started from. If a person's commit lies between two, the earlier one counts too. What an attempt reports must still
// be checked against the change.
func (t Task) InHead() []Attempt {
	var in []Attempt
	want := t.Head
	for i := len(t.Attempts) - 1; i >= 0 && want != ""; i-- {
		a := t.Attempts[i]
		if a.Head == "" || a.Head != want && t.pushedBySIA(want) {
			continue
		}
		in = append([]Attempt{a}, in...)
		want = a.From
	}
	return in
}

// InStart returns the attempts with work in the commit that the present attempt starts from, the oldest first; see
// InHead. An attempt that began from that commit has no work in it.
func (t Task) InStart() []Attempt {
	start := t.StartsAt()
	if start == t.BaseSHA {
		return nil
	}
	after := map[SHA]bool{start: true}
	t.Head, t.Attempts = start, slices.DeleteFunc(slices.Clone(t.Attempts), func(a Attempt) bool {
		if a.Head == "" || a.Head == start || !after[a.From] {
			return false
		}
		after[a.Head] = true
		return true
	})
	return t.InHead()
}

// pushedBySIA reports whether an attempt pushed a commit.
func (t Task) pushedBySIA(sha SHA) bool {
	return slices.ContainsFunc(t.Attempts, func(a Attempt) bool { return a.Head == sha })
}

// FileReason is a coder's reason for changing a file.
type FileReason struct{ Path, Why string }

// fileLine matches a line of a report with the reason for changing a file, such as "- `web/web.go`: asks for the mail".
// The name is one word, in back quotes or with a dot or slash in it.
var fileLine = lazyregexp.New("^[-*•]?\\s*(?:\\*\\*)?(?:`([^`\\s]+)`|([^`\\s:*]*[./][^`\\s:*]*))(?:\\*\\*)?" +
	"(?:\\s*:\\s+|\\s+[–—-]+\\s+)(\\S.*)$")

// maxReasons is the maximum number of reasons that are read from one report.
const maxReasons = 500

// FileReasons parses the lines of a coder's report with its reasons for changing files; rest is the remaining text.
// It does not check that the files were changed.
func FileReasons(report string) (reasons []FileReason, rest string) {
	var kept []string
	for line := range strings.Lines(report) {
		m := fileLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || len(reasons) == maxReasons {
			kept = append(kept, strings.TrimRight(line, "\r\n"))
			continue
		}
		reasons = append(reasons, FileReason{strings.TrimPrefix(m[1]+m[2], "./"), text.OneLine(m[3])})
	}
	return reasons, strings.TrimSpace(strings.Join(kept, "\n"))
}
