package webhook

import "github.com/sia-bot/sia/sia"

// readPing reads "ping", GitHub's test of the webhook. Storing it is all that is needed.
func readPing(any, meta) ([]sia.Intent, *administration) { return nil, nil }
