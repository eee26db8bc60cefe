package web

import (
	"cmp"
	"fmt"
	"html/template"
	"strings"
	"time"
	"unicode"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// shapes are the icons of states, drawn in 16 by 16 units. Class "in" is filled, "out" is drawn over it.
var shapes = map[string]string{
	"check": `<circle class="in" cx="8" cy="8" r="8"/><path class="out" d="M4.7 8.3l2.3 2.3 4.3-4.6"/>`,
	"x":     `<circle class="in" cx="8" cy="8" r="8"/><path class="out" d="M5.4 5.4l5.2 5.2m0-5.2l-5.2 5.2"/>`,
	"half":  `<circle cx="8" cy="8" r="7"/><path class="in" d="M8 3a5 5 0 0 0 0 10z"/>`,
	"slash": `<circle cx="8" cy="8" r="7"/><path d="M3.2 12.8l9.6-9.6"/>`,
	"pause": `<circle cx="8" cy="8" r="7"/><path d="M6.3 5.6v4.8m3.4-4.8v4.8"/>`,
	"ask": `<path d="M2 1.5h12a.8.8 0 0 1 .8.8v8.2a.8.8 0 0` +
		` 1-.8.8H8.5L5 14.5v-3.2H2a.8.8 0 0 1-.8-.8V2.3a.8.8 0 0 1 .8-.8zM8 4v3.2m0 1.9v.1"/>`,
	"clock": `<circle cx="8" cy="8" r="7"/><path d="M8 4.2V8l2.5 1.6"/>`,
	"spin": `<circle class="track" cx="8" cy="8" r="6.5" opacity=".3"/>` +
		`<path class="turns" d="M8 1.5A6.5 6.5 0 0 1 14.5 8"/>`,
	"merge": `<circle cx="4" cy="3.2" r="1.8"/><circle cx="4" cy="12.8" r="1.8"/>` +
		`<circle cx="12" cy="8.8" r="1.8"/><path d="M4 5v6M4 5.2c.6 2.4 2.6 3.6 6.2 3.6"/>`,
	"idea": `<path d="M5.6 10.4C4.3 9.5 3.5 8.3 3.5 6.6a4.5 4.5 0 0 1 9` +
		` 0c0 1.7-.8 2.9-2.1 3.8v1.4H5.6zM6.4 14.3h3.2"/>`,
	"dot":    `<circle class="in" cx="8" cy="8" r="3.5"/>`,
	"person": `<circle cx="8" cy="5" r="3.2"/><path d="M2 14.5c.6-3.4 3-5 6-5s5.4 1.6 6 5"/>`,
	"sia": `<circle cx="8" cy="8" r="7"/>` +
		`<path d="M10.8 5.6c-1-1.6-5.2-1.7-5.2.5 0 2.4 5 1.3 5 3.7 0 2.3-4.4 2.3-5.5.4"/>`,
}

// badge is a state for display: an icon, its colour and a word.
type badge struct {
	Class string // good, bad, wait (for a person), busy, done (merged) or off
	Shape string
	Word  string
}

// mark draws a shape. Screen readers skip it: a word is next to it.
func mark(shape, class string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="mark %s" viewBox="0 0 16 16" aria-hidden="true">%s</svg>`,
		class, shapes[shape])) //nolint:gosec // names of ours
}

// Mark is the badge's icon alone.
func (b badge) Mark() template.HTML { return mark(b.Shape, b.Class) }

var (
	goodMark = badge{"good", "check", ""}
	badMark  = badge{"bad", "x", ""}
	noMark   = badge{"off", "dot", ""}
)

// withWord is the badge with another word.
func (b badge) withWord(word string) badge { b.Word = word; return b }

// stateBadge is a task's state.
func stateBadge(t sia.Task) badge {
	switch t.State {
	case sia.Passed:
		if t.Pull.Merged {
			return badge{"done", "merge", "Merged"}
		}
		return goodMark.withWord("Passed")
	case sia.Stopped:
		return badge{"off", "slash", "Stopped"}
	case sia.Escalated:
		return badge{"wait", "ask", "Needs an answer"}
	case sia.OnHold:
		return badge{"wait", "pause", "Paused"}
	case sia.Queued:
		return badge{"off", "clock", "Queued"}
	case sia.Diagnosing, sia.Reviewing:
		return badge{"busy", "spin", "Diagnosing"}
	case sia.Checking:
		if render.AwaitsTestAcceptance(t) {
			return badge{"wait", "ask", "Needs a look"}
		}
	}
	return badge{"busy", "spin", text.Capital(stateWord(t.State))}
}

// stateWord is the display name of a task's state.
func stateWord(s sia.State) string {
	switch s {
	case sia.PushedOut:
		return "opening the pull request"
	case sia.Reviewing:
		return "reviewing the diagnosis"
	case sia.Announced:
		return "about to try again"
	case sia.Escalated:
		return "needs an answer"
	}
	return string(s)
}

// attemptBadge shows an attempt's outcome.
func attemptBadge(a sia.Attempt) badge {
	switch a.Outcome {
	case sia.AttemptPass:
		return goodMark.withWord("Passed")
	case sia.AttemptFail:
		return badMark.withWord("Failed")
	case sia.AttemptError:
		return badge{"bad", "x", "Not judged"}
	case sia.AttemptAsked:
		return badge{"wait", "ask", "Asked"}
	case sia.AttemptCancelled:
		return badge{"off", "slash", "Cancelled"}
	case sia.AttemptUnchanged:
		return badge{"off", "dot", "No change"}
	case "":
		if a.EndedAt.IsZero() {
			return badge{"busy", "spin", "Under way"}
		}
		return badge{"busy", "spin", "Being checked"}
	}
	return badge{"off", "dot", text.Capital(string(a.Outcome))}
}

// checkBadge shows a check's result.
func checkBadge(c sia.Check) badge {
	switch c.Colour {
	case sia.Green:
		return goodMark.withWord("passed")
	case sia.Red:
		return badMark.withWord("failed")
	case sia.Running:
		return badge{"busy", "spin", "running"}
	case sia.Blocked:
		return badge{"wait", "ask", "waits for a person"}
	}
	return badge{"off", "slash", string(c.Colour)}
}

// wordsOnly is a headline without its leading icon, which the badge replaces.
func wordsOnly(headline string) string {
	first, rest, found := strings.Cut(headline, " ")
	if found && !strings.ContainsFunc(first, unicode.IsLetter) {
		return rest
	}
	return headline
}

// ago is the time since at, in a word or two.
func ago(at, now time.Time) string {
	if d := now.Sub(at).Truncate(time.Minute); d > 0 {
		return lasted(d) + " ago"
	}
	return "just now"
}

// lasted is a duration in its largest unit, or its largest two if that is more precise: "12 s", "3 min 5 s", "1 h 5
// min".
func lasted(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 10*time.Minute && int(d.Seconds())%60 > 0:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 10*time.Hour && int(d.Minutes())%60 > 0:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return text.Count(int(d.Hours()/24), "day")
}

// attemptOf numbers an attempt among those that exist and those that may follow.
func attemptOf(t sia.Task, number int) string {
	n, most := max(1, number), max(1, len(t.Attempts))
	if left := t.ApproachesLeft(); left > 0 && !t.State.Final() {
		return fmt.Sprintf("Attempt %d of at most %d", n, most+left)
	}
	return fmt.Sprintf("Attempt %d of %d", n, most)
}

// attemptTook is an attempt's duration so far; empty before it started.
func attemptTook(a sia.Attempt, now time.Time) string {
	if a.StartedAt.IsZero() {
		return ""
	}
	end := a.EndedAt
	if end.IsZero() {
		end = now
	}
	return lasted(max(0, end.Sub(a.StartedAt)))
}

// coderOf names who made an attempt.
func coderOf(a sia.Attempt) string { return cmp.Or(a.Coder, a.Agent) }
