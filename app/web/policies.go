package web

import (
	"fmt"
	"html/template"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/policies/evolve"
)

// changeLine is a change of a policy in a list.
type changeLine struct {
	store.Experiment
	Stands evolve.Standing `json:"stands"`
}

// shownChanges is how many changes are listed, the newest.
const shownChanges = 100

// policiesPage is the changes of policies.
type policiesPage struct {
	Changes []changeLine `json:"changes"` // the newest first
}

// changesOf are the changes that a viewer may know of, the newest first: whose policy stands, or is
// to stand, in a repository that they see.
func (s *site) changesOf(r *http.Request) ([]store.Experiment, error) {
	all, err := s.From.Experiments(r.Context(), 0, false)
	v := viewer.From(r.Context())
	all = slices.DeleteFunc(all, func(x store.Experiment) bool { return !v.May(x.Place.ID, viewer.Reads) })
	slices.Reverse(all)
	return all, err
}

// stands reads how a change stands.
func (s *site) stands(r *http.Request, x store.Experiment) (changeLine, error) {
	rows, err := s.From.ExperimentTasks(r.Context(), x.ID)
	tasks := make([]evolve.Task, len(rows))
	for i, row := range rows {
		tasks[i] = row.Task
	}
	return changeLine{x, evolve.Stand(tasks, !x.PromotedAt.IsZero(), x.WatchedAt)}, err
}

// policies lists the changes of policies.
func (s *site) policies(r *http.Request) (frame, error) {
	all, err := s.changesOf(r)
	if err != nil {
		return frame{}, err
	}
	p := policiesPage{Changes: []changeLine{}}
	for _, x := range all[:min(len(all), shownChanges)] {
		l, err := s.stands(r, x)
		if err != nil {
			return frame{}, err
		}
		p.Changes = append(p.Changes, l)
	}
	return frame{Title: "Changes of policies", Body: p}, nil
}

// changePage is one change with everything that happened to it.
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
	if p.changeLine, err = s.stands(r, all[i]); err != nil {
		return frame{}, err
	}
	p.Chart = evidence(p.Stands.Course)
	p.Events, err = s.From.ExperimentEvents(r.Context(), p.ID)
	return frame{Title: p.Name + ": " + p.Change, Body: p}, err
}

const (
	chartWidth, chartHeight = 640, 180
	promoteAt               = 20.0 // where a change is taken up, see package evolve
	highest, lowest         = 100.0, .01
)

// evidence is the course of an experiment's evidence as a picture, on a logarithmic scale from 0.01
// to 100. It is made of numbers alone.
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
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" `+
		`aria-label="Evidence after each of %d tasks: now %.3g; at 20 the change is taken up.">`+
		`<line class="limit" x1="0" x2="%d" y1="%.1f" y2="%.1f"/><text x="4" y="%.1f">20: taken up</text>`+
		`<line class="even" x1="0" x2="%d" y1="%.1f" y2="%.1f"/><text x="4" y="%.1f">1: nothing known</text>`+
		`<polyline points="0,%.1f %s"/></svg>`,
		chartWidth, chartHeight, len(course), last, chartWidth, y(promoteAt), y(promoteAt), y(promoteAt)-4,
		chartWidth, y(1), y(1), y(1)-4, y(1), strings.TrimSpace(points.String()))) //nolint:gosec // numbers alone
}
