package web

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
)

// shownWaits is how many attempts that wait for a runner are listed, longest wait first.
const shownWaits = 20

// runnersPage lists the runners, and the attempts that wait for one.
type runnersPage struct {
	Runners    []runnerLine `json:"runners"` // by name
	Waiting    []madeLine   `json:"waiting"` // longest wait first
	WaitingAll int          `json:"waiting_all"`
}

// runnerLine is a runner.
type runnerLine struct {
	Name  string     `json:"name"`
	About string     `json:"about,omitempty"` // its version, and whether it has a sandbox
	Seen  *time.Time `json:"seen,omitempty"`  // nil: never
	Makes []madeLine `json:"makes"`
	Badge badge      `json:"-"`
}

// madeLine is an attempt that a runner works on, or that waits for one.
type madeLine struct {
	Task    sia.TaskID `json:"task"`
	Attempt int        `json:"attempt"`
	Title   string     `json:"title,omitempty"` // of the task
	Since   time.Time  `json:"since"`           // when it was offered to runners
}

// administersServer reports whether the viewer administers every installation of this server. Only they see the
// server's own data, such as its runners.
func (s *site) administersServer(r *http.Request) (bool, error) {
	v := viewer.From(r.Context())
	if v.Operator || !(frame{Viewer: v}).Rules() {
		return v.Operator, nil
	}
	all, err := s.From.Installations(r.Context())
	others := func(in store.Installation) bool { return !v.Administers(in.ID) }
	return err == nil && len(all) > 0 && !slices.ContainsFunc(all, others), err
}

func (s *site) runners(r *http.Request) (frame, error) {
	if rules, err := s.administersServer(r); err != nil || !rules {
		return frame{}, errors.Join(err, fmt.Errorf("the runners are not the viewer's: %w", store.ErrNotFound))
	}
	all, err := s.From.Runners(r.Context())
	if err != nil {
		return frame{}, err
	}
	standings, err := s.From.RunnerStandings(r.Context())
	if err != nil {
		return frame{}, err
	}
	p := runnersPage{Runners: make([]runnerLine, len(all)), Waiting: []madeLine{}}
	for i, of := range all {
		l := runnerLine{Name: of.Name, About: of.About, Makes: []madeLine{}}
		if !of.Seen.IsZero() {
			l.Seen = &of.Seen
		}
		for _, a := range standings {
			if slices.Contains(of.Attempts, a.Key) {
				l.Makes = append(l.Makes, s.made(r, a))
			}
		}
		switch {
		case len(l.Makes) > 0:
			l.Badge = badge{"busy", "spin", "Works"}
		case l.Seen == nil:
			l.Badge = badge{"off", "dot", "Never seen"}
		case of.Away(s.Now()):
			l.Badge = badge{"off", "slash", "Away"}
		default:
			l.Badge = goodMark.withWord("Ready")
		}
		p.Runners[i] = l
	}
	for _, a := range standings {
		if a.State != store.RunnerOffered {
			continue
		}
		if p.WaitingAll++; p.WaitingAll <= shownWaits {
			p.Waiting = append(p.Waiting, s.made(r, a))
		}
	}
	return frame{Title: "Runners", Live: true, Of: r.URL.Path, Body: p}, nil
}

// runnersPulse changes whenever the runners page does, except for the times at which runners were last seen.
func (s *site) runnersPulse(r *http.Request) (string, error) {
	if rules, err := s.administersServer(r); err != nil || !rules {
		return "", errors.Join(err, fmt.Errorf("the runners are not the viewer's: %w", store.ErrNotFound))
	}
	all, err := s.From.Runners(r.Context())
	if err != nil {
		return "", err
	}
	standings, err := s.From.RunnerStandings(r.Context())
	h := fnv.New64a()
	for _, of := range all {
		fmt.Fprintln(h, of.Name, of.About, of.Seen.IsZero(), of.Away(s.Now()), of.Attempts)
	}
	fmt.Fprintln(h, standings)
	return fmt.Sprintf("%x", h.Sum64()), err
}

// made is an attempt as offered to runners.
func (s *site) made(r *http.Request, a store.RunnerStanding) madeLine {
	l := madeLine{Task: a.Task, Attempt: a.Attempt(), Since: a.Since}
	if t, err := s.From.Task(r.Context(), a.Task); err == nil {
		l.Title = t.Title
	}
	return l
}
