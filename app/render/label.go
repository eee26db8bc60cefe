package render

import (
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/view"
)

// The labels for a task's state; an issue has at most one of them.
const (
	LabelWorking    = "sia:working"
	LabelPaused     = "sia:paused"
	LabelNeedsHuman = "sia:needs-human"
	LabelPassed     = "sia:passed"
	LabelStopped    = "sia:stopped"
)

// Labels are the labels that SIA creates in a repository at installation: the trigger, named by its settings, and those
// of the states.
func Labels(trigger string) []view.Label {
	return []view.Label{
		{Name: trigger, Color: "5319e7", Description: "Ask SIA to resolve this issue. Taking the label off stops it."},
		{Name: LabelWorking, Color: "1d76db",
			Description: "SIA is working on this issue. Its status comment says where it stands."},
		{Name: LabelPaused, Color: "fbca04", Description: "SIA is paused here. Comment /sia resume to go on."},
		{Name: LabelNeedsHuman, Color: "d93f0b", Description: "SIA has a question that only a person can answer."},
		{Name: LabelPassed, Color: "0e8a16",
			Description: "Every required check is green; SIA's pull request is ready for review."},
		{Name: LabelStopped, Color: "6a737d", Description: "SIA was stopped here. Comment /sia start to start again."},
	}
}

// StateLabels are the names of the state labels. An issue has at most one.
func StateLabels() []string {
	return []string{LabelWorking, LabelPaused, LabelNeedsHuman, LabelPassed, LabelStopped}
}

// LabelFor is the label of the task's issue in its state.
func LabelFor(t sia.Task) string {
	switch t.State {
	case sia.Escalated:
		return LabelNeedsHuman
	case sia.OnHold:
		return LabelPaused
	case sia.Passed:
		if t.Aftermath == sia.Abandoned { // there is nothing to review
			return LabelStopped
		}
		return LabelPassed
	case sia.Stopped:
		return LabelStopped
	}
	if AwaitsTestAcceptance(t) {
		return LabelNeedsHuman
	}
	return LabelWorking
}
