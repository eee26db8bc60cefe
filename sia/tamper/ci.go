package tamper

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

var (
	// guarded matches a key that makes something run only under a condition or a trigger fire less often, event a trigger
	// and its filters.
	guarded = lazyregexp.New(`^\s*(?:-\s+)?(?:if|when|only|except|rules|condition|unless|skip|filters|exclude|` +
		`stages)\s*:|^\s*(?:paths|branches|types|tags)(?:-ignore)?\s*:`)
	event = lazyregexp.New(`^\s*(?:-\s*)?(?:["']?on["']?\s*:.*\b)?(push|pull_request|merge_group|` +
		`branches)\b\s*(?:[:,\]]|$)`)
	// rights matches a line that gives a run more permissions, or another machine or program.
	rights = lazyregexp.New(`\bwrite-all\b|^\s*[a-z-]+\s*:\s*write\b|\bpull_request_target\b|\bworkflow_run\b|` +
		`\bself-hosted\b|^\s*shell\s*:.*[/{]|^\s*(?:-\s+)?entry\s*:`)
	// turnsOff matches a variable or input with a name for disabling something.
	turnsOff = lazyregexp.New(`(?i)^\s*[\w-]*(?:skip|no_?test|ignore|disable)[\w-]*\s*:\s*['"]?\w`)
	uses     = lazyregexp.New(`^\s*(?:-\s+)?uses\s*:\s*['"]?([^@\s'"]+)|^\s*-\s+id\s*:\s*(\S+)`)
	prepares = lazyregexp.New(`(?i)checkout|set-?up|cache|artifact|install|toolchain|login|release|publish|deploy|label|` +
		`stale|comment|upload|download`)
	ciKey      = lazyregexp.New(`^\s*(?:-\s+)?["']?([\w.-]+)["']?\s*:(?:\s|$)`)
	commandKey = lazyregexp.New(`(?i)^(?:run|\w*script|after_success|commands?|sh|bash|pwsh|powershell|steps?|test|` +
		`entry|arg\w*|inputs|tasks?|goals|tox_?env|session)$`)
	digits = lazyregexp.New(`\d+`)
)

// ciGone reports a removed line that removes a check.
func (d *setting) ciGone(_ int, r *row) {
	came := func(has func(n *row) bool) bool {
		return slices.ContainsFunc(d.new, func(n row) bool { return !n.unchanged && has(&n) })
	}
	k := ciKey.FindStringSubmatch(r.code)
	was, e, u := command(r.raw), firstGroup(event, r.code), firstGroup(uses, r.code)
	switch {
	case e != "":
		if !came(func(n *row) bool { return strings.Contains(n.code, e) && len(n.code) >= len(r.code) }) {
			d.report(ChangedWorkflow, r, "checks run less often")
		}
	case u != "":
		// Another action may have replaced it.
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

// ciAdded reports an added line that may disable a check or hide its failure.
func (d *setting) ciAdded(i int, r *row) {
	switch {
	case d.Status == "added":
	case rights.MatchString(r.code):
		d.report(ChangedWorkflow, r, "a workflow gets rights, or runs elsewhere")
	case d.isNew(i):
	case ignoresFailure.MatchString(r.code):
		d.report(ChangedWorkflow, r, "failures of checks are ignored")
	case guarded.MatchString(r.code), turnsOff.MatchString(r.code):
		d.report(ChangedWorkflow, r, "checks run only under a condition")
	}
}

// isNew reports whether a line is part of an entirely new step or job.
func (d *setting) isNew(i int) bool {
	indent, above := d.new[i].indent, i
	for above >= 0 && !d.new[above].unchanged {
		above--
	}
	if above >= 0 && d.new[above].twin+1 < len(d.old) && !d.old[d.new[above].twin+1].unchanged {
		return false // it replaces something
	}
	for j := i - 1; j >= 0 && indent > 0; j-- {
		if r := &d.new[j]; r.code != "" && r.indent < indent {
			if indent = r.indent; !r.unchanged && !d.pool.removed[d.key(r)] {
				return true
			}
		}
	}
	return false
}
