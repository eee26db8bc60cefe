package agent

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia/text"
)

// shownLeftOut is how many files and folders are named that were left out.
const shownLeftOut = 5

// Why something is left out.
const (
	nested = "SIA left out what is a git repository of its own, with a `.git` in it: "
	undone = "SIA left out what configures agents, editors, package managers or git, which an agent that is a command " +
		"can only read: "
)

// leftOut says what is not in a commit; "" where nothing is.
func leftOut(why string, paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	var names []string
	for _, name := range paths[:min(len(paths), shownLeftOut)] {
		names = append(names, "`"+text.Clip(text.OneLine(strings.ReplaceAll(name, "`", "'")), 200)+"`")
	}
	if more := len(paths) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return why + text.List(names) + "."
}

// LeftOutOf is what was left out of a change, together with its new folders that git takes into no commit.
func LeftOutOf(before string, folders []string) string {
	return text.Clip(strings.TrimSpace(before+" "+leftOut(nested, folders)), tool.MaxSummary/2)
}

// WithLeftOut is what an agent said, and what was left out of its change.
func WithLeftOut(said, leftOut string) string {
	if leftOut == "" {
		return said
	}
	return strings.TrimSpace(text.Clip(said, tool.MaxSummary-len(leftOut)-2) + "\n\n" + leftOut)
}
