package render

import (
	"encoding/json"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
)

// ChoiceWords describes a choice about structure or about a part of an attempt, as plain text; it is empty for any
// other choice, which is shown by name.
func ChoiceWords(d sia.Decision) string {
	if d.Type == sia.DecideDecompose {
		return structureChoice[plan.Structure(d.Choice)]
	}
	part := decidedPart(d)
	if part == "" {
		return ""
	}
	switch d.Type {
	case sia.DecideAssign:
		if d.Choice == sia.ChooseNobody {
			return "nobody tries " + part + " again"
		}
		return oneLine(d.Choice) + " tries " + part
	case sia.DecideRecover:
		switch d.Choice {
		case sia.ChooseRetry:
			return part + " is tried again"
		case sia.ChooseOtherCoder:
			return "another coder tries " + part
		}
		return part + " is given up"
	}
	return ""
}

// structureChoice describes the work on a task of each structure.
var structureChoice = map[plan.Structure]string{
	plan.Whole:        "one run does all of it",
	plan.Reproduce:    "first a test that shows the fault, then what makes it pass",
	plan.Linear:       "in parts, one after the other",
	plan.Parallel:     "in parts, as many at the same time as may be",
	plan.Hierarchical: "in parts that rest on others, as many at the same time as may be",
}

// decidedPart is the kind of the part that a decision was about; empty: it was about the attempt, or the log does not
// say.
func decidedPart(d sia.Decision) string {
	var c struct {
		Part string `json:"part"`
	}
	if json.Unmarshal(d.Context, &c) != nil || c.Part == "" {
		return ""
	}
	switch sia.PartKind(c.Part) {
	case sia.PartTest:
		return "the test that shows the fault"
	case sia.PartMerge:
		return "what conflicts between parts"
	case sia.PartMend:
		return "what does not hold together"
	}
	return "a part"
}
