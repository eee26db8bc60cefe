package web

import (
	"fmt"
	"html/template"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/policies/mine"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// changeLine is a change of a policy in a list.
type changeLine struct {
	store.Experiment
	Stands evolve.Standing `json:"stands"`
}

// shownChanges is how many changes are listed, newest first.
const shownChanges = 100

// shownDecisions is how many of a type's last decisions the results cover.
const shownDecisions = 1000

// policiesPage is the policies in force, their results, and their changes.
type policiesPage struct {
	repoChoice
	InForce []policyLine `json:"in_force"` // in the repository, by type of decision
	Types   []typeLine   `json:"results"`  // of decisions; types without any are left out
	Changes []changeLine `json:"changes"`  // newest first
}

// policyLine is a policy that may apply.
type policyLine struct {
	Decision policies.Type `json:"decision"`
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Version  int           `json:"version"`
	Layer    string        `json:"layer"` // shipped, owner or repository
	Holds    string        `json:"holds"` // contexts in which it applies, in words
	Why      string        `json:"reasoning,omitempty"`
	Source   string        `json:"-"` // the file
}

// typeLine is the results of decisions of one type.
type typeLine struct {
	Decision policies.Type `json:"decision"`
	Options  []optionLine  `json:"options"`
	Versions []optionLine  `json:"versions"` // by version of the deciding policy
	// how much more often tasks were resolved with policies of the owner or the repository than with shipped ones, from
	// -1 to 1, with its 95 % interval; nil: only one kind decided
	Learned *difference `json:"learned_against_shipped,omitempty"`
}

// optionLine is the results of an option, or of a policy's version.
type optionLine struct {
	Name  string         `json:"name"`
	Share share          `json:"resolved_share"`
	Lot   *mine.Contrast `json:"where_chance_chose,omitempty"` // against the other options; nil: too few cases
}

// difference is a difference of shares, with its 95 % interval.
type difference struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Points formats a difference.
func (d difference) Points() string {
	return fmt.Sprintf("%+.0f points (95 %% confidence: %+.0f to %+.0f)", 100*d.Mean, 100*d.Low, 100*d.High)
}

// decides describes a type of decision. The description in a shipped policy's file is for readers of the file.
func decides(t policies.Type) string {
	switch t {
	case policies.TypeDecompose:
		return "Whether an attempt works on the task as a whole or in parts."
	case policies.TypeAssign:
		return "Which coder makes the next attempt."
	case policies.TypeRecover:
		return "What follows an attempt, or a part of one, that failed."
	case policies.TypeTechnique:
		return "Which technique the next attempt uses."
	case policies.TypeRerun:
		return "Whether checks that failed run again before the attempt is blamed."
	case policies.TypeInterrupt:
		return "Whether an attempt that gets nowhere is stopped."
	case policies.TypeEscalate:
		return "Whether a person is asked before another approach begins."
	}
	return ""
}

// inForce lists the policies that may apply in a repository.
func (s *site) inForce(r *http.Request, repo int64) (lines []policyLine, err error) {
	of, err := s.From.Repository(r.Context(), repo)
	if err != nil {
		return nil, err
	}
	set, err := s.Advise.InForce(r.Context(), of)
	if err != nil {
		return nil, err
	}
	general := map[policies.Type]bool{}
	for _, p := range set.All() {
		if general[p.Decision] {
			continue // an earlier one applies to everything
		}
		general[p.Decision] = p.Selector.Fits(policies.Context{Owner: of.Owner, Repository: of.String()})
		lines = append(lines, policyLine{p.Decision, p.ID(), p.Name, p.Version, p.Layer.String(), p.Selector.String(),
			text.FirstSentence(p.Reasoning), p.Source})
	}
	return lines, nil
}

// results counts the results of the last decisions of a type, by option and by the deciding policy.
func (s *site) results(r *http.Request, c repoChoice, typ policies.Type) (line typeLine, err error) {
	ds, err := s.From.LastDecisions(r.Context(), c.sight, c.Repo, sia.DecisionType(typ), shownDecisions)
	if err != nil {
		return line, err
	}
	slices.Reverse(ds) // oldest first
	line.Decision = typ
	for _, o := range mine.Options(s.Advise.Mined(ds)) {
		line.Options = append(line.Options, optionLine{o.Choice, shareOf(o.Resolved, o.Tried), o.Contrast})
	}
	by := map[string][]sia.Decision{}
	for _, d := range ds {
		by[d.Policy] = append(by[d.Policy], d)
	}
	shipped := policies.ShippedSet()
	var own, theirs share
	for _, id := range slices.Sorted(maps.Keys(by)) {
		resolved, known := 0, s.Advise.Mined(by[id])
		for _, m := range known {
			if m.Resolved {
				resolved++
			}
		}
		if len(known) == 0 {
			continue
		}
		line.Versions = append(line.Versions, optionLine{Name: id, Share: shareOf(resolved, len(known))})
		if _, ships := shipped.Find(id); ships {
			theirs.Of, theirs.In = theirs.Of+resolved, theirs.In+len(known)
		} else {
			own.Of, own.In = own.Of+resolved, own.In+len(known)
		}
	}
	if own.In > 0 && theirs.In > 0 {
		var d difference
		d.Mean, d.Low, d.High = mine.Difference(own.Of, own.In, theirs.Of, theirs.In)
		line.Learned = &d
	}
	return line, nil
}

// changesOf lists the changes visible to the viewer, newest first: those of policies for a repository that they see.
func (s *site) changesOf(r *http.Request) ([]store.Experiment, error) {
	all, err := s.From.Experiments(r.Context(), 0, false)
	v := viewer.From(r.Context())
	all = slices.DeleteFunc(all, func(x store.Experiment) bool { return !v.May(x.Place.ID, viewer.Reads) })
	slices.Reverse(all)
	return all, err
}

// changeState reads the state of a change.
func (s *site) changeState(r *http.Request, x store.Experiment) (changeLine, error) {
	rows, err := s.From.ExperimentTasks(r.Context(), x.ID)
	tasks := make([]evolve.Task, len(rows))
	for i, row := range rows {
		tasks[i] = row.Task
	}
	return changeLine{x, evolve.Stand(tasks, !x.PromotedAt.IsZero(), x.WatchedAt)}, err
}

// policies shows the policies in force, their results, and their changes.
func (s *site) policies(r *http.Request) (frame, error) {
	c, err := s.choiceOfOne(r)
	if err != nil {
		return frame{}, err
	}
	p := policiesPage{repoChoice: c, InForce: []policyLine{}, Types: []typeLine{}, Changes: []changeLine{}}
	if p.Repo != 0 {
		if p.InForce, err = s.inForce(r, p.Repo); err != nil {
			return frame{}, err
		}
	}
	for _, typ := range policies.Types() {
		line, err := s.results(r, p.repoChoice, typ)
		if err != nil {
			return frame{}, err
		}
		if len(line.Options) > 0 {
			p.Types = append(p.Types, line)
		}
	}
	all, err := s.changesOf(r)
	if err != nil {
		return frame{}, err
	}
	for _, x := range all[:min(len(all), shownChanges)] {
		l, err := s.changeState(r, x)
		if err != nil {
			return frame{}, err
		}
		p.Changes = append(p.Changes, l)
	}
	return frame{Title: "Policies", Body: p}, nil
}

// changePage is one change with its events.
type changePage struct {
	changeLine
	Events []store.ExperimentEvent `json:"events"`
	Chart  template.HTML           `json:"-"` // empty: no task has ended yet
}

func (s *site) change(r *http.Request) (frame, error) {
	all, err := s.changesOf(r)
	if err != nil {
		return frame{}, err
	}
	i := slices.IndexFunc(all, func(x store.Experiment) bool { return x.ID == r.PathValue("id") })
	if i < 0 {
		return frame{}, fmt.Errorf("change %q: %w", r.PathValue("id"), store.ErrNotFound)
	}
	p := changePage{}
	if p.changeLine, err = s.changeState(r, all[i]); err != nil {
		return frame{}, err
	}
	p.Chart = evidence(p.Stands.Course)
	p.Events, err = s.From.ExperimentEvents(r.Context(), p.ID)
	return frame{Title: p.Name + ": " + p.Change, Body: p}, err
}

const (
	chartWidth, chartHeight = 640, 180
	promoteAt               = 20.0 // where a change is promoted, see package evolve
	highest, lowest         = 100.0, .01
)

// evidence charts an experiment's evidence over time, on a logarithmic scale from 0.01 to 100. It contains only
// numbers.
func evidence(course []float64) template.HTML {
	if len(course) == 0 {
		return ""
	}
	y := func(e float64) float64 {
		e = min(highest, max(lowest, e))
		return chartHeight * (1 - math.Log(e/lowest)/math.Log(highest/lowest))
	}
	var points strings.Builder
	for i, e := range course {
		fmt.Fprintf(&points, "%.1f,%.1f ", float64(chartWidth*(i+1))/float64(len(course)), y(e))
	}
	last := course[len(course)-1]
	return template.HTML(fmt.Sprintf(`<svg class="chart" viewBox="0 0 %d %d" role="img" `+
		`aria-label="Evidence after each of %d tasks: now %.3g; at 20 the change is taken up.">`+
		`<line class="limit" x1="0" x2="%d" y1="%.1f" y2="%.1f"/><text x="4" y="%.1f">20: taken up</text>`+
		`<line class="even" x1="0" x2="%d" y1="%.1f" y2="%.1f"/><text x="4" y="%.1f">1: nothing known</text>`+
		`<polyline points="0,%.1f %s"/></svg>`,
		chartWidth, chartHeight, len(course), last, chartWidth, y(promoteAt), y(promoteAt), y(promoteAt)-4,
		chartWidth, y(1), y(1), y(1)-4, y(1), strings.TrimSpace(points.String()))) //nolint:gosec // only numbers
}
