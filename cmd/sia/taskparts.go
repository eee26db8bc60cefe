package main

import (
	"cmp"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
)

// showParts prints how an attempt was divided into parts, and for each part its state, its coder, what SIA observed,
// and its cost.
func showParts(e *cli.Env, a sia.Attempt, p func(format string, args ...any)) {
	if shape := render.ShapeName(a); shape != "" {
		p("  %s", shape)
	}
	if a.Shape != "" {
		p("    why: %s", a.Shape)
	}
	for i, part := range a.Parts {
		who := ""
		if coder := cmp.Or(part.Coder, a.Coder); coder != "" && part.Kind != sia.PartRacer {
			who = ", " + coder
		}
		p("  %d. %s  %s", i+1, colouredPart(e.Style, part.State), render.PartWords(part))
		p("     %s credits%s", part.Cost, who)
		if part.Kind == sia.PartRacer {
			p("     %s", render.RacerNote(a, part))
			continue
		}
		if part.Assigned != "" {
			p("     why %s: %s", part.Coder, part.Assigned)
		}
		if part.DoneWhen != "" {
			p("     done when %s", part.DoneWhen)
		}
		if part.State == sia.PartDone {
			p("     %s", render.PartSeen(a, i+1))
		}
		if why := render.PartTrouble(part, partTroubleWords); why != "" && part.Tries > 0 && part.State != sia.PartDone {
			p("     %s %s", e.Style.Red("✗"), why)
		}
	}
}

const partTroubleWords = 40

func colouredPart(s cli.Style, state sia.PartState) cli.Styled {
	switch state {
	case sia.PartDone:
		return s.Green(string(state))
	case sia.PartFailed, sia.PartGivenUp:
		return s.Red(string(state))
	case sia.PartRunning:
		return s.Amber(string(state))
	}
	return cli.Styled(state)
}
