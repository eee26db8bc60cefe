package technique

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// defaultTools are assumed when the agent's tools are unknown: those of SIA's built-in agent.
var defaultTools = []string{"list", "read", "outline", "search", "locate", "edit", "patch", "write", "delete", "plan",
	"ask", "finish", "run", "test"}

// toolRole is the purpose of a tool, derived from its name.
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
	missingWords = lazyregexp.New(`(?i)no such file|file not found|does not exist|cannot find the file|` +
		`cannot find module|no matching (text|string)|not found in file|ENOENT`)
	existsWords = lazyregexp.New(`(?i)already exists|would overwrite|EEXIST|duplicate (declaration|definition)|` +
		`redeclared`)
)

// chooseTools returns the tools that the next attempt is offered and those that are removed: unsuitable ones according
// to the diagnosis, else according to the failures. At least one tool that can change files and all tools that only
// read are kept.
func chooseTools(in Input) (offered, taken []string) {
	has := in.Tools
	if len(has) == 0 {
		has = defaultTools
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
			if existsWords.MatchString(f.Excerpt) && !missingWords.MatchString(f.Excerpt) {
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

// describeTools returns the sentence about the offered and removed tools for the model.
func describeTools(offered, taken []string) string {
	s := "Tools you have: " + strings.Join(offered, ", ") + "."
	if len(taken) > 0 {
		s += " Taken away for this attempt: " + strings.Join(taken, ", ") + "."
	}
	return s
}
