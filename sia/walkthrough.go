package sia

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// TestsBeforePush reports whether the tests that an attempt's changes reach are run before they are pushed.
func (t Task) TestsBeforePush() bool { return t.Settings.Checks.Evidence > 0 && t.Merging == nil }

// StartsAt is the commit that the next attempt starts from: the base, what must be kept, or the branch's head.
func (t Task) StartsAt() SHA {
	switch {
	case t.Head == "" || t.Brief.FromBase:
		return t.BaseSHA
	case t.Brief.FromKept && t.Kept != "":
		return t.Kept
	}
	return t.Head
}

// InHead are the attempts with work in the task's head, the oldest first: the one that made it, and those that it
// went on from. Where a person's commit lies between two, the earlier one counts. What an attempt says is to be checked
// against the change all the same.
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

// pushedBySIA reports whether an attempt made a commit.
func (t Task) pushedBySIA(sha SHA) bool {
	return slices.ContainsFunc(t.Attempts, func(a Attempt) bool { return a.Head == sha })
}

// FileReason is why a coder changed a file, in its own words.
type FileReason struct{ Path, Why string }

// fileLine is a line of a report that says why a file was changed, such as "- `web/web.go`: asks for the mail". The
// name is one word, between back quotes or with a dot or slash in it.
var fileLine = lazyregexp.New("^[-*•]?\\s*(?:\\*\\*)?(?:`([^`\\s]+)`|([^`\\s:*]*[./][^`\\s:*]*))(?:\\*\\*)?" +
	"(?:\\s*:\\s+|\\s+[–—-]+\\s+)(\\S.*)$")

// maxReasons bounds the file reasons that are read from one report.
const maxReasons = 500

// FileReasons reads the lines of a coder's last words that say why it changed which file; rest is what it says besides.
// Nobody has checked that such a file was changed.
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
