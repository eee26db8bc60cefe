package render

import "github.com/sia-bot/sia/sia"

// Label is a label of a repository.
type Label struct {
	Name        string
	Color       string // six hexadecimal digits, without "#"
	Description string // at most 100 characters, GitHub's limit
}

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
func Labels(trigger string) []Label {
	return []Label{
		{trigger, "5319e7", "Ask SIA to resolve this issue. Taking the label off stops it."},
		{LabelWorking, "1d76db", "SIA is working on this issue. Its status comment says where it stands."},
		{LabelPaused, "fbca04", "SIA is paused here. Comment /sia resume to go on."},
		{LabelNeedsHuman, "d93f0b", "SIA has a question that only a person can answer."},
		{LabelPassed, "0e8a16", "Every required check is green; SIA's pull request is ready for review."},
		{LabelStopped, "6a737d", "SIA was stopped here. Comment /sia start to start again."},
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
