package webhook

import "github.com/sia-bot/sia/sia"

// readPing reads "ping": GitHub tries the webhook out. Having stored it is the
// answer.
func readPing(any, reading) ([]sia.Intent, *administration) { return nil, nil }
