package agent

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// demandSections returns the section with the sentences of the issue that a reviewer found not done in a change that
// passed.
func demandSections(demands []sia.Demand) []promptSection {
	if len(demands) == 0 {
		return nil
	}
	var b strings.Builder
	for i, d := range demands {
		fmt.Fprintf(&b, "[%d] The issue says: %s\n    The reviewer says: %s\n", i+1, clipLine(Sanitize(d.Quote), maxStep),
			clipLine(Sanitize(d.Why), maxStep))
	}
	return []promptSection{{heading: "## What is not done yet",
		intro: "The work tree holds a change for this issue that has passed every check. Keep it. A reviewer who read it " +
			"against the issue says that these sentences of the issue are not done, and is sometimes wrong. Do what is " +
			"missing and nothing else. Where something is done already, or not needed, change nothing for it. In your " +
			"summary, say about each, on a line that begins with its number, what you did, or \"not needed because\" and why, " +
			"such as [1].",
		source: "issue and reviewer", body: middleOut(b.String(), maxInstructions), priority: priorityRequired}}
}
