package web

import (
	"net/http"
	"slices"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// pauses lists the pauses within the viewer's visibility, one sentence each, the widest first.
func (s *site) pauses(r *http.Request, sight store.Visibility) ([]string, error) {
	halts, err := s.From.Halts(r.Context())
	if err != nil || len(halts) == 0 {
		return []string{}, err
	}
	repos, err := s.From.SeenRepositories(r.Context(), sight)
	all := []string{}
	for _, h := range halts {
		i := slices.IndexFunc(repos, func(repo store.Repository) bool {
			return slices.Contains(sia.HaltScopes(repo.Installation, repo.ID), h.Scope)
		})
		switch {
		case h.Scope == sia.ServerHalt:
			all = append([]string{render.HaltSentence(h.Reason, h.Scope, h.Actor().Operator)}, all...)
		case i >= 0 && h.Scope == sia.RepositoryHalt(repos[i].ID):
			all = append(all, repos[i].String()+": "+render.HaltSentence(h.Reason, h.Scope, h.Actor().Operator))
		case i >= 0:
			all = append(all, repos[i].Owner+": "+render.HaltSentence(h.Reason, h.Scope, h.Actor().Operator))
		}
	}
	return all, err
}

// pauseOf is the pause that includes a task, as a sentence; empty: none.
func (s *site) pauseOf(r *http.Request, t sia.Task) (string, error) {
	halts, err := s.From.Halts(r.Context())
	for _, h := range halts {
		if slices.Contains(sia.HaltScopes(t.Installation, t.Repo.ID), h.Scope) {
			return render.HaltSentence(h.Reason, h.Scope, h.Actor().Operator), err
		}
	}
	return "", err
}
