package web

import (
	"fmt"
	"html/template"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies/evolve"
)

// changeLine is a change of a policy in a list.
type changeLine struct {
	store.Experiment
	Stands evolve.Standing
}

// changesOf are all changes with how each stands, the newest first.
func (s *site) changesOf(r *http.Request) ([]changeLine, error) {
	all, err := s.from.Experiments(r.Context(), 0, false)
	if err != nil {
		return nil, err
	}
	slices.Reverse(all)
	lines := make([]changeLine, len(all))
	for i, x := range all {
		rows, err := s.from.ExperimentTasks(r.Context(), x.ID)
		if err != nil {
			return nil, err
		}
		tasks := make([]evolve.Task, len(rows))
		for j, row := range rows {
			tasks[j] = row.Task
		}
		lines[i] = changeLine{x, evolve.Stand(tasks, !x.PromotedAt.IsZero(), x.WatchedAt)}
	}
	return lines, nil
}

// policies lists the changes of policies.
func (s *site) policies(r *http.Request) (frame, error) {
	lines, err := s.changesOf(r)
	return frame{Title: "Changes of policies", Body: lines}, err
}

// changePage is one change with everything that happened to it.
type changePage struct {
	changeLine
	Events []store.ExperimentEvent
	Chart  template.HTML // empty: no task has ended yet
}

func (s *site) change(r *http.Request) (frame, error) {
	lines, err := s.changesOf(r)
	if err != nil {
		return frame{}, err
	}
	i := slices.IndexFunc(lines, func(l changeLine) bool { return l.ID == r.PathValue("id") })
	if i < 0 {
		return frame{}, fmt.Errorf("change %q: %w", r.PathValue("id"), store.ErrNotFound)
	}
	p := changePage{changeLine: lines[i], Chart: evidence(lines[i].Stands.Course)}
	p.Events, err = s.from.ExperimentEvents(r.Context(), p.ID)
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
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="Evidence after each of %d tasks: now %.3g; at 20 the change is taken up.">`+
		`<line class="limit" x1="0" x2="%d" y1="%.1f" y2="%.1f"/><text x="4" y="%.1f">20: taken up</text>`+
		`<line class="even" x1="0" x2="%d" y1="%.1f" y2="%.1f"/><text x="4" y="%.1f">1: nothing known</text>`+
		`<polyline points="0,%.1f %s"/></svg>`,
		chartWidth, chartHeight, len(course), last, chartWidth, y(promoteAt), y(promoteAt), y(promoteAt)-4,
		chartWidth, y(1), y(1), y(1)-4, y(1), strings.TrimSpace(points.String()))) //nolint:gosec // numbers alone
}
