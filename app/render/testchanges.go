package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
)

// shownChanges is how many changes are named where a person decides about them. The check run annotates each.
const shownChanges = 3

// AwaitsTestAcceptance reports whether the head is green but changes tests or protected paths, so that a person has to
// accept it.
func AwaitsTestAcceptance(t sia.Task) bool {
	return t.State == sia.Checking && t.Gate.AwaitsPerson && !slices.Contains(t.Accepted, t.Head)
}

// ChangesToAccept names the first changes that a person has to accept, each with file, line and words on one line, and
// counts the others. There are none where the task does not wait for that. The result contains foreign text.
func ChangesToAccept(t sia.Task) (first []string, more int) {
	if !AwaitsTestAcceptance(t) {
		return nil, 0
	}
	found := gate.Findings(t.Gate.Explain)
	for _, f := range found[:min(len(found), shownChanges)] {
		first = append(first, oneLine(f))
	}
	return first, len(found) - len(first)
}

// changeList is ChangesToAccept as a list, in about room words; empty where there is nothing to name.
func changeList(t sia.Task, room int) string {
	const least = 6 // words that identify a change: its place, and some of its text
	first, more := ChangesToAccept(t)
	for len(first) > 1 && room/len(first) <= least {
		first, more = first[:len(first)-1], more+1
	}
	var b strings.Builder
	for _, f := range first {
		b.WriteString("- " + few(f, max(1, room/len(first)-1)) + "\n")
	}
	if more > 0 {
		fmt.Fprintf(&b, "- %d more\n", more)
	}
	return b.String()
}
