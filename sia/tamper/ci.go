package tamper

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

var (
	// guarded is a key that has something run only where a condition holds, filtered one
	// below a trigger that has it fire less often, event a trigger and what narrows it.
	guarded = lazyregexp.New(`^\s*(?:-\s+)?(?:if|when|only|except|rules|condition|unless|skip|filters|exclude|` +
		`stages)\s*:|^\s*(?:paths|branches|types|tags)(?:-ignore)?\s*:`)
	event = lazyregexp.New(`^\s*(?:-\s*)?(?:["']?on["']?\s*:.*\b)?(push|pull_request|merge_group|` +
		`branches)\b\s*(?:[:,\]]|$)`)
	// rights gives a run more than it had, or another place or program.
	rights = lazyregexp.New(`\bwrite-all\b|^\s*[a-z-]+\s*:\s*write\b|\bpull_request_target\b|\bworkflow_run\b|` +
		`\bself-hosted\b|^\s*shell\s*:.*[/{]|^\s*(?:-\s+)?entry\s*:`)
	// turnsOff is a variable or input with such a name.
	turnsOff = lazyregexp.New(`(?i)^\s*[\w-]*(?:skip|no_?test|ignore|disable)[\w-]*\s*:\s*['"]?\w`)
	uses     = lazyregexp.New(`^\s*(?:-\s+)?uses\s*:\s*['"]?([^@\s'"]+)|^\s*-\s+id\s*:\s*(\S+)`)
	prepares = lazyregexp.New(`(?i)checkout|set-?up|cache|artifact|install|toolchain|login|release|publish|deploy|label|` +
		`stale|comment|upload|download`)
	ciKey      = lazyregexp.New(`^\s*(?:-\s+)?["']?([\w.-]+)["']?\s*:(?:\s|$)`)
	commandKey = lazyregexp.New(`(?i)^(?:run|\w*script|after_success|commands?|sh|bash|pwsh|powershell|steps?|test|` +
		`entry|arg\w*|inputs|tasks?|goals|tox_?env|session)$`)
	digits = lazyregexp.New(`\d+`)
)

// ciGone reports a removed line with which a check goes away.
func (d *setting) ciGone(_ int, r *row) {
	came := func(has func(n *row) bool) bool {
		return slices.ContainsFunc(d.new, func(n row) bool { return !n.fixed && has(&n) })
	}
	k := ciKey.FindStringSubmatch(r.code)
	was, e, u := command(r.raw), firstGroup(event, r.code), firstGroup(uses, r.code)
	switch {
	case e != "":
		if !came(func(n *row) bool { return strings.Contains(n.code, e) && len(n.code) >= len(r.code) }) {
			d.report(ChangedWorkflow, r, "checks run less often")
		}
	case u != "":
		// Another action may have come in its place.
		if !slices.Contains(d.pool.uses, u) && !prepares.MatchString(u) && !came(func(n *row) bool {
			other := firstGroup(uses, n.code)
			return other != "" && !prepares.MatchString(other)
		}) {
			d.report(ChangedWorkflow, r, "a step was removed")
		}
	case was != nil && (k == nil || commandKey.MatchString(k[1]) && !strings.HasSuffix(r.code, ":")) &&
		!replaced(was, d.pool.commands):
		d.report(ChangedWorkflow, r, "a command that checks something was removed, or runs less")
	}
}

// ciAdded reports an added line with which a check or its failing can go away.
func (d *setting) ciAdded(i int, r *row) {
	switch {
	case d.Status == "added":
	case rights.MatchString(r.code):
		d.report(ChangedWorkflow, r, "a workflow gets rights, or runs elsewhere")
	case d.isNew(i):
	case letsPass.MatchString(r.code):
		d.report(ChangedWorkflow, r, "failures of checks are ignored")
	case guarded.MatchString(r.code), turnsOff.MatchString(r.code):
		d.report(ChangedWorkflow, r, "checks run only under a condition")
	}
}

// isNew reports whether a line is part of a step or job that is new as a whole.
func (d *setting) isNew(i int) bool {
	indent, above := d.new[i].indent, i
	for above >= 0 && !d.new[above].fixed {
		above--
	}
	if above >= 0 && d.new[above].twin+1 < len(d.old) && !d.old[d.new[above].twin+1].fixed {
		return false // it is in the place of something
	}
	for j := i - 1; j >= 0 && indent > 0; j-- {
		if r := &d.new[j]; r.code != "" && r.indent < indent {
			if indent = r.indent; !r.fixed && !d.pool.went[d.key(r)] {
				return true
			}
		}
	}
	return false
}
