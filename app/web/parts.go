package web

import (
	"html/template"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// troubleWords is how many words are shown of the reason why a part's last run failed.
const troubleWords = 40

// partFuncs are the template functions of parts.html.
var partFuncs = template.FuncMap{
	"shape":   render.ShapeName,
	"words":   render.PartWords,
	"seen":    func(a sia.Attempt, i int) string { return render.PartSeen(a, i+1) },
	"note":    render.RacerNote,
	"racer":   func(p sia.Part) bool { return p.Kind == sia.PartRacer },
	"trouble": func(p sia.Part) string { return render.PartTrouble(p, troubleWords) },
	"numbers": func(parts []int) string { return text.Numbered("part", parts) },
	"part":    partBadge,
}

// partBadge shows the state of a part of an attempt.
func partBadge(p sia.Part) badge {
	switch p.State {
	case sia.PartDone:
		return goodMark.withWord("done")
	case sia.PartRunning:
		return badge{"busy", "spin", "running"}
	case sia.PartFailed, sia.PartGivenUp:
		return badMark.withWord(string(p.State))
	}
	return badge{"off", "clock", string(p.State)}
}
