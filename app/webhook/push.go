package webhook

import (
	"context"
	"slices"
	"strings"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
)

// Memory is the memory branch of each repository. A push is only the hint that something may have
// changed there; what counts is what stands on the branch.
type Memory interface {
	// Edited reads a repository's memory branch after somebody pushed to it.
	Edited(ctx context.Context, installation int64, repo sia.Repo, by sia.Actor) error
	// Restore rebuilds the task of an issue when it was deleted from the database.
	Restore(ctx context.Context, installation int64, repo sia.Repo, issue int) error
}

// settingsFile is where a repository keeps its settings.
const settingsFile = ".sia/config.yml"

// push is what was pushed to a branch.
type push struct {
	repo     sia.Repo
	branch   string
	standard bool // to the default branch
	settings bool // the settings may have changed
	by       sia.Actor
}

// maxCommits is how many commits of a push GitHub tells at most.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads#push
const maxCommits = 2048

// readPush reads "push": people edited memory or settings. What the app pushes
// itself it knows; a task's branch is followed by its pull request's events; and
// that the base moved is seen when the next attempt begins. So most pushes are
// nothing to SIA, and cost it no request: those with all their commits told, none
// of which touches SIA's folder.
func readPush(payload any, r reading) ([]sia.Intent, *administration) {
	e, ok := payload.(*gh.PushEvent)
	branch, isBranch := strings.CutPrefix(e.GetRef(), "refs/heads/")
	if !ok || !isBranch || e.GetDeleted() || e.GetRepo() == nil || e.GetSender().GetLogin() == r.slug+"[bot]" {
		return nil, nil
	}
	owner := e.GetRepo().GetOwner().GetLogin()
	if owner == "" {
		owner = e.GetRepo().GetOwner().GetName()
	}
	p := &push{
		repo:   sia.Repo{ID: e.GetRepo().GetID(), Owner: owner, Name: e.GetRepo().GetName()},
		branch: branch, standard: branch == e.GetRepo().GetDefaultBranch(),
		settings: e.GetForced(), // its commits don't tell what is gone
		by:       sia.Actor{Login: e.GetSender().GetLogin(), ID: e.GetSender().GetID()},
	}
	ours := e.GetForced() || len(e.Commits) == 0 || len(e.Commits) >= maxCommits
	for _, c := range e.Commits {
		for _, paths := range [][]string{c.Added, c.Modified, c.Removed} {
			ours = ours || slices.ContainsFunc(paths, isOurs)
			p.settings = p.settings || slices.ContainsFunc(paths, isSettings)
		}
	}
	if !ours {
		return nil, nil
	}
	return nil, &administration{installation: e.GetInstallation().GetID(), pushed: p}
}

// isOurs reports whether a path lies in SIA's folder, of settings, policies and memory.
func isOurs(path string) bool { return strings.HasPrefix(path, ".sia/") }

// isSettings reports whether a path is the settings file's, or a policy's.
func isSettings(path string) bool {
	return path == settingsFile || strings.HasPrefix(path, policies.Dir+"/")
}

// pushed has read what somebody pushed.
func (in *Intake) pushed(ctx context.Context, installation int64, p push) error {
	if installation == 0 || p.repo.ID == 0 {
		return nil
	}
	standard := ""
	if p.standard {
		standard = p.branch
	}
	now, ok, err := in.registerRepository(ctx, installation, p.repo, standard)
	if err != nil || !ok {
		return err
	}
	installation, p.repo = now.Installation, now.Repo
	set, err := in.Settings.Settings(ctx, installation, p.repo)
	if err != nil {
		return err
	}
	switch {
	case p.branch == set.Memory.Branch:
		return in.Memory.Edited(ctx, installation, p.repo, p.by)
	case p.standard && p.settings:
		return in.Settings.Edited(ctx, installation, p.repo, p.branch)
	}
	return nil
}
