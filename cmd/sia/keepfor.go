package main

import (
	"fmt"
	"time"

	"github.com/sia-bot/sia/app/sweep"
)

// keepFor is how long something is kept, as somebody wrote it; zero: for ever.
type keepFor time.Duration

// UnmarshalText reads 90d, 36h or 0.
func (k *keepFor) UnmarshalText(b []byte) error {
	if string(b) == "0" {
		*k = 0
		return nil
	}
	var p pastTime
	if p.UnmarshalText(b) != nil || p.ago == 0 {
		return fmt.Errorf("%q is no length of time: write 90d or 36h, or 0 for ever", b)
	}
	*k = keepFor(p.ago)
	return nil
}

// leastDeliveries is how long deliveries are kept at least: GitHub.com sends them again for three days
// (https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks).
const leastDeliveries = 3 * 24 * time.Hour

// retentionFlags say how long what is not needed to work is kept.
type retentionFlags struct {
	KeepTranscripts keepFor `help:"How long the turns of agents, and the texts of their attempts, are kept after their task ended, such as 90d; 0: for ever." default:"0" env:"SIA_KEEP_TRANSCRIPTS" placeholder:"TIME" group:"folded:serve"`
	KeepDeliveries  keepFor `help:"How long webhooks are kept that were worked on, 3d at least (GitHub Enterprise Server sends again for 7d); 0: for ever." default:"8d" env:"SIA_KEEP_DELIVERIES" placeholder:"TIME" group:"folded:serve"`
}

// check refuses, as wrong usage, what would have webhooks worked on twice.
func (r retentionFlags) check() error {
	if r.KeepDeliveries != 0 && time.Duration(r.KeepDeliveries) < leastDeliveries {
		return fmt.Errorf("--keep-deliveries %s: GitHub may send a webhook again for three days, and SIA would take it for "+
			"new; give 3d or more", time.Duration(r.KeepDeliveries))
	}
	return nil
}

func (r retentionFlags) retention() sweep.Retention {
	return sweep.Retention{Transcripts: time.Duration(r.KeepTranscripts), Deliveries: time.Duration(r.KeepDeliveries)}
}
