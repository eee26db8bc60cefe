package signin

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
)

// Bounds of what is asked of GitHub for one person: the time of a question, and the pages of a hundred entries that one
// look at their repositories may have, for which there is more time.
const (
	askFor   = 10 * time.Second
	maxPages = 100
)

// isRevoked reports whether GitHub does not accept a sign-in any more.
func isRevoked(err error) bool { return errors.Is(err, github.ErrRevoked) }

// forge asks GitHub what people may see.
type forge struct {
	people    *github.People
	installed Installed
	log       *slog.Logger
}

// viewer is what a person may see: the repositories that both they and the app reach, with their role there.
func (f forge) viewer(ctx context.Context, s session) (viewer.Viewer, error) {
	v := viewer.Viewer{Actor: sia.Actor{Login: s.Login, ID: s.UserID}, Repos: map[int64]viewer.Role{}}
	reached, all, err := f.people.Reach(ctx, s.Token, maxPages)
	if err != nil {
		return viewer.Viewer{}, err
	}
	if !all {
		f.log.WarnContext(ctx, "a person reaches more repositories than are looked at; they see the first ones",
			"login", s.Login)
	}
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	for _, in := range reached {
		others := 0
		for id, permissions := range in.Repos {
			role := roleOf(permissions)
			if role > viewer.None {
				v.Repos[id] = role
			}
			if role != viewer.Administers {
				others++
			}
		}
		whole := in.AccountID == s.UserID
		if !whole && others == 0 && len(in.Repos) > 0 {
			if whole, err = f.administersAll(ctx, v, in.ID); err != nil {
				return viewer.Viewer{}, err
			}
		}
		v.Installations = append(v.Installations, viewer.Installation{ID: in.ID, Account: in.Account, Whole: whole})
	}
	return v, nil
}

// administersAll reports whether a person administers every repository of an installation. They see no more than they
// reach; how many there are in all, only the app knows.
func (f forge) administersAll(ctx context.Context, v viewer.Viewer, installation int64) (bool, error) {
	all, err := f.installed.Repositories(ctx, installation)
	if err != nil {
		return false, err
	}
	for _, r := range all {
		if v.Repos[r.ID] != viewer.Administers {
			return false, nil
		}
	}
	return true, nil
}

// roleOf is a role of GitHub's as SIA distinguishes them. Who triages can't push, so commands of theirs don't count.
// https://docs.github.com/en/organizations/managing-user-access-to-your-organizations-repositories/managing-repository-roles/repository-roles-for-an-organization
func roleOf(p map[string]bool) viewer.Role {
	switch {
	case p["admin"]:
		return viewer.Administers
	case p["maintain"] || p["push"]:
		return viewer.Writes
	case p["triage"] || p["pull"]:
		return viewer.Reads
	}
	return viewer.None
}
