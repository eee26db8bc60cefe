package signin

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/sia-bot/sia/app/expiring"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
)

// Bounds of GitHub requests for one person: the time of a request, and the pages of a hundred repositories that are
// read, for which there is more time.
const (
	askFor   = 10 * time.Second
	maxPages = 100
)

// isRevoked reports whether GitHub no longer accepts a sign-in's token.
func isRevoked(err error) bool { return errors.Is(err, github.ErrRevoked) }

// forge asks GitHub for people's rights.
type forge struct {
	people    *github.People
	installed Installed
	log       *slog.Logger
	counts    *expiring.Map[int64, int] // of repositories, by the installation's id
}

// viewer returns a person's rights: the repositories that both they and the app can access, with their roles.
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
	counting, cancel := context.WithTimeout(ctx, askFor)
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
			whole = f.repositoryCount(counting, in.ID) == len(in.Repos)
		}
		v.Installations = append(v.Installations, viewer.Installation{ID: in.ID, Account: in.Account, Whole: whole})
	}
	return v, ctx.Err()
}

// repositoryCount returns the number of an installation's repositories; -1: it is not known. The person's token lists
// only those that the person can access; only the app knows the total.
func (f forge) repositoryCount(ctx context.Context, installation int64) int {
	if n, ok := f.counts.Get(installation); ok {
		return n
	}
	n, err := f.installed.RepositoryCount(ctx, installation)
	if err != nil {
		f.log.WarnContext(ctx, "whether people administer all of an installation is not known",
			"installation", installation, "error", err)
		return -1
	}
	f.counts.Put(installation, n)
	return n
}

// roleOf maps GitHub's roles to SIA's. People with the triage role can't push, so their commands have no effect.
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
