package main

import (
	"fmt"
	"time"

	"github.com/sia-bot/sia/app/sweep"
	"github.com/sia-bot/sia/app/web/signin"
)

// keepFor is a retention time that a user wrote; zero: for ever.
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

// String returns the time in days, or in hours if it is not a whole number of days.
func (k keepFor) String() string {
	hours := int(time.Duration(k).Hours())
	if hours%24 != 0 {
		return fmt.Sprintf("%dh", hours)
	}
	return fmt.Sprintf("%dd", hours/24)
}

// minKeepDeliveries is the shortest retention time of deliveries. GitHub.com sends them again for three days
// (https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks).
const minKeepDeliveries = 3 * 24 * time.Hour

// minKeepTasks is the shortest retention time of tasks that have ended. Budgets count a day, summaries count a week,
// and people comment on a pull request later.
const minKeepTasks = 30 * 24 * time.Hour

// retentionFlags set how long data is kept that SIA doesn't need to work.
type retentionFlags struct {
	KeepTranscripts keepFor `help:"How long the turns of agents, and the texts of their attempts, are kept after their task ended, such as 90d; 0: for ever." default:"0" env:"SIA_KEEP_TRANSCRIPTS" placeholder:"TIME" group:"folded:serve"`
	KeepDeliveries  keepFor `help:"How long webhooks are kept that were worked on, 3d at least (GitHub Enterprise Server sends again for 7d); 0: for ever." default:"8d" env:"SIA_KEEP_DELIVERIES" placeholder:"TIME" group:"folded:serve"`
	KeepTasks       keepFor `help:"How long tasks are kept after they ended, with their log and everything else of theirs, once the memory branch has them, 30d at least; 0: for ever." default:"0" env:"SIA_KEEP_TASKS" placeholder:"TIME" group:"folded:serve"`

	SignInFor time.Duration `help:"How long a sign-in to the pages lasts, 5m at least and 8h at most." default:"8h" env:"SIA_SIGN_IN_FOR" placeholder:"DURATION" group:"folded:serve"`
}

// minSignIn is the shortest lifetime of a sign-in.
const minSignIn = 5 * time.Minute

// check returns an error for retention times with which a webhook would be processed twice.
func (r retentionFlags) check() error {
	if r.KeepDeliveries != 0 && time.Duration(r.KeepDeliveries) < minKeepDeliveries {
		return fmt.Errorf("--keep-deliveries %s: GitHub may send a webhook again for three days, and SIA would take it for "+
			"new; give 3d or more", r.KeepDeliveries)
	}
	if r.KeepTasks != 0 && time.Duration(r.KeepTasks) < minKeepTasks {
		return fmt.Errorf("--keep-tasks %s: people write again on a pull request, and SIA would not know it any more; give "+
			"30d or more", r.KeepTasks)
	}
	if r.SignInFor != 0 && (r.SignInFor < minSignIn || r.SignInFor > signin.MaxLifetime) {
		return fmt.Errorf("--sign-in-for %s: give between %.0fm and %.0fh, which is how long GitHub's tokens of people last",
			r.SignInFor, minSignIn.Minutes(), signin.MaxLifetime.Hours())
	}
	return nil
}

func (r retentionFlags) retention() sweep.Retention {
	return sweep.Retention{Transcripts: time.Duration(r.KeepTranscripts), Deliveries: time.Duration(r.KeepDeliveries),
		Tasks: time.Duration(r.KeepTasks)}
}
