package agent

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia/text"
)

// shownLeftOut is how many folders are named that were left out.
const shownLeftOut = 5

// WithLeftOut is what an agent said, and which of its new folders are not in the commit: git takes no repository into
// another.
func WithLeftOut(said string, folders []string) string {
	if len(folders) == 0 {
		return said
	}
	var names []string
	for _, name := range folders[:min(len(folders), shownLeftOut)] {
		names = append(names, "`"+text.Clip(text.OneLine(strings.ReplaceAll(name, "`", "'")), 200)+"`")
	}
	if more := len(folders) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	told := "SIA left out what is a git repository of its own, with a `.git` in it: " + text.List(names) + "."
	return strings.TrimSpace(text.Clip(said, tool.MaxSummary-len(told)-2) + "\n\n" + told)
}
