package tamper

import (
	"regexp"
	"strings"
)

// markKind tells marks apart.
type markKind uint8

const (
	skipped markKind = iota // keeps a test from running, or from counting
	focused                 // keeps all others from running
	hushed                  // turns a check off
	left                    // leaves a test before its end
	built                   // keeps the file from being built
)

// mark is a line that makes tests say less than they would.
type mark struct {
	kind markKind
	text string
	row  int
}

var mainBlock = regexp.MustCompile(`^\s*if\s+__name__\s*==`)

// findMarks finds what keeps each scope from running.
func (s *side) findMarks() {
	inMain := -1
	for i := range s.rows {
		r := &s.rows[i]
		if r.inside {
			continue
		}
		if mainBlock.MatchString(r.code) {
			inMain = r.indent
		} else if !r.empty() && r.indent <= inMain {
			inMain = -1
		}
		put := func(k markKind) {
			r.scope.marks = append(r.scope.marks, mark{k, strings.Join(strings.Fields(r.raw), " "), i})
		}
		if s.lang.hush != nil && s.lang.hush.MatchString(r.raw) {
			put(hushed)
		}
		if s.lang.raw.MatchString(r.raw) {
			put(built)
		}
		if strings.TrimSpace(r.code) == "" || inMain >= 0 {
			continue
		}
		for _, skip := range s.lang.skips {
			if skip.MatchString(r.code) && (skip.MatchString(r.bare) || strings.ContainsAny(r.code, "\"'`")) {
				put(skipped)
				break
			}
		}
		if s.lang.only.MatchString(r.code) {
			put(focused)
		}
		if s.leaves(i) {
			put(left)
		}
	}
}

// leaves reports whether row i returns from a test while assertions follow.
func (s *side) leaves(i int) bool {
	r := &s.rows[i]
	if r.scope.group || i <= r.scope.decl {
		return false
	}
	first := -1 // indent of the test's own lines
	for j := r.scope.decl + 1; j < r.scope.end; j++ {
		if b := &s.rows[j]; !b.empty() && b.indent > r.scope.indent {
			first = b.indent
			break
		}
	}
	switch {
	case s.lang.early.MatchString(r.bare):
		return r.indent == first && r.scope.last > i
	case !s.lang.leave.MatchString(r.bare):
		return false
	case r.indent == first:
		return r.scope.last > i
	}
	for j := i - 1; j > r.scope.decl && j > i-maxJoined; j-- {
		if b := &s.rows[j]; !b.empty() && b.indent < r.indent {
			return b.indent == first && s.lang.condition.MatchString(b.bare) && r.scope.last > i
		}
	}
	return false
}
