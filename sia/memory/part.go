package memory

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
)

// Part is one of several runs of agents that went into an attempt: a part of a plan, or one of
// several coders who did the whole of it.
type Part struct {
	Number   int           `json:"number"` // 1-based
	Do       string        `json:"do"`
	DoneWhen string        `json:"done_when"`
	Check    string        `json:"check,omitempty"` // the command that tells whether it is done
	Kind     sia.PartKind  `json:"kind,omitempty"`  // absent: a part of the plan
	State    sia.PartState `json:"state"`
	Coder    string        `json:"coder,omitempty"`
	Assigned string        `json:"assigned,omitempty"` // why that coder; absent: it is the attempt's
	Tries    int           `json:"tries"`              // runs of it that failed
	Holds    *bool         `json:"holds,omitempty"`    // what SIA saw in the sandbox; absent where it could not look
	Pushed   bool          `json:"pushed,omitempty"`   // of a racer: its change was checked
	Reason   string        `json:"reason,omitempty"`   // why its last run ended as it did
	Needs    []int         `json:"needs,omitempty"`    // numbers of the parts that it rests on
	Cost     float64       `json:"cost"`               // credits, to a thousandth
}

// partEntries are the parts of an attempt; nil where one run did all of it.
func partEntries(a sia.Attempt) []Part {
	var all []Part
	for i, p := range a.Parts {
		m := Part{
			Number: i + 1, Do: fileText(p.Do), DoneWhen: fileText(p.DoneWhen), Check: fileText(p.Check), Kind: p.Kind,
			State: p.State, Coder: fileLine(p.Coder), Assigned: fileText(p.Assigned), Tries: p.Tries, Pushed: p.Pushed,
			Reason: fileText(p.Reason), Needs: p.Needs, Cost: float64(p.Cost) / float64(sia.Credit),
		}
		if c := p.Checked; c != nil && c.Missing == "" {
			m.Holds = &c.Holds
		}
		all = append(all, m)
	}
	return all
}

// structureWords say how the work on an attempt hung together.
var structureWords = map[plan.Structure]string{
	plan.Whole:        "in one piece",
	plan.Reproduce:    "first a test that shows the fault, then what makes it pass",
	plan.Linear:       "parts, one after the other",
	plan.Parallel:     "parts, several at a time",
	plan.Hierarchical: "parts that rest on others, several at a time",
	plan.Race:         "several coders did the whole of it, and the best change counted",
}

// partWords say what a part is beside those of the plan.
var partWords = map[sia.PartKind]string{
	sia.PartTest:  "a test that shows the fault",
	sia.PartRacer: "the whole of it",
	sia.PartMerge: "what conflicted",
	sia.PartMend:  "what did not hold together",
}

// parts lists the parts of an attempt, each with its fields beneath it.
func (w *markdownWriter) parts(parts []Part) {
	if len(parts) == 0 {
		return
	}
	w.line("- **Parts:**")
	for _, p := range parts {
		head := fmt.Sprintf("%d, %s", p.Number, p.State)
		if what := partWords[p.Kind]; what != "" {
			head += " — " + what
		}
		w.line("%s", strings.TrimRight(fmt.Sprintf("  - **Part %s:** %s", head, escapeMarkup(fileLine(p.Do))), " "))
		sub := func(key, value string) {
			if value = fileLine(value); value != "" {
				w.line("    - **%s:** %s", key, escapeMarkup(value))
			}
		}
		sub("Done when", p.DoneWhen)
		sub("Check", p.Check)
		if p.Holds != nil {
			sub("Seen in the sandbox", map[bool]string{true: "it holds", false: "it does not hold"}[*p.Holds])
		}
		sub("Coder", p.Coder)
		sub("Why this coder", p.Assigned)
		if p.Tries > 0 {
			sub("Runs that failed", fmt.Sprint(p.Tries))
		}
		if p.Pushed {
			sub("Put to the checks", "yes")
		}
		sub("Ended", p.Reason)
		if len(p.Needs) > 0 {
			sub("Needs", strings.Trim(fmt.Sprint(p.Needs), "[]"))
		}
		sub("Credits", formatNumber(p.Cost))
	}
}
