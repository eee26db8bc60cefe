package localrun

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// progress prints a line, on standard error with --output json or if nobody reads the output any more.
func (r *run) progress(format string, args ...any) {
	r.outputMu.Lock()
	defer r.outputMu.Unlock()
	r.quiet = quiet{since: time.Now()}
	r.say(format, args...)
}

// say prints a line; the caller holds the lock.
func (r *run) say(format string, args ...any) {
	to, line := r.Out, cli.Sprintf(format+"\n", args...)
	if r.job.opts.JSON {
		to = r.Err
	}
	if _, err := io.WriteString(to, line); errors.Is(err, syscall.EPIPE) {
		fmt.Fprint(r.Err, line)
	}
}

// quiet measures how long nothing was printed.
type quiet struct {
	since time.Time
	said  time.Duration // value of the last report
}

// due returns the time without output when that is worth a line: after one minute, two, four, and so on; otherwise 0.
func (q *quiet) due(now time.Time) time.Duration {
	passed := now.Sub(q.since)
	if passed < max(time.Minute, 2*q.said) {
		return 0
	}
	q.said = passed
	return passed
}

// reportSilence prints now and then what the run waits for, so that a slow model does not look like a hung program.
func (r *run) reportSilence(t sia.Task) {
	r.outputMu.Lock()
	defer r.outputMu.Unlock()
	if passed := r.quiet.due(time.Now()); passed > 0 {
		r.say("  … %s: %s; Ctrl-C stops and keeps what was done", passed.Round(time.Second), r.waitsFor(t))
	}
}

// waitTexts describe what a run waits for while an effect is executed.
var waitTexts = []struct {
	kind sia.EffectKind
	said string
}{
	{sia.DoEvidence, "SIA runs the tests that the change can reach, without and with it"},
	{sia.DoDiagnose, "SIA looks for the reason of the failure"},
	{sia.DoReview, "the model reviews the diagnosis"},
	{sia.DoFinalReview, "the model reads the change against the issue"},
	{sia.DoAggregate, "SIA tests the parts together"},
	{sia.DoBegin, "SIA prepares the attempt"},
}

// waitsFor returns what the run waits for.
func (r *run) waitsFor(t sia.Task) string {
	if step := r.step.Load(); step != nil {
		return *step
	}
	pending := slices.Collect(maps.Values(t.Pending))
	if slices.Contains(pending, sia.DoAttempt) {
		if tests := r.tests.Load(); tests != nil {
			return *tests
		}
		coder := "the model has not answered yet"
		if r.usesCommandAgent() {
			coder = "the agent's command runs"
		}
		if len(r.turns.last) == 0 && len(r.job.settings.Agent.Setup) > 0 {
			coder = "an attempt prepares its checkout, or " + coder
		}
		return cmp.Or(r.turns.waits, coder)
	}
	for _, w := range waitTexts {
		if slices.Contains(pending, w.kind) {
			return w.said
		}
	}
	return "nothing new"
}

// begins records which command of a check is running.
func (r *run) begins(command string) {
	step := "setup: " + command
	if command == r.job.settings.Agent.Test {
		step = "the check: " + command
	}
	r.step.Store(&step)
}

// runsTests records which tests SIA runs. It prints a line the first time after other output.
func (r *run) runsTests(step string) {
	step = "SIA runs " + step
	if r.tests.Swap(&step) == nil {
		r.progress("  SIA runs the tests that the change can reach")
	}
}

// usesCommandAgent reports whether the agent is a command instead of one of SIA's models.
func (r *run) usesCommandAgent() bool { return r.job.settings.Agent.Kind == "command" }

// trouble is an error that keeps a run from progressing, such as an overloaded model.
type trouble struct {
	words string // empty: none
	since time.Time
}

// checkRetries prints errors of retried effects. It reports whether retries have lasted longer than a model may take
// for an answer, or will. The server's loop would continue for hours, which makes no sense for a user at a terminal.
func (r *run) checkRetries(t sia.Task) (lost bool, err error) {
	effects, err := r.App.Store.Effects(r.Ctx, t.ID)
	if err != nil {
		return false, err
	}
	words, next := "", time.Time{}
	for _, f := range effects {
		if f.State == store.EffectPending && f.Error != "" {
			words = f.Error
			if next, err = r.App.Store.NextTry(r.Ctx, f.Key); err != nil {
				return false, err
			}
		}
	}
	most := cmp.Or(r.job.opts.Models.Coder.Timeout, llm.DefaultTimeout)
	if wait := time.Until(next); !next.IsZero() && wait > most {
		r.trouble.words = fmt.Sprintf("%s It can be tried again in %s, and --model-timeout is %s.",
			text.Sentence(text.OneLine(words)), render.Duration(wait), most)
		r.progress("  %s", r.trouble.words)
		return true, nil
	}
	switch {
	case words == "":
		r.trouble = trouble{}
	case r.trouble.words == "":
		r.trouble.since = time.Now()
		fallthrough
	case words != r.trouble.words:
		r.trouble.words = words
		r.progress("  %s It is tried again.", text.Sentence(text.OneLine(words)))
	}
	return words != "" && time.Since(r.trouble.since) > most, nil
}
