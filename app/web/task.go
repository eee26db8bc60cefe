package web

import (
	"fmt"
	"net/http"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// taskPage is the timeline of one task.
type taskPage struct {
	sia.Task
	Headline  string
	Waiting   string
	Issue     string // addresses on GitHub
	PullURL   string
	Memory    string
	Events    []store.EventRecord
	Decisions []sia.Decision
}

func (s *site) task(r *http.Request) (frame, error) {
	id := sia.TaskID(r.PathValue("id"))
	t, err := s.from.Task(r.Context(), id)
	if err != nil {
		return frame{}, err
	}
	p := taskPage{Task: t, Headline: render.Headline(t), Waiting: render.Waiting(t),
		Issue: s.links.Issue(t.Repo, t.Issue), Memory: s.links.Memory(t)}
	if t.Pull.Number != 0 {
		p.PullURL = s.links.Pull(t.Repo, t.Pull.Number)
	}
	if p.Events, err = s.from.Events(r.Context(), id); err != nil {
		return frame{}, err
	}
	if p.Decisions, err = s.from.Decisions(r.Context(), id); err != nil {
		return frame{}, err
	}
	return frame{Title: fmt.Sprintf("%s#%d", t.Repo, t.Issue), Live: !t.State.Final(), Body: p}, nil
}
