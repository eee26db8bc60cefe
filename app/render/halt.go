package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Halted answers /sia pause all. tasks counts the tasks in progress.
func Halted(tasks int) string {
	return fmt.Sprintf("This repository is paused: %s stopped, and the work so far is kept. New tasks wait. "+
		"`/sia resume all` goes on.", text.Count(tasks, "task"))
}

// Lifted answers /sia resume all. tasks counts the resumed tasks; known is false when nothing was paused as a whole.
func Lifted(tasks int, known bool) string {
	if !known {
		return "Nothing is paused as a whole here, so there is nothing to resume. A single task is resumed by " +
			"`/sia resume` on its issue."
	}
	return fmt.Sprintf("This repository is at work again: %s. What was paused by itself stays paused.",
		countContinuing(tasks))
}

func countContinuing(tasks int) string {
	return text.Count(tasks, "task goes on where it stopped", "tasks go on where they stopped")
}

// InstallationHalted answers the switch on a page that pauses a whole installation.
func InstallationHalted(tasks int) string {
	return fmt.Sprintf("Everything is paused: %s stopped, and what was done is kept. New tasks wait until everything is "+
		"resumed here.", text.Count(tasks, "task"))
}

// InstallationLifted answers the switch that resumes it; known is false when nothing was paused as a whole.
func InstallationLifted(tasks int, known bool) string {
	if !known {
		return "It was not paused as a whole, so there is nothing to resume."
	}
	return fmt.Sprintf("At work again: %s. What was paused by itself stays paused.", countContinuing(tasks))
}

// HaltLine says, as Markdown, that a repository, an installation or a server is paused, by its operator or somebody
// else, and how to resume.
func HaltLine(reason string, scope sia.HaltScope, operator bool) string {
	return Line(HaltSentence(reason, scope, operator), 400)
}

// HaltSentence is the same as plain text. It contains the reason unchanged.
func HaltSentence(reason string, scope sia.HaltScope, operator bool) string {
	return sentenceCase(strings.TrimRight(reason, ".")) + ". " + sentenceCase(scope.LiftedBy(operator)) + "."
}

// StillHalted answers /sia resume all where another pause still applies.
func StillHalted(reason string, scope sia.HaltScope, operator bool) string {
	return sentenceCase(reason) + ". That is not for this repository to lift: " + scope.LiftedBy(operator) + "."
}
