package technique

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// usualTools are assumed when the agent does not say which tools it has: the
// names of SIA's built-in agent.
var usualTools = []string{"list", "read", "outline", "search", "locate", "edit", "patch", "write", "delete", "plan",
	"ask", "finish", "run", "test"}

// toolRole is what a tool is for, as its name tells.
type toolRole int

const (
	otherRole toolRole = iota
	readRole
	editRole
	createRole
	runRole
)

var roleNames = []struct {
	role  toolRole
	words []string
}{
	{editRole, []string{"edit", "replace", "patch", "insert", "apply"}},
	{createRole, []string{"write", "create"}},
	{runRole, []string{"run", "test", "shell", "bash", "exec", "command", "terminal"}},
	{readRole, []string{"read", "outline", "view", "list", "search", "locate", "grep", "find", "glob", "open"}},
}

func roleOf(tool string) toolRole {
	name := strings.ToLower(tool)
	for _, r := range roleNames {
		if slices.ContainsFunc(r.words, func(w string) bool { return strings.Contains(name, w) }) {
			return r.role
		}
	}
	return otherRole
}

var (
	notThere = lazyregexp.New(`(?i)no such file|file not found|does not exist|cannot find the file|` +
		`cannot find module|no matching (text|string)|not found in file|ENOENT`)
	isThere = lazyregexp.New(`(?i)already exists|would overwrite|EEXIST|duplicate (declaration|definition)|` +
		`redeclared`)
)

// chooseTools decides which tools the next attempt is offered, and which are
// taken away: what the diagnosis calls unsuitable, else what the failures speak
// against. At least one tool that can change files, and every tool that only
// reads, stay.
func chooseTools(in Input) (offered, taken []string) {
	has := in.Tools
	if len(has) == 0 {
		has = usualTools
	}
	keep := func(role toolRole) bool {
		return slices.ContainsFunc(has, func(t string) bool { return roleOf(t) == role && !slices.Contains(taken, t) })
	}
	for _, t := range has {
		if slices.Contains(in.Unsuitable, t) && roleOf(t) != readRole {
			taken = append(taken, t)
		}
	}
	if !keep(editRole) && !keep(createRole) {
		taken = nil
	}
	if len(taken) == 0 {
		away := editRole
		for _, f := range in.Failures {
			if isThere.MatchString(f.Excerpt) && !notThere.MatchString(f.Excerpt) {
				away = createRole
			}
		}
		for _, t := range has {
			if roleOf(t) == away {
				taken = append(taken, t)
			}
		}
		if !keep(editRole) && !keep(createRole) {
			taken = nil
		}
	}
	for _, t := range has {
		if !slices.Contains(taken, t) {
			offered = append(offered, t)
		}
	}
	return offered, taken
}

// describeTools tells the model what it has and what it no longer has.
func describeTools(offered, taken []string) string {
	s := "Tools you have: " + strings.Join(offered, ", ") + "."
	if len(taken) > 0 {
		s += " Taken away for this attempt: " + strings.Join(taken, ", ") + "."
	}
	return s
}
