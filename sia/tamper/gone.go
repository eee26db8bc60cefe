package tamper

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// declared finds what a line of code declares: a function or a type, whatever the
// language, or a method.
var declared = lazyregexp.New(`^\s*(?:(?:pub(?:\([^)]*\))?|export|default|async|public|protected|private|internal|static|final|abstract|override|open|unsafe|const|virtual|sealed|partial|readonly)\s+)*` +
	`(?:(?:func|def|fn|fun|function|class|struct|trait|interface|enum|type|record|object)\s+(?:\([^)]*\)\s*|self\.)?(\w{4,})` +
	`|(?:[\w<>\[\],.?:]+\s+)?(\w{4,})\s*\([^;=]*\)\s*[^;=]*\{\s*$` +
	`|(?:const\s+|\w+\.)?(\w{4,})\s*[:=]\s*(?:async\s+)?(?:function\b|\([^)]*\)\s*=>))`)

var (
	names = lazyregexp.New(`\w{4,}`)
	// behindCode is a comment to the end of a line, or a line of one.
	behindCode = lazyregexp.New(`//.*|(?:^|\s)#\s.*|^\s*/?\*.*`)
)

// goneNames are the names of what a change set took out of code that is not a test's: what
// it declared before, and nothing that was changed names any more.
func (s *search) goneNames(changes []Change) map[string]bool {
	gone := map[string]bool{}
	lines := func(take func(l string)) {
		for i := range changes {
			if r := roleOf(changes[i].before()); r.lang == nil || r.test || r.maybe {
				continue
			}
			for _, h := range changes[i].Hunks {
				for _, l := range h.Lines {
					if l != "" {
						take(l)
					}
				}
			}
		}
		for _, f := range s.files { // tests among other code
			for _, side := range []*side{f.old, f.new} {
				for i := 0; side != nil && f.mixed && i < len(side.rows); i++ {
					if r := &side.rows[i]; !inTests(r.scope) && side == f.old && !r.fixed {
						take("-" + r.raw)
					} else if !inTests(r.scope) && side == f.new {
						take("+" + r.raw)
					}
				}
			}
		}
	}
	lines(func(l string) {
		if m := declared.FindStringSubmatch(l[1:]); l[0] == '-' && m != nil {
			gone[firstGroup(m)] = true
		}
	})
	if len(gone) > 0 {
		lines(func(l string) {
			for _, n := range names.FindAllString(behindCode.ReplaceAllString(l[1:], ""), -1) {
				if l[0] != '-' {
					delete(gone, n)
				}
			}
		})
	}
	return gone
}

// isGone reports whether tokens name something that the change set took away.
func (s *search) isGone(ts []token) bool {
	return slices.ContainsFunc(ts, func(t token) bool { return t.kind == word && s.gone[strings.TrimRight(t.text, "!?")] })
}

// tookAway reports whether a test is about something that the change set took away: it
// names that, or its file did, which is gone with it.
func (s *search) tookAway(f *testFile, test *scope) bool {
	rows := test.side.rows
	if f.change.Status != "deleted" {
		rows = rows[test.decl+1 : test.end]
	}
	return slices.ContainsFunc(rows, func(r row) bool { return s.isGone(r.tokens) })
}
