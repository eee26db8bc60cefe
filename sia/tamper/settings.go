package tamper

import (
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// setting is a change of a file that configures checks. It is read line by line.
type setting struct {
	*Change
	role
	name     string // file name in lower case
	script   bool   // it has commands alone, which run checks
	old, new []row  // row.code is the line without its comment
	pool     *pool
	findings []Finding
}

// pool holds the added and removed lines of all settings of a change set, because lines may have moved.
type pool struct {
	added, removed map[string]bool
	commands       [][]string // added commands
	uses           []string   // added actions
}

// key returns the key of a line in the pool. For CI files, numbers are ignored, so that versions don't count.
func (d *setting) key(r *row) string {
	if d.ci {
		return digits.ReplaceAllString(spelling(r.code), "0")
	}
	return spelling(r.code)
}

// settings reports changes of lines that select tests, configure linters and run checks. A person is asked where a
// check or its failure may disappear, the reviewer about all other changes.
func settings(changes []Change) []Finding {
	all, out := []*setting{}, []Finding{}
	p := &pool{added: map[string]bool{}, removed: map[string]bool{}}
	listed := slices.ContainsFunc(changes, func(c Change) bool {
		return c.Status != "added" && lists.MatchString(c.Path) && !vendored.MatchString(c.Path)
	})
	for i := range changes {
		c := &changes[i]
		was, is := roleOf(c.before()), roleOf(c.Path)
		name := strings.ToLower(path.Base(c.before()))
		same := path.Dir(c.before()) == path.Dir(c.Path) && (name == "makefile" || name == "gnumakefile")
		fresh := c.Status == "added" || c.Status == "renamed" && !was.runner && !same
		if fresh && shadow.MatchString(c.Path) && !exampleFolder.MatchString(c.Path) {
			out = append(out, c.places(DisabledCheck, "a new file is in a runner's place, or configures it")[:1]...)
		}
		if vendored.MatchString(c.Path) && !listed && !is.fixture {
			out, listed = append(out, c.places(DisabledCheck, "a dependency was changed, and what lists it was not")[0]), true
		}
		was.ci = was.ci || is.ci
		script := c.Runs || commandFile.MatchString(name)
		if !was.ci && !c.Runs && (!was.config && !is.config || is.test && !script || exampleFolder.MatchString(c.before())) {
			continue
		}
		d := &setting{Change: c, role: was, name: name, script: script, pool: p}
		if !c.Opaque {
			d.old, d.new = c.sides()
		}
		for i := range d.old {
			if r := d.old[i].plain(); !r.unchanged {
				p.removed[d.key(r)] = true
			}
		}
		for i := range d.new {
			if r := d.new[i].plain(); !r.unchanged {
				p.added[d.key(r)] = true
				p.commands = append(p.commands, command(r.raw))
				p.uses = append(p.uses, firstGroup(uses, r.raw))
			}
		}
		all = append(all, d)
	}
	for _, d := range all {
		added, gone := d.configAdded, d.configGone
		if d.ci {
			added, gone = d.ciAdded, d.ciGone
		}
		each := func(rows []row, elsewhere map[string]bool, read func(int, *row)) {
			for i := range rows {
				if r := &rows[i]; !r.unchanged && r.code != "" && !elsewhere[d.key(r)] {
					read(i, r)
				}
			}
		}
		each(d.new, p.removed, added)
		each(d.old, p.added, gone)
		d.whole()
		out = append(out, d.findings...)
	}
	return out
}

// whole reports changes of the whole file, and changes of workflows without a finding.
func (d *setting) whole() {
	gone := d.Status == "deleted" || d.Status == "renamed" && d.runner && !roleOf(d.Path).runner
	switch {
	case d.ci && !d.Opaque:
		for _, f := range d.places(ChangedUpkeep, "a workflow was "+strings.Replace(d.Status, "modified", "changed", 1)) {
			if !slices.ContainsFunc(d.findings, func(g Finding) bool { return g.Line == f.Line }) {
				d.findings = append(d.findings, f)
			}
			if d.Status != "modified" {
				break
			}
		}
	case d.Opaque, gone && (d.runner || d.linter || d.Runs):
		kind := map[bool]FindingKind{true: DisabledCheck, false: ChangedUpkeep}[d.runner || d.ci || d.Runs]
		d.findings = []Finding{{Kind: kind, Path: d.Path, Why: "what runs checks was deleted, or changed beyond comparing"}}
	}
}

func (d *setting) report(kind FindingKind, r *row, why string) {
	d.findings = append(d.findings, Finding{kind, d.Path, r.n, quoted(r.raw), why})
}

// plain analyses the row of a setting.
func (r *row) plain() *row {
	if r.indent = indentOf(r.raw); !note.MatchString(r.raw) {
		r.code = strings.TrimRight(uncommented(r.raw), " \t\r")
	}
	return r
}

// headers returns up to three lines above row i with successively less indentation, innermost first.
func headers(rows []row, i int) []string {
	out, indent := []string{}, rows[i].indent
	for j := i - 1; j >= 0 && len(out) < 3 && indent > 0; j-- {
		if r := rows[j]; r.code != "" && r.indent < indent {
			out, indent = append(out, r.code), r.indent
		}
	}
	return out
}

// section returns the heading in brackets at or above row i of a TOML-like file.
func section(rows []row, i int) string {
	for ; i >= 0; i-- {
		if strings.HasPrefix(rows[i].code, "[") {
			return rows[i].code
		}
	}
	return ""
}

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
