package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/memory"
	"github.com/sia-bot/sia/sia/text"
)

// The targets cover recently changed tasks. They are cached for viewers of the same repositories, because many tasks
// have to be read.
const (
	targetsOver  = 30 * 24 * time.Hour
	targetsFresh = 5 * time.Minute
	targetTasks  = 2000 // at most, the latest
	keptFigures  = 64   // viewers
)

// target is a figure with a goal (docs/rules.md#targets).
type target struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"` // a share in 0–1, or a number; 0 if Known is false
	Known bool    `json:"known"` // there was something to measure
	Met   bool    `json:"met"`
	// the whole 95 % interval is on that side of the bound; equals Known if it is no share
	Sure  bool    `json:"sure"`
	Share *share  `json:"share,omitempty"` // nil: no share
	Bound float64 `json:"bound,omitempty"` // the goal; 0: it should fall
	Below bool    `json:"below,omitempty"` // the value should be below Bound
	Shown string  `json:"-"`               // the value, for people
	Wants string  `json:"-"`               // the target, for people
}

// Badge shows a target: met, missed, not measured or not yet comparable, or a half mark where too few tasks make that
// uncertain.
func (t target) Badge() badge {
	b := badMark.withWord("missed")
	if t.Met {
		b = goodMark.withWord("met")
	}
	switch {
	case !t.Known && t.Shown != "":
		return noMark.withWord("nothing earlier to compare with yet")
	case !t.Known:
		return noMark.withWord("not measured yet")
	case !t.Sure:
		b.Shape, b.Word = "half", b.Word+" so far, by too few tasks to be sure"
	}
	return b
}

// figures are those of the tasks visible to a viewer.
func (s *site) figures(r *http.Request, sight store.Visibility) (memory.Figures, error) {
	who := viewer.From(r.Context())
	key := "all"
	if !who.Operator {
		var ids []int64
		for id := range who.Repos {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		key = fmt.Sprint(ids)
	}
	if f, ok := s.targets.Get(key); ok {
		return f, nil
	}
	f, err := s.count(r.Context(), sight, s.Now())
	if err == nil {
		s.targets.Put(key, f)
	}
	return f, err
}

func (s *site) count(ctx context.Context, sight store.Visibility, now time.Time) (memory.Figures, error) {
	tasks, err := s.From.FindTasks(ctx, sight, store.Find{From: now.Add(-targetsOver), Limit: targetTasks})
	return memory.Tally(tasks), err
}

// targetsOf compares figures with their goals. weeks are the last twelve, oldest first.
func targetsOf(f memory.Figures, weeks []weekLine) []target {
	part := func(name string, n, of int, bound float64, below bool) target {
		sh := shareOf(n, of)
		t := target{Name: name, Value: sh.Mean(), Known: of > 0, Share: &sh, Bound: bound, Below: below,
			Met: of > 0 && (below && sh.Mean() < bound || !below && sh.Mean() > bound)}
		t.Sure = t.Known && (sh.Low > bound || sh.High < bound)
		if t.Known {
			t.Shown = text.Percent(t.Value)
		}
		if t.Wants = "> "; below {
			t.Wants = "< "
		}
		t.Wants += text.Percent(bound)
		return t
	}
	all := []target{
		part("Interventions that resolve", f.Resolved, f.Judged, .7, false),
		part("Resolved by the first technique", f.First, f.Intervened, .5, false),
		part("Escalated to a person", f.Escalated, f.Tasks, .3, true),
	}
	tried := target{Name: "Techniques per resolution", Known: f.Rescued > 0, Bound: 3, Below: true, Wants: "< 3"}
	if tried.Known {
		tried.Value = float64(f.Tried) / float64(f.Rescued)
		tried.Sure, tried.Met, tried.Shown = true, tried.Value < tried.Bound, fmt.Sprintf("%.1f", tried.Value)
	}
	return append(all, tried, falling(weeks))
}

// falling compares the cost of a solved task in the last four weeks with that in the eight before.
func falling(weeks []weekLine) target {
	each := func(weeks []weekLine) float64 {
		var spent sia.Credits
		passed := 0
		for _, w := range weeks {
			spent, passed = spent+w.Spent, passed+w.Passed
		}
		if passed == 0 {
			return 0
		}
		return float64(spent) / float64(sia.Credit) / float64(passed)
	}
	cut := max(0, len(weeks)-4)
	before, now := each(weeks[:cut]), each(weeks[cut:])
	t := target{Name: "Credits per solved task", Value: now, Wants: "falling", Known: before > 0 && now > 0}
	t.Sure, t.Met = t.Known, t.Known && now < before
	switch {
	case t.Known:
		t.Shown = fmt.Sprintf("%.1f, was %.1f", now, before)
	case now > 0:
		t.Shown = fmt.Sprintf("%.1f", now)
	}
	return t
}
