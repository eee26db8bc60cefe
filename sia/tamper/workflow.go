package tamper

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/visible"
)

// workflow reports changes of a CI system's configuration: what it runs is what the
// checks are.
func (c *Change) workflow() []Finding {
	if !roleOf(c.Path).ci && !roleOf(c.before()).ci {
		return nil
	}
	switch c.Status {
	case "added":
		return c.places(ChangedWorkflow, "a workflow was added")[:1]
	case "deleted":
		return []Finding{{Kind: ChangedWorkflow, Path: c.Path, Why: "a workflow was deleted"}}
	case "renamed":
		return append(c.places(ChangedWorkflow, "a workflow was renamed or changed"),
			Finding{Kind: ChangedWorkflow, Path: c.Path, Why: "a workflow was renamed", Text: c.OldPath + " → " + c.Path})
	}
	return c.places(ChangedWorkflow, "a workflow was changed")
}

// harmless reports whether a workflow runs what it ran before, or more of it, with no more
// rights: only comments differ, harmless edits (harmlessEdits), or a version was added to a
// matrix. It is sure of that; what it does not understand is not harmless.
func (c *Change) harmless() bool {
	if !steady.MatchString(c.Path) || c.Status != "modified" {
		return false
	}
	old, new, whole := c.wholeFile()
	was, ok := leaves(old)
	is, parsed := leaves(new)
	return whole && ok && parsed && sameRun(was, is)
}

// steady are the files of which some changes are harmless.
var steady = lazyregexp.New(`^\.github/workflows/[\w.-]+\.ya?ml$|^\.github/actions/[\w./-]+/action\.ya?ml$|^\.pre-commit-config\.yaml$`)

const (
	maxYAML     = 100_000 // bytes of a workflow that is read
	maxNested   = 40      // brackets that are open, and items and keys that begin on one line
	maxVersions = 3       // that are added to matrices of one file: each costs the runs of its jobs
)

// plain reports whether another reader of YAML surely sees the same lines: no character
// that somebody does not see or takes for the end of a line; and whether nothing is nested
// so deeply that it hurts to read it.
func plain(text string) bool {
	open := 0
	for line := range strings.Lines(text) {
		for _, c := range line {
			switch c {
			case '[', '{':
				open++
			case ']', '}':
				open--
			}
			if open > maxNested {
				return false
			}
		}
		if strings.Count(line, "- ")+strings.Count(line, "? ") > maxNested {
			return false
		}
	}
	return len(text) <= maxYAML && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return r != coloured && visible.Hidden(r)
	})
}

// coloured is behind a sign that is to be shown in colours, as in GitHub's own templates.
const coloured = 0xfe0f

// A leaf is where a value stands in a YAML file, and the value. What holds others is a
// leaf of its own, before theirs.
type leaf struct{ path, value string }

// leaves reads a YAML file; it is not ok when that is none, or not surely understood.
func leaves(rows []row) (out []leaf, ok bool) {
	var text strings.Builder
	for _, r := range rows {
		text.WriteString(r.raw + "\n")
	}
	if !plain(text.String()) {
		return nil, false
	}
	f, err := parser.ParseBytes([]byte(text.String()), 0)
	if err != nil || len(f.Docs) != 1 {
		return nil, false
	}
	return out, addLeaves(&out, "", f.Docs[0].Body)
}

// addLeaves adds those of a node. Anchors, aliases, merges and tags are not understood.
func addLeaves(out *[]leaf, path string, n ast.Node) bool {
	add := func(v string) { *out = append(*out, leaf{path, v}) }
	switch n := n.(type) {
	case *ast.MappingNode:
		add("{")
		for _, v := range n.Values {
			key, ok := v.Key.(*ast.StringNode)
			if !ok || !addLeaves(out, path+"/"+strconv.Quote(key.Value), v.Value) {
				return false
			}
		}
	case *ast.SequenceNode:
		add("[")
		for _, v := range n.Values {
			*out = append(*out, leaf{path + "/[]", "-"})
			if !addLeaves(out, path+"/[]", v) {
				return false
			}
		}
	case *ast.LiteralNode:
		add(n.Start.Value + "\n" + n.Value.Value)
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		add(n.Type().String() + " " + n.GetToken().Value)
	default:
		return false
	}
	return true
}

var (
	// used is where the release of an action or a hook is named.
	used = lazyregexp.New(`^(?:/"jobs"/"[\w-]+"|/"runs")/"steps"/\[\]/"uses"$|^/"repos"/\[\]/"rev"$`)
	// release is a value that ends with one, of an action behind its name.
	release = lazyregexp.New(`^\w+ ((?:[\w-]+/[\w./-]+@)?v?)(\d{1,6}(?:\.\d{1,6}){0,3})$`)
	// versions is the item of a list of versions that a job runs with; what is included or
	// excluded beside them changes other runs.
	versions = lazyregexp.New(`^/"jobs"/"[\w-]+"/"strategy"/"matrix"/"[\w-]+"/\[\]$`)
	version  = lazyregexp.New(`^(?:String|Integer|Float) v?\d{1,3}(?:\.(?:\d{1,3}|x)){0,2}$`)
)

// harmlessEdits are values of a workflow that may change or come (old is "") while what
// runs stays what it was, with no more rights.
var harmlessEdits = []struct {
	path *lazyregexp.Regexp
	ok   func(old, new string) bool
}{
	{used, later},
	{lazyregexp.New(`^/"jobs"/"[\w-]+"(?:/"steps"/\[\])?/"timeout-minutes"$`), raised},
	{lazyregexp.New(`^/"on"/"schedule"/\[\]/"cron"$`), func(old, new string) bool {
		return old != "" && schedule.MatchString(new)
	}},
	{lazyregexp.New(`(?:^/"jobs"/"[\w-]+"|^/"runs")/"steps"/\[\]/"name"$`), func(old, new string) bool {
		return words.MatchString(old) && words.MatchString(new)
	}},
	{lazyregexp.New(`^/"permissions"$|/"steps"/\[\]/"with"$`), func(old, new string) bool { return old == "" && new == "{" }},
	{lazyregexp.New(`/"steps"/\[\]/"with"/"persist-credentials"$`), func(old, new string) bool {
		return old == "" && new == "Bool false"
	}},
}

var (
	schedule = lazyregexp.New(`^String [\d*/, -]+$`)
	words    = lazyregexp.New(`^String [^$]*$`)
)

// harmlessEdit reports whether the value at a path may change in this way.
func harmlessEdit(path, old, new string) bool {
	for _, e := range harmlessEdits {
		if e.path.MatchString(path) {
			return e.ok(old, new)
		}
	}
	return false
}

// sameRun reports whether leaves differ in harmless edits and added versions alone.
func sameRun(old, new []leaf) bool {
	added := 0
	narrowed := false // the token has rights that are named, for the first time
	for len(new) > 0 {
		n, o := new[0], leaf{}
		if len(old) > 0 {
			o = old[0]
		}
		item := n.value == "-" && len(new) > 1 // with its value behind it
		switch {
		case o == n && !(item && (len(old) == 1 || old[1] != new[1])),
			o.path == n.path && harmlessEdit(n.path, o.value, n.value):
			old, new = old[1:], new[1:]
		case item && versions.MatchString(n.path) && !strings.HasSuffix(n.path, `clude"/[]`) &&
			version.MatchString(new[1].value) && added < maxVersions:
			added++
			new = new[2:]
		case o.path != n.path && harmlessEdit(n.path, "", n.value),
			narrowed && n == leaf{`/"permissions"/"contents"`, "String read"}:
			narrowed = narrowed || n.path == `/"permissions"`
			new = new[1:]
		default:
			return false
		}
	}
	return len(old) == 0
}

// raised reports whether a number got larger.
func raised(old, new string) bool {
	was, wrong := strconv.Atoi(strings.TrimPrefix(old, "Integer "))
	is, err := strconv.Atoi(strings.TrimPrefix(new, "Integer "))
	return wrong == nil && err == nil && was < is
}

// later reports whether a value names a later release of the same thing, as exactly as
// before. A branch or a commit is none: a commit of a fork can be named as if it were the
// owner's.
func later(old, new string) bool {
	o, n := release.FindStringSubmatch(old), release.FindStringSubmatch(new)
	if o == nil || n == nil || o[1] != n[1] {
		return false
	}
	was, is := strings.Split(o[2], "."), strings.Split(n[2], ".")
	for i := range was {
		if len(was) != len(is) {
			return false
		}
		a, _ := strconv.Atoi(was[i])
		if b, _ := strconv.Atoi(is[i]); a != b {
			return a < b
		}
	}
	return false
}
