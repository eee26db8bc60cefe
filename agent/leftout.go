package agent

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia/text"
)

// maxLeftOut is the maximum number of left out paths that are named.
const maxLeftOut = 5

// Reasons for leaving something out.
const (
	nestedReason   = "SIA left out what is a git repository of its own, with a `.git` in it or as a submodule: "
	filteredReason = "SIA left out what Git stores through a filter, such as Git LFS or git-crypt, which it does not run: "
	ignoredReason  = "SIA left out what Git ignores here: "
	misnamedReason = "SIA left out names with a backslash, which are paths on Windows: "
	builtReason    = "SIA left out what commands built: "
	beforeReason   = "SIA left out what setup changed and the attempt did not: "
	undoneReason   = "SIA left out what configures agents, editors, package managers or git, which an agent that is a " +
		"command can only read: "
)

// leftOut describes the paths that a commit does not contain; "" if there are none.
func leftOut(why string, paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	var names []string
	for _, name := range paths[:min(len(paths), maxLeftOut)] {
		names = append(names, "`"+text.Clip(text.OneLine(strings.ReplaceAll(name, "`", "'")), 200)+"`")
	}
	if more := len(paths) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return why + text.List(names) + "."
}

// LeftOut lists what a commit leaves out of an agent's change, by path.
type LeftOut struct {
	Repositories []string // new folders that are repositories of their own, and changed submodules
	Built        []string // new folders and files that builds make
	Filtered     []string // changed files that Git stores through a filter
	Ignored      []string // files of [Result.Written] that Git ignores
	Misnamed     []string // new files and folders with a backslash in their names
	Before       []string // tracked files that are as setup left them
}

// LeftOutOf returns before, extended by what the commit leaves out, and a sentence about what builds made and setup
// changed.
func LeftOutOf(before string, l LeftOut) (left, built string) {
	for _, said := range []string{leftOut(nestedReason, l.Repositories), leftOut(filteredReason, l.Filtered),
		leftOut(ignoredReason, l.Ignored), leftOut(misnamedReason, l.Misnamed)} {
		before = strings.TrimSpace(before + " " + said)
	}
	built = strings.TrimSpace(leftOut(builtReason, l.Built) + " " + leftOut(beforeReason, l.Before))
	return text.Clip(before, tool.MaxSummary/2), built
}

// WithLeftOut returns an agent's summary, followed by what was left out of its change.
func WithLeftOut(summary, leftOut string) string {
	if leftOut == "" {
		return summary
	}
	return strings.TrimSpace(text.Clip(summary, tool.MaxSummary-len(leftOut)-2) + "\n\n" + leftOut)
}
