package web

import (
	"html/template"
	"net/http"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
)

// Bounds of the first page.
const (
	shownWeeks   = 12
	shownWaiting = 20
	shownRunning = 20
	shownReady   = 20
	soughtReady  = 200 // those with the longest wait are among the tasks that have not changed for longest
)

// overviewPage summarises what SIA is doing.
type overviewPage struct {
	Week       store.Week        `json:"week"` // the last seven days
	Open       map[sia.State]int `json:"open"` // tasks that have not ended, by state
	Rate       share             `json:"success"`
	Weeks      []weekLine        `json:"weeks"`  // oldest first
	Paused     []string          `json:"paused"` // what is paused as a whole, one sentence each
	Waiting    []taskLine        `json:"waiting"`
	Changes    []waitingChange   `json:"changes"` // of policies, that wait for a person
	Ready      []taskLine        `json:"ready"`   // to review, the longest wait first
	Running    []taskLine        `json:"running"`
	WaitingAll int               `json:"waiting_all"`
	ReadyAll   int               `json:"ready_all"`
	RunningAll int               `json:"running_all"`
	Targets    []target          `json:"targets"` // over the last 30 days
	// recent attempts with tests that failed before the push, and how many of those passed all tests at the push
	Red      int           `json:"tests_failed_before_push"`
	Saved    int           `json:"saved_from_red"`
	MoreWait bool          `json:"-"` // than are listed
	Chart    template.HTML `json:"-"`
	Outcomes template.HTML `json:"-"`
}

// weekLine is a week with its cost per solved task.
type weekLine struct {
	store.Week
	PerSolved sia.Credits `json:"credits_per_solved"` // 0: no task was solved
}

// mayWait lists the states in which tasks may wait for a person, those with a question first.
func mayWait() []sia.State { return []sia.State{sia.Escalated, sia.Checking, sia.OnHold, sia.Passed} }

func (s *site) overview(r *http.Request) (frame, error) {
	ctx, sight := r.Context(), visibilityOf(viewer.From(r.Context()))
	var p overviewPage
	weeks, err := s.From.Weeks(ctx, sight, s.Now(), shownWeeks)
	if err != nil {
		return frame{}, err
	}
	for _, w := range weeks {
		l := weekLine{Week: w}
		if w.Passed > 0 {
			l.PerSolved = w.Spent / sia.Credits(w.Passed)
		}
		p.Weeks = append(p.Weeks, l)
	}
	p.Week = weeks[len(weeks)-1]
	p.Rate = shareOf(p.Week.Passed, p.Week.Passed+p.Week.Stopped)
	if p.Paused, err = s.pauses(r, sight); err != nil {
		return frame{}, err
	}
	if err = s.open(r, sight, &p); err != nil {
		return frame{}, err
	}
	if p.Changes, err = s.waitingChanges(r); err != nil {
		return frame{}, err
	}
	p.WaitingAll += len(p.Changes)
	p.Changes = p.Changes[:min(len(p.Changes), shownWaiting)]
	p.MoreWait = p.WaitingAll > len(p.Waiting)+len(p.Changes)
	counted, err := s.figures(r, sight)
	if err != nil {
		return frame{}, err
	}
	p.Targets = targetsOf(counted, p.Weeks)
	p.Red, p.Saved = counted.Red, counted.Saved
	p.Chart = weekChart(p.Weeks)
	p.Outcomes = outcomeBar(p.Week.Passed, p.Week.Stopped)
	return frame{Title: "Overview", Live: true, Body: p}, nil
}

// open lists and counts the tasks that wait for people, those to be reviewed, and those in progress.
func (s *site) open(r *http.Request, sight store.Visibility, p *overviewPage) error {
	p.Waiting = []taskLine{}
	for _, state := range mayWait() {
		tasks, err := s.From.FindTasks(r.Context(), sight, store.Find{States: []sia.State{state}, Limit: shownWaiting,
			Temperatures: []sia.Temperature{sia.Warm, sia.Cool}})
		if err != nil {
			return err
		}
		p.Waiting = append(p.Waiting, s.lines(r, tasks)...)
	}
	p.Waiting = p.Waiting[:min(len(p.Waiting), shownWaiting)]
	passed, err := s.From.FindTasks(r.Context(), sight, store.Find{Temperatures: []sia.Temperature{sia.Cold},
		Oldest: true, Limit: soughtReady})
	if err != nil {
		return err
	}
	slices.SortStableFunc(passed, func(a, b sia.Task) int { return a.Since.Compare(b.Since) })
	p.Ready = s.lines(r, passed[:min(len(passed), shownReady)])
	running, err := s.From.FindTasks(r.Context(), sight, store.Find{Temperatures: []sia.Temperature{sia.Hot},
		Limit: shownRunning})
	if err != nil {
		return err
	}
	p.Running = s.lines(r, running)
	counts, err := s.From.CountOpen(r.Context(), sight)
	p.Open = map[sia.State]int{}
	for _, c := range counts {
		if !c.State.Final() {
			p.Open[c.State] += c.Tasks
		}
		switch c.Temperature {
		case sia.Warm, sia.Cool:
			p.WaitingAll += c.Tasks
		case sia.Cold:
			p.ReadyAll += c.Tasks
		case sia.Hot:
			p.RunningAll += c.Tasks
		}
	}
	return err
}

// waitingChange is a change of a policy that waits for a person.
type waitingChange struct {
	ID      string    `json:"id"`
	Place   sia.Repo  `json:"place"`
	Name    string    `json:"name"` // of the policy
	Change  string    `json:"change"`
	Waits   string    `json:"waits"` // for what
	Pull    string    `json:"pull_url"`
	Created time.Time `json:"created_at"`
}

// waitingChanges lists the changes of policies that wait for people, the oldest first.
func (s *site) waitingChanges(r *http.Request) ([]waitingChange, error) {
	all, err := s.From.Experiments(r.Context(), 0, true)
	out := []waitingChange{}
	for _, x := range all {
		if x.Waits() && viewer.From(r.Context()).May(x.Place.ID, viewer.Reads) {
			out = append(out, waitingChange{ID: x.ID, Place: x.Place, Name: x.Name, Change: x.Change, Created: x.CreatedAt,
				Waits: render.PolicyWaiting(render.PolicyChange{Phase: string(x.Phase), Why: x.Why}),
				Pull:  s.Links.Pull(x.Place, x.Pull)})
		}
	}
	return out, err
}
