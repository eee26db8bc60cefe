package web

import (
	"net/http"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// shownTasks is how many tasks the first page lists.
const shownTasks = 200

// taskLine is one task in a list.
type taskLine struct {
	sia.Task
	Headline string
	Issue    string // address on GitHub
}

// tasks lists what SIA is doing and did last.
func (s *site) tasks(r *http.Request) (frame, error) {
	all, err := s.from.Tasks(r.Context(), store.Filter{Limit: shownTasks})
	if err != nil {
		return frame{}, err
	}
	lines := make([]taskLine, len(all))
	live := false
	for i, t := range all {
		lines[i] = taskLine{Task: t, Headline: render.Headline(t), Issue: s.links.Issue(t.Repo, t.Issue)}
		live = live || !t.State.Final()
	}
	return frame{Title: "What SIA is doing", Live: live, Body: lines}, nil
}
