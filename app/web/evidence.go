package web

import (
	"net/http"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// lastChoices is how many of the last choices are shown with their reasons.
const lastChoices = 10

// tallyLine is a tally with its share and its display name.
type tallyLine struct {
	store.Tally
	Shown string      `json:"-"`
	Share share       `json:"resolved_share"`
	Each  sia.Credits `json:"credits_each,omitempty"` // per try
}

// evidencePage shows the results of techniques, or of coders.
type evidencePage struct {
	repoChoice
	Rows    []tallyLine    `json:"tallies"`
	Kinds   []tallyLine    `json:"by_kind,omitempty"` // of coders: by kind of task
	Choices []sia.Decision `json:"last_choices"`      // newest first
	Judged  int            `json:"-"`                 // those of them with a result
	Costs   bool           `json:"-"`                 // the cost of a try is known

	Models []llm.Probed `json:"models,omitempty"` // results of a conversation with each
}

func lines(all []store.Tally, shown func(string) string) []tallyLine {
	out := make([]tallyLine, len(all))
	for i, t := range all {
		out[i] = tallyLine{Tally: t, Shown: shown(t.Name), Share: shareOf(t.Resolved, t.Tried)}
		if t.Tried > 0 {
			out[i].Each = t.Cost / sia.Credits(t.Tried)
		}
	}
	return out
}

func (s *site) techniques(r *http.Request) (frame, error) {
	c, err := s.choice(r)
	if err != nil {
		return frame{}, err
	}
	p := evidencePage{repoChoice: c}
	all, err := s.From.TechniqueTallies(r.Context(), c.sight, c.Repo)
	if err != nil {
		return frame{}, err
	}
	p.Rows = lines(all, func(id string) string { return render.TechniqueName(sia.TechniqueID(id)) })
	err = s.choices(r, &p, sia.DecideTechnique)
	return frame{Title: "Techniques", Body: p}, err
}

// choices finds the last choices, and counts those with a result, which the results are based on.
func (s *site) choices(r *http.Request, p *evidencePage, typ sia.DecisionType) (err error) {
	p.Choices, err = s.From.LastDecisions(r.Context(), p.sight, p.Repo, typ, lastChoices)
	p.Judged = len(s.Advise.Mined(p.Choices))
	return err
}

func (s *site) coders(r *http.Request) (frame, error) {
	c, err := s.choice(r)
	if err != nil {
		return frame{}, err
	}
	p := evidencePage{repoChoice: c, Costs: true}
	all, err := s.From.CoderTallies(r.Context(), c.sight, c.Repo)
	if err != nil {
		return frame{}, err
	}
	p.Rows = lines(all, func(name string) string { return name })
	if all, err = s.From.CoderKindTallies(r.Context(), c.sight, c.Repo); err != nil {
		return frame{}, err
	}
	p.Kinds = lines(all, func(name string) string { return name })
	p.Models = s.Models.Probed()
	err = s.choices(r, &p, sia.DecideAssign)
	return frame{Title: "Coders", Body: p}, err
}

// patternsPage lists the failures that occurred.
type patternsPage struct {
	repoChoice
	Since    time.Time            `json:"since"`
	Patterns []store.PatternTally `json:"patterns"`
}

func (s *site) patterns(r *http.Request) (frame, error) {
	c, err := s.choice(r)
	if err != nil {
		return frame{}, err
	}
	p := patternsPage{repoChoice: c, Since: s.Now().AddDate(0, 0, -7)}
	p.Patterns, err = s.From.PatternTallies(r.Context(), c.sight, c.Repo, p.Since)
	return frame{Title: "Patterns of failure", Body: p}, err
}
