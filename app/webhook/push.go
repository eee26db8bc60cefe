package webhook

import (
	"context"
	"slices"
	"strings"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
)

// Memory reads the memory branch of each repository. A push is only a hint that the branch may have changed; its
// content counts.
type Memory interface {
	// Edited reads a repository's memory branch after a push to it.
	Edited(ctx context.Context, installation int64, repo sia.Repo, by sia.Actor) error
	// Restore rebuilds the task of an issue if it was deleted from the database.
	Restore(ctx context.Context, installation int64, repo sia.Repo, issue int) error
}

// settingsFile is the path of a repository's settings.
const settingsFile = ".sia/config.yml"

// push is a push to a branch.
type push struct {
	repo      sia.Repo
	branch    string
	isDefault bool // to the default branch
	settings  bool // the settings may have changed
	by        sia.Actor
}

// maxCommits is the maximum number of commits in a push payload.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads#push
const maxCommits = 2048

// readPush reads "push": people edited memory or settings. The app's own pushes are skipped. A task's branch is
// covered by the events of its pull request, and a moved base is noticed when the next attempt begins. So most pushes
// need no request: those with a complete list of commits, none of which touches SIA's folder.
func readPush(payload any, r meta) ([]sia.Intent, *administration) {
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
		branch: branch, isDefault: branch == e.GetRepo().GetDefaultBranch(),
		settings: e.GetForced(), // the commits of a forced push don't list what it removed
		by:       sia.Actor{Login: e.GetSender().GetLogin(), ID: e.GetSender().GetID()},
	}
	readNeeded := e.GetForced() || len(e.Commits) == 0 || len(e.Commits) >= maxCommits
	for _, c := range e.Commits {
		for _, paths := range [][]string{c.Added, c.Modified, c.Removed} {
			readNeeded = readNeeded || slices.ContainsFunc(paths, isSIAPath)
			p.settings = p.settings || slices.ContainsFunc(paths, isSettings)
		}
	}
	if !readNeeded {
		return nil, nil
	}
	return nil, &administration{installation: e.GetInstallation().GetID(), pushed: p}
}

// isSIAPath reports whether a path lies in SIA's folder of settings, policies and memory.
func isSIAPath(path string) bool { return strings.HasPrefix(path, ".sia/") }

// isSettings reports whether a path is that of the settings or a policy.
func isSettings(path string) bool {
	return path == settingsFile || strings.HasPrefix(path, policies.Dir+"/")
}

// handlePush reads the memory or the settings that were pushed.
func (in *Intake) handlePush(ctx context.Context, installation int64, p push) error {
	if installation == 0 || p.repo.ID == 0 {
		return nil
	}
	isDefault := ""
	if p.isDefault {
		isDefault = p.branch
	}
	now, ok, err := in.registerRepository(ctx, installation, p.repo, isDefault)
	if err != nil || !ok {
		return err
	}
	installation, p.repo = now.Installation, now.Repo
	set, err := in.Settings.Settings(ctx, installation, p.repo)
	if err != nil {
		return err
	}
	switch {
	case p.isDefault: // never holds memory, even if the owner's settings name it
		if p.settings {
			return in.Settings.Edited(ctx, installation, p.repo, p.branch)
		}
	case p.branch == set.Memory.Branch:
		return in.Memory.Edited(ctx, installation, p.repo, p.by)
	}
	return nil
}
