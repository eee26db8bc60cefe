package tamper

import (
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// setting is a change of a file that says what checks run and how. It is read by lines alone.
type setting struct {
	*Change
	role
	name     string // of the file, in lower case
	old, new []row  // code is a line without its comment
	pool     *pool
	findings []Finding
}

// pool is what came and went in all such files of a change set: it may have moved.
type pool struct {
	came, went map[string]bool
	commands   [][]string // that came
	uses       []string   // actions that came
}

// key is a line as it is looked for in the pool: of CI, versions don't count.
func (d *setting) key(r *row) string {
	if d.ci {
		return digits.ReplaceAllString(spelling(r.code), "0")
	}
	return spelling(r.code)
}

// settings reports changes of lines by which tests are chosen, linters configured and checks
// run: a person is asked where a check or its failing can go away, of all else the reviewer.
func settings(changes []Change) []Finding {
	all, out := []*setting{}, []Finding{}
	p := &pool{came: map[string]bool{}, went: map[string]bool{}}
	for i := range changes {
		c := &changes[i]
		was, is := roleOf(c.before()), roleOf(c.Path)
		if c.Status == "added" && shadow.MatchString(c.Path) && !shown.MatchString(c.Path) {
			out = append(out, c.places(DisabledCheck, "a new file is in a runner's place, or configures it")[:1]...)
		}
		if was.ci = was.ci || is.ci; !was.ci && (!was.config && !is.config || is.test || shown.MatchString(c.before())) {
			continue
		}
		d := &setting{Change: c, role: was, name: strings.ToLower(path.Base(c.before())), pool: p}
		d.old, d.new = c.sides()
		for i := range d.old {
			if r := d.old[i].plain(); !r.fixed {
				p.went[d.key(r)] = true
			}
		}
		for i := range d.new {
			if r := d.new[i].plain(); !r.fixed {
				p.came[d.key(r)] = true
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
		for i := range d.new {
			if r := &d.new[i]; !r.fixed && r.code != "" && !p.went[d.key(r)] {
				added(i, r)
			}
		}
		for i := range d.old {
			if r := &d.old[i]; !r.fixed && r.code != "" && !p.came[d.key(r)] {
				gone(i, r)
			}
		}
		d.whole()
		out = append(out, d.findings...)
	}
	return out
}

// whole reports what was done to the file as a whole, and changes of workflows that no line's finding reports.
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
	case d.Opaque, gone && (d.runner || d.linter):
		kind := ChangedUpkeep
		if d.runner || d.ci {
			kind = DisabledCheck
		}
		d.findings = []Finding{{Kind: kind, Path: d.Path, Why: "what runs checks was deleted, or changed beyond comparing"}}
	}
}

func (d *setting) report(kind FindingKind, r *row, why string) {
	d.findings = append(d.findings, Finding{kind, d.Path, r.n, quoted(r.raw), why})
}

// plain reads the row of a setting.
func (r *row) plain() *row {
	if r.indent = indentOf(r.raw); !note.MatchString(r.raw) {
		r.code = strings.TrimRight(uncommented(r.raw), " \t\r")
	}
	return r
}

// headers are the next lines above row i that stand further to the left, up to three of them, from the inside.
func headers(rows []row, i int) []string {
	var out []string
	indent := rows[i].indent
	for j := i - 1; j >= 0 && len(out) < 3 && indent > 0; j-- {
		if r := rows[j]; r.code != "" && r.indent < indent {
			out, indent = append(out, r.code), r.indent
		}
	}
	return out
}

// section is the heading in brackets that row i of a file like TOML stands below, or is.
func section(rows []row, i int) string {
	for ; i >= 0; i-- {
		if strings.HasPrefix(rows[i].code, "[") {
			return rows[i].code
		}
	}
	return ""
}

var (
	// dependency is a file of code that others wrote and a repository keeps, manifest one that lists what of that it
	// needs. The first group is the folder of both, the second matches where they are Go's.
	dependency = lazyregexp.New(`^((?:.*?/)?)(?:(vendor/.+\.go)|node_modules/.+)$`)
	manifest   = lazyregexp.New(`^((?:.*?/)?)(?:(go\.(?:mod|sum|work)|vendor/modules\.txt)|package\.json|` +
		`[\w.\-]*lock[\w.\-]*)$`)
)

// unlisted reports dependencies that a repository keeps and that changed while what lists them did not: tests would run
// with other code than it says. A list of what is kept that is new says nothing.
func unlisted(changes []Change) []Finding {
	type place struct {
		root   string
		golang bool
	}
	listed := map[place]bool{}
	for i := range changes {
		if m := manifest.FindStringSubmatch(changes[i].Path); m != nil &&
			(changes[i].Status != "added" || path.Base(changes[i].Path) != "modules.txt") {
			listed[place{m[1], m[2] != ""}] = true
		}
	}
	var out []Finding
	for i := range changes {
		c := &changes[i]
		m := dependency.FindStringSubmatch(c.Path)
		if m == nil || roleOf(c.Path).fixture || listed[place{m[1], m[2] != ""}] {
			continue
		}
		listed[place{m[1], m[2] != ""}] = true // one finding says it
		out = append(out, c.places(DisabledCheck, "a dependency was changed, and what lists it was not")[:1]...)
	}
	return out
}
