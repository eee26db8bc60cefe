package technique

import "github.com/sia-bot/sia/sia"

// OnTrialAtOnce is how many techniques a repository tries at once; others wait, those that were met
// last longest.
const OnTrialAtOnce = 2

// Trials is a library as a task's next choice may use it: without techniques with a failed trial,
// without those that wait for theirs, and before a task's first technique without any on trial.
type Trials struct {
	Library *Library
	Active  []sia.TechniqueID // of the library, those on trial
	Said    string            // for people: which were left out because their trial failed; "" for none
}
