package main

import (
	"fmt"
	"time"

	"github.com/sia-bot/sia/app/sweep"
	"github.com/sia-bot/sia/app/web/signin"
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

// String is the time in days, or hours where those are not whole.
func (k keepFor) String() string {
	hours := int(time.Duration(k).Hours())
	if hours%24 != 0 {
		return fmt.Sprintf("%dh", hours)
	}
	return fmt.Sprintf("%dd", hours/24)
}

// leastDeliveries is how long deliveries are kept at least: GitHub.com sends them again for three days
// (https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks).
const leastDeliveries = 3 * 24 * time.Hour

// leastTasks is how long ended tasks are kept at least: budgets count a day, summaries a week, and people write again
// on a pull request.
const leastTasks = 30 * 24 * time.Hour

// retentionFlags say how long what is not needed to work is kept.
type retentionFlags struct {
	KeepTranscripts keepFor `help:"How long the turns of agents, and the texts of their attempts, are kept after their task ended, such as 90d; 0: for ever." default:"0" env:"SIA_KEEP_TRANSCRIPTS" placeholder:"TIME" group:"folded:serve"`
	KeepDeliveries  keepFor `help:"How long webhooks are kept that were worked on, 3d at least (GitHub Enterprise Server sends again for 7d); 0: for ever." default:"8d" env:"SIA_KEEP_DELIVERIES" placeholder:"TIME" group:"folded:serve"`
	KeepTasks       keepFor `help:"How long tasks are kept after they ended, with their log and everything else of theirs, once the memory branch has them, 30d at least; 0: for ever." default:"0" env:"SIA_KEEP_TASKS" placeholder:"TIME" group:"folded:serve"`

	SignInFor time.Duration `help:"How long a sign-in to the pages lasts, 5m at least and 8h at most." default:"8h" env:"SIA_SIGN_IN_FOR" placeholder:"DURATION" group:"folded:serve"`
}

// signInLeast is how long a sign-in lasts at least.
const signInLeast = 5 * time.Minute

// check refuses, as wrong usage, what would have webhooks worked on twice.
func (r retentionFlags) check() error {
	if r.KeepDeliveries != 0 && time.Duration(r.KeepDeliveries) < leastDeliveries {
		return fmt.Errorf("--keep-deliveries %s: GitHub may send a webhook again for three days, and SIA would take it for "+
			"new; give 3d or more", r.KeepDeliveries)
	}
	if r.KeepTasks != 0 && time.Duration(r.KeepTasks) < leastTasks {
		return fmt.Errorf("--keep-tasks %s: people write again on a pull request, and SIA would not know it any more; give "+
			"30d or more", r.KeepTasks)
	}
	if r.SignInFor != 0 && (r.SignInFor < signInLeast || r.SignInFor > signin.MostFor) {
		return fmt.Errorf("--sign-in-for %s: give between %.0fm and %.0fh, which is how long GitHub's tokens of people last",
			r.SignInFor, signInLeast.Minutes(), signin.MostFor.Hours())
	}
	return nil
}

func (r retentionFlags) retention() sweep.Retention {
	return sweep.Retention{Transcripts: time.Duration(r.KeepTranscripts), Deliveries: time.Duration(r.KeepDeliveries),
		Tasks: time.Duration(r.KeepTasks)}
}
