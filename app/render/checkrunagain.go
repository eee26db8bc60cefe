package render

import "github.com/sia-bot/sia/sia/view"

// CheckRunAgain is the check run after somebody requested it again, until the task's state replaces it.
func CheckRunAgain() view.CheckRun {
	return view.CheckRun{Status: "in_progress", Title: "SIA looks again",
		Summary: "Somebody asked for this check again. It says in a moment where the task stands.\n"}
}
