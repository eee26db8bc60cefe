package gate

import (
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// conclude weighs the required checks against one another.
func (j *judgement) conclude() Result {
	var greens, excuses int
	var rerun []string
	for i, c := range j.checks {
		if !c.required {
			continue
		}
		if c.outcome == again && j.Reruns >= MaxReruns {
			// Nothing more can be asked for, so what stands counts.
			j.exhausted(&j.checks[i])
			c = j.checks[i]
		}
		switch c.outcome {
		case green:
			greens++
			if strings.HasPrefix(c.why, "flaky") {
				j.explain("%s is %s.", c.name, c.why)
			}
		case excused:
			excuses++
			j.explain("%s is excused: %s.", c.name, c.why)
		case running:
			j.pending = append(j.pending, c.name+" "+c.why)
		case red:
			j.red = append(j.red, c.name+" "+c.why)
		case again:
			rerun = append(rerun, c.name+" "+c.why)
			j.result.Rerun = append(j.result.Rerun, c.run)
		}
	}
	switch {
	case len(j.pending) > 0:
		return j.wait()
	case j.unsettled() > 0:
		j.result.Rerun = nil
		j.result.Verdict = sia.VerdictPending
		j.result.NextLook = j.unsettled()
		j.explain("Every required check has finished; waiting %s in case more are created.", j.result.NextLook.Round(time.Second))
		return j.result
	case len(j.red) > 0:
		if j.result.Doubt = j.doubted(); j.result.Doubt != nil && j.result.Doubt.Rerun {
			j.result.Rerun = append(j.result.Rerun, j.result.RedRuns...)
			j.result.Verdict = sia.VerdictRerun
			j.result.NextLook = max(j.Settings.Settle.D(), minPoll)
			j.sentences(j.red)
			return j.result
		}
		// One failure is the attempt's doing: running others again changes nothing.
		j.result.Rerun = nil
		j.result.Verdict = sia.VerdictRed
		j.sentences(j.red)
		j.sentences(rerun)
		j.tampered()
		return j.result
	case len(rerun) > 0:
		j.result.Verdict = sia.VerdictRerun
		j.result.NextLook = max(j.Settings.Settle.D(), minPoll)
		j.sentences(rerun)
		j.explain("To be run again: re-run %d of at most %d for this commit.", j.Reruns+1, MaxReruns)
		return j.result
	case greens == 0:
		j.result.Verdict = sia.VerdictNone
		j.explain("All %d required checks are excused, so none of them says whether this change is right.", excuses)
		return j.result
	}
	if j.tampered() && !j.Accepted {
		j.result.Verdict = sia.VerdictTampered
		return j.result
	}
	j.result.Verdict = sia.VerdictGreen
	j.explain("%s green.", counted(greens, "required check is", "required checks are"))
	return j.result
}

// exhausted turns a check that would be run again into a red one, unless it is
// flaky: what fails and passes on one commit is not the attempt's doing, and no
// proof that it is right either.
func (j *judgement) exhausted(c *check) {
	c.outcome = red
	if c.flaky {
		c.outcome = excused
	}
	c.why += fmt.Sprintf("; it was run again %d times already", j.Reruns)
	for i := range j.result.Checks {
		if s := &j.result.Checks[i]; s.Name == c.name && s.URL == c.url {
			s.Colour, s.Why = c.outcome.colour(), c.why
		}
	}
	if c.run != 0 && c.outcome == red {
		j.result.RedRuns = append(j.result.RedRuns, c.run)
	}
}

// wait is the verdict while required checks run or are missing.
func (j *judgement) wait() Result {
	j.result.Rerun = nil
	j.result.Verdict = sia.VerdictPending
	j.result.NextLook = poll(j.Now.Sub(j.Since))
	j.sentences(j.pending)
	return j.result
}

// unsettled is how long the quiet time after the last event still lasts.
func (j *judgement) unsettled() time.Duration {
	last := j.Since
	for _, c := range j.checks {
		last = latest(last, c.last)
	}
	return max(0, j.Settings.Settle.D()-max(0, j.Now.Sub(last)))
}

// tampered reports whether the attempt touched what it must not, and says so.
func (j *judgement) tampered() bool {
	for _, t := range j.Tampering {
		j.explain(touched+"%s.", strings.TrimSuffix(t, "."))
	}
	switch {
	case len(j.Tampering) == 0:
		return false
	case j.Accepted:
		j.explain("A person with write access accepted that.")
	default:
		j.explain("It does not pass until a person with write access accepts that.")
	}
	return true
}

func (j *judgement) sentences(why []string) {
	for _, w := range why {
		j.explain("%s.", w)
	}
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Looks that no event asked for, in case one was lost, become rarer with time.
const (
	minPoll = 30 * time.Second
	maxPoll = 10 * time.Minute
)

// poll is the time to the next look after having waited so long.
func poll(waited time.Duration) time.Duration { return min(max(waited/4, minPoll), maxPoll) }
