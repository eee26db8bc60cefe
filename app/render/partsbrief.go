package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sia/text"
)

// takenApart is the task's present attempt where it is worked on by several runs; else nil.
func takenApart(t sia.Task) *sia.Attempt {
	a := t.Attempt()
	if a == nil || !a.Divided() || a.Outcome != "" {
		return nil
	}
	return a
}

// partsHead is the headline of an attempt of several runs while they are made.
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

// partsNow says what happens in an attempt of several runs, and what comes next.
func partsNow(a sia.Attempt) string {
	with := ""
	if a.Technique != "" {
		with = ", with " + approach(a)
	}
	const judges = "and the repository's checks decide."
	switch {
	case len(a.Parts) == 0:
		return "A coding agent reads the repository and takes the work apart" + with + ". The parts are then done, put " +
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

// How many words of what a part is for are shown openly.
const (
	leastOfPart = 4
	mostOfPart  = 12
)

// briefParts is the check-list of the present attempt's parts in so many words at most, while
// they are worked on. Where there is no room for all, those count that something happens to.
func briefParts(t sia.Task, room int) string {
	a := takenApart(t)
	if a == nil || len(a.Parts) == 0 || t.State != sia.Working && t.State != sia.OnHold {
		return ""
	}
	for _, all := range []bool{true, false} {
		for most := mostOfPart; most >= leastOfPart; most-- {
			if s := briefPartList(*a, most, all); words(s) <= room {
				return s // also when it is empty: nothing happens to any
			}
		}
	}
	return ""
}

// briefPartList shows so many words of each part; without all, of each that is neither done
// nor waits for others. It is empty where that is none.
func briefPartList(a sia.Attempt, most int, all bool) string {
	var b strings.Builder
	left := 0
	for i, p := range a.Parts {
		if !all && (p.State == sia.PartDone || p.State == sia.PartWaiting && p.Tries == 0) {
			left++
			continue
		}
		b.WriteString("- " + briefPart(p, i+1, most) + "\n")
	}
	if b.Len() > 0 && left > 0 {
		fmt.Fprintf(&b, "- and %d more, done or waiting\n", left)
	}
	return b.String()
}

// briefPart is one part in so many words of others.
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

// briefTrouble is why a part has to be tried again, or is not; empty where all is well.
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

// partsProgress is the present attempt's parts for the check run: how far they are, and each.
func partsProgress(t sia.Task) string {
	a := takenApart(t)
	if a == nil || len(a.Parts) == 0 {
		return ""
	}
	var counts []string
	for _, c := range []struct {
		state sia.PartState
		words string
	}{{sia.PartDone, "done"}, {sia.PartRunning, "under way"}, {sia.PartFailed, "failed"}, {sia.PartGivenUp, "given up"},
		{sia.PartWaiting, "waiting"}} {
		if n := partsIn(*a, c.state); n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, c.words))
		}
	}
	s := "**Parts of attempt " + fmt.Sprint(a.Number) + ":** " + strings.Join(counts, ", ")
	if a.Structure == plan.Race {
		s = "**Coders at attempt " + fmt.Sprint(a.Number) + ":** " + strings.Join(counts, ", ")
	}
	return s + "\n\n" + briefPartList(*a, mostOfPart, true)
}
