package memory

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
)

// Part is one of several agent runs of an attempt: a part of a plan, or one of several coders that each did the whole
// task.
type Part struct {
	Number   int           `json:"number"` // 1-based
	Do       string        `json:"do"`
	DoneWhen string        `json:"done_when"`
	Check    string        `json:"check,omitempty"` // command that checks whether it is done
	Kind     sia.PartKind  `json:"kind,omitempty"`  // absent: a part of the plan
	State    sia.PartState `json:"state"`
	Coder    string        `json:"coder,omitempty"`
	Assigned string        `json:"assigned,omitempty"` // why this coder; absent: the attempt's coder
	Tries    int           `json:"tries"`              // number of failed runs
	Holds    *bool         `json:"holds,omitempty"`    // result of SIA's own check; absent if it could not check
	Pushed   bool          `json:"pushed,omitempty"`   // for a racer: its change was checked
	Reason   string        `json:"reason,omitempty"`   // why its last run ended
	Needs    []int         `json:"needs,omitempty"`    // numbers of the parts that it depends on
	Cost     float64       `json:"cost"`               // credits, to a thousandth
}

// partEntries returns the parts of an attempt; nil for a single run.
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

// structureWords describe the structure of the work on an attempt.
var structureWords = map[plan.Structure]string{
	plan.Whole:        "in one piece",
	plan.Reproduce:    "first a test that shows the fault, then what makes it pass",
	plan.Linear:       "parts, one after the other",
	plan.Parallel:     "parts, several at a time",
	plan.Hierarchical: "parts that rest on others, several at a time",
	plan.Race:         "several coders did the whole of it, and the best change counted",
}

// partWords describe the kinds of parts that are not parts of the plan.
var partWords = map[sia.PartKind]string{
	sia.PartTest:  "a test that shows the fault",
	sia.PartRacer: "the whole of it",
	sia.PartMerge: "what conflicted",
	sia.PartMend:  "what did not hold together",
}

// parts writes the parts of an attempt, each with its fields below it.
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
