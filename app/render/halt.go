package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Halted answers /sia pause all. tasks is how many tasks were under way.
func Halted(tasks int) string {
	return fmt.Sprintf("This repository is paused: %s stopped, and the work so far is kept. New tasks wait. "+
		"`/sia resume all` goes on.", text.Count(tasks, "task"))
}

// Lifted answers /sia resume all. tasks is how many tasks go on; known is false when
// nothing was paused as a whole.
func Lifted(tasks int, known bool) string {
	if !known {
		return "Nothing is paused as a whole here, so there is nothing to resume. A single task is resumed by " +
			"`/sia resume` on its issue."
	}
	return fmt.Sprintf("This repository is at work again: %s. What was paused by itself stays paused.",
		goOn(tasks))
}

func goOn(tasks int) string {
	return text.Count(tasks, "task goes on where it stopped", "tasks go on where they stopped")
}

// InstallationHalted answers the switch of a page that pauses everything of an installation.
func InstallationHalted(tasks int) string {
	return fmt.Sprintf("Everything is paused: %s stopped, and what was done is kept. New tasks wait until everything is "+
		"resumed here.", text.Count(tasks, "task"))
}

// InstallationLifted answers the switch that has it go on; known is false when nothing was paused as a whole.
func InstallationLifted(tasks int, known bool) string {
	if !known {
		return "It was not paused as a whole, so there is nothing to resume."
	}
	return fmt.Sprintf("At work again: %s. What was paused by itself stays paused.", goOn(tasks))
}

// HaltLine says on GitHub that everything in a repository, an installation or on a server is paused, and how that ends.
func HaltLine(reason string, scope sia.HaltScope) string {
	return Line(HaltSentence(reason, scope), 400)
}

// HaltSentence is the same as plain text. It holds the reason as it is.
func HaltSentence(reason string, scope sia.HaltScope) string {
	return sentenceCase(strings.TrimRight(reason, ".")) + ". " + sentenceCase(scope.LiftedBy()) + "."
}

// StillHalted answers /sia resume all where something else holds the repository.
func StillHalted(reason string, scope sia.HaltScope) string {
	return sentenceCase(reason) + ". That is not for this repository to lift: " + scope.LiftedBy() + "."
}
