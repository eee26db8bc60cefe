package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// lostPart is the number of the part that made an attempt fail by not being finished; 0: the attempt has another
// result. A test that could not be written is no such part.
func lostPart(a sia.Attempt) int {
	if a.Outcome != sia.AttemptFail {
		return 0
	}
	return a.Lost()
}

// lostLine names the part for which an attempt failed, and the reason, in about room words.
func lostLine(a sia.Attempt, number, room int) string {
	p := a.Parts[number-1]
	return fmt.Sprintf("❌ **Part %d of %d was given up:** ", number, len(a.Parts)) +
		few(cmp.Or(PartTrouble(p, room), PartWords(p)), max(1, room-2))
}

// lostText says the same in full, with the results of the other parts.
func lostText(a sia.Attempt, number int) string {
	p := a.Parts[number-1]
	var b strings.Builder
	fmt.Fprintf(&b, "Part %d of %d was given up after %s, so the whole could not be judged:\n\n", number, len(a.Parts),
		tries(p))
	b.WriteString("- **What it was for:** " + Line(PartWords(p), 400) + "\n")
	if p.DoneWhen != "" {
		b.WriteString("- **Done when:** " + Line(p.DoneWhen, 400) + "\n")
	}
	if p.Reason != "" {
		b.WriteString("- **How its last run ended:** " + Line(p.Reason, 400) + "\n")
	}
	if c := p.Checked; c != nil && c.Missing == "" && !c.Holds {
		b.WriteString("- **What SIA saw in the sandbox:** " + Code(c.Command, 200) + " fails")
		if len(c.Tests) > 0 {
			b.WriteString(" — " + codes(c.Tests, 5))
		}
		b.WriteString("\n")
		if text := excerpt(c.Excerpt); text != "" {
			b.WriteString("\n" + Fence("text", text) + "\n")
		}
	}
	if done := partsIn(a, sia.PartDone); done > 0 && a.Head != "" {
		fmt.Fprintf(&b, "\nWhat the other parts did (%d done) is kept on the branch.\n", done)
	}
	return b.String()
}
