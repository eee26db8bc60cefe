package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sia/text"
)

// multiRunAttempt is the task's present attempt if it has several runs; else nil.
func multiRunAttempt(t sia.Task) *sia.Attempt {
	a := t.Attempt()
	if a == nil || !a.Divided() || a.Outcome != "" {
		return nil
	}
	return a
}

// partsHead is the headline of an attempt of several runs in progress.
func partsHead(a sia.Attempt) string {
	s := fmt.Sprintf("🛠️ Attempt %d", a.Number)
	switch {
	case len(a.Parts) == 0:
		return s + " is being taken apart"
	case !a.EndedAt.IsZero():
		return s + " is about to be pushed"
	case a.Aggregating:
		return s + ": its parts are put together"
	case a.Structure == plan.Race:
		return s + " is under way: " + text.Count(len(a.Parts), "coder") + " at once"
	}
	return fmt.Sprintf("%s is under way: %d of %s done", s, partsIn(a, sia.PartDone), text.Count(len(a.Parts), "part"))
}

// partsIn counts an attempt's parts in a state.
func partsIn(a sia.Attempt, state sia.PartState) (n int) {
	for _, p := range a.Parts {
		if p.State == state {
			n++
		}
	}
	return n
}

// partsNow describes the current and the next step of an attempt of several runs. plans is the progress of the run that
// makes the plan.
func partsNow(a sia.Attempt, plans string) string {
	with := ""
	if a.Technique != "" {
		with = ", with " + approach(a)
	}
	const judges = "and the repository's checks decide."
	switch {
	case len(a.Parts) == 0:
		return "A coding agent reads the repository and takes the work apart" + with + plans +
			". The parts are then done, put " +
			"together and pushed, " + judges
	case !a.EndedAt.IsZero():
		return "What was done is pushed to the branch; the repository's checks decide."
	case a.Aggregating:
		return "What the parts changed is put together and tried as a whole. Then it is pushed, " + judges
	case a.Structure == plan.Race:
		return "Each coder does the whole task" + with + ". The change that does best by the tests in the " +
			"sandbox is pushed, " +
			judges
	}
	return "Coding agents work on its parts" + with + ". Once each holds, they are put together and pushed, " + judges
}

// The most words of a part's purpose that are visible.
const (
	leastOfPart = 4
	mostOfPart  = 12
)

// briefParts is the checklist of the present attempt's parts in at most room words, while they are worked on, with the
// progress of each if there is room. If not all fit, it lists those in progress.
func briefParts(t sia.Task, room int) string {
	a := multiRunAttempt(t)
	if a == nil || len(a.Parts) == 0 || t.State != sia.Working && t.State != sia.OnHold {
		return ""
	}
	quiet := *a
	quiet.Parts = slices.Clone(a.Parts)
	for i := range quiet.Parts {
		quiet.Parts[i].Progress = nil
	}
	for _, all := range []bool{true, false} {
		for _, shown := range []sia.Attempt{*a, quiet} {
			for most := mostOfPart; most >= leastOfPart; most-- {
				if s := briefPartList(shown, most, all); words(s) <= room {
					return s // also when it is empty: none is in progress
				}
			}
		}
	}
	return ""
}

// briefPartList shows the given number of words of each part, or, if all is false, of each that is neither done nor
// waits for others. It is empty where there are none.
func briefPartList(a sia.Attempt, most int, all bool) string {
	var b strings.Builder
	left := 0
	for i, p := range a.Parts {
		if !all && (p.State == sia.PartDone || p.State == sia.PartWaiting && p.Tries == 0) {
			left++
			continue
		}
		b.WriteString("- " + briefPart(p, i+1, most))
		if now := p.Progress; now != nil && now.Run == p.Run && p.State == sia.PartRunning {
			verdict, _, _ := strings.Cut(now.Tests, ":")
			b.WriteString(progressOf(sia.Progress{Turn: now.Turn, Tests: verdict}, 0))
		}
		b.WriteString("\n")
	}
	if b.Len() > 0 && left > 0 {
		fmt.Fprintf(&b, "- and %d more, done or waiting\n", left)
	}
	return b.String()
}

// briefPart is one part with most words of foreign text.
func briefPart(p sia.Part, number, most int) string {
	if p.Kind == sia.PartRacer {
		s := racerIcon(p) + " **" + few(p.Coder, 2) + "**"
		switch {
		case p.State == sia.PartDone:
			s += " — " + few(inSandbox(p), most)
		case p.State == sia.PartGivenUp:
			s += " — changed nothing"
		}
		if p.Pushed {
			s += "; checked"
		}
		return s
	}
	s := fmt.Sprintf("%s **%d.** ", partIcon(p.State), number)
	if trouble := briefTrouble(p, most/2); trouble != "" {
		return s + few(PartWords(p), max(3, most/2)) + " — " + Line(trouble, 0)
	}
	return s + few(PartWords(p), most)
}

// briefTrouble explains why a part is or is not tried again; empty if there was no failure.
func briefTrouble(p sia.Part, words int) string {
	why := PartTrouble(p, words)
	switch p.State {
	case sia.PartGivenUp:
		return strings.TrimSuffix("given up: "+why, ": ")
	case sia.PartFailed:
		return strings.TrimSuffix("failed: "+why, ": ")
	case sia.PartDone:
		return ""
	}
	if p.Tries == 0 {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf("try %d: %s", p.Tries+1, why), ": ")
}
