package technique

import "github.com/sia-bot/sia/sia"

// OnTrialAtOnce is the number of techniques that a repository tries at the same time; others wait in the order in which
// they were found.
const OnTrialAtOnce = 2

// Trials is the library for a task's next choice: without techniques that failed their trial or wait for it, and before
// a task's first technique without any on trial.
type Trials struct {
	Library *Library
	Active  []sia.TechniqueID // techniques of Library that are on trial
	Said    string            // names the techniques with a failed trial, for display; "" for none
}
