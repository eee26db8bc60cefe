package trial

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/sia-bot/sia/app/expiring"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/sia"
)

// OnGitHub is the [Forge] for repositories on GitHub.
type OnGitHub struct {
	github   *github.App
	git      *gitops.Cache
	store    Store
	settings Settings
	now      func() time.Time
	// reactions of users without permission when it was last checked
	unpermitted *expiring.Map[int64, bool]
}

// maxPermissionChecks limits the permission checks of one look, since any user may put a 👍.
const maxPermissionChecks = 20

// NewOnGitHub returns a forge for an app.
func NewOnGitHub(
	a *github.App, git *gitops.Cache, s Store, settings Settings, now func() time.Time,
) *OnGitHub {
	return &OnGitHub{github: a, git: git, store: s, settings: settings, now: now,
		unpermitted: expiring.New[int64, bool](now, unpermittedTTL, maxCachedReactions)}
}

func (f *OnGitHub) repo(x store.Experiment) *github.Repo {
	return f.github.Repo(x.Installation, x.Place)
}

func branchName(x store.Experiment) string { return "sia/policy-" + x.ID }

// commit commits a new source of the policy's file, on a branch from the default branch, and opens its pull request.
// was is the expected content, empty: no file. If the default branch has the source already, there is true, and pull is
// the previous pull request, if any.
func (f *OnGitHub) commit(
	ctx context.Context, x store.Experiment, branch, was, source, title, body string,
) (pull github.Pull, there bool, err error) {
	known, err := f.store.Repository(ctx, x.Place.ID)
	if err != nil {
		return pull, false, err
	}
	repo := f.repo(x)
	mirror := f.git.Repo(repo.Remote())
	base, err := mirror.Fetch(ctx, known.DefaultBranch)
	if err != nil {
		return pull, false, refusalError(err, branch)
	}
	is, err := mirror.ReadFile(ctx, base, x.File, maxPolicy)
	switch {
	case errors.Is(err, gitops.ErrTooLarge):
		return pull, false, ErrMoved
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return pull, false, err
	case string(is) == source:
		pull, _, err = repo.AnyPull(ctx, branch)
		return pull, true, err
	}
	bot, err := f.github.Author(ctx, f.now())
	if err != nil {
		return pull, false, err
	}
	var content []byte // nil removes the file
	if source != "" {
		content = []byte(source)
	}
	if _, _, err := mirror.CommitFiles(ctx, gitops.FilesSpec{Branch: branch, Base: base, Author: bot, Message: title,
		Update: func(read func(string) ([]byte, error)) (map[string][]byte, error) {
			is, err := read(x.File)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			if string(is) != was && string(is) != source { // otherwise it was committed before
				return nil, ErrMoved
			}
			return map[string][]byte{x.File: content}, nil
		},
	}); err != nil {
		return pull, false, refusalError(err, branch)
	}
	pull, err = repo.EnsurePull(ctx, github.NewPull{Head: branch, Base: known.DefaultBranch, Title: title, Body: body})
	return pull, false, err
}

// refusalError adds a message for users to a refusal of git that a retry can't solve.
func refusalError(err error, branch string) error {
	var (
		auth     *gitops.AuthError
		gone     *gitops.NotFoundError
		rejected *gitops.RejectedError
	)
	if errors.As(err, &auth) || errors.As(err, &gone) || errors.As(err, &rejected) {
		return &sia.Error{Op: "push " + branch, Message: "GitHub refuses it: the repository is archived or gone, a rule " +
			"protects the branch, or the app lacks the permission \"contents: write\"", Permanent: true, Err: err}
	}
	return err
}

// maxPolicy is the maximum size of a policy's file, in bytes.
const maxPolicy = 64 << 10

// Open implements Forge.
func (f *OnGitHub) Open(ctx context.Context, x store.Experiment, source string) (OpenedPull, error) {
	c, err := f.policyChange(ctx, x, evolve.Standing{})
	if err != nil {
		return OpenedPull{}, err
	}
	was, err := f.store.PolicyVersion(ctx, x.Present)
	if err != nil {
		return OpenedPull{}, err
	}
	c.Diff = unified(was, source)
	if _, ships := policies.ShippedSet().Find(x.Present); ships {
		was = "" // the file is created by the change
	}
	pull, there, err := f.commit(ctx, x, branchName(x), was, source, render.PolicyTitle(c), render.PolicyBody(c))
	if err == nil && there && pull.Number == 0 {
		err = ErrMoved // somebody else made the same change
	}
	return OpenedPull{pull.Number, pull.URL, pull.HeadSHA}, err
}

// unified returns the hunks of a unified diff of two files; "" if they are equal.
func unified(was, now string) string {
	d := string(diff.Diff("was", []byte(was), "now", []byte(now)))
	_, d, _ = strings.Cut(d, "\n+++ now\n") // the header contains the file names
	return strings.TrimSuffix(d, "\n")
}

// policyChange describes a change for users.
func (f *OnGitHub) policyChange(
	ctx context.Context, x store.Experiment, n evolve.Standing,
) (render.PolicyChange, error) {
	set, err := f.settings.Settings(ctx, x.Installation, x.Place)
	if err != nil {
		return render.PolicyChange{}, err
	}
	c := render.PolicyChange{
		Decision: x.Decision, Name: x.Name, File: x.File, Change: x.Change, Reason: x.Reason,
		By: strings.TrimPrefix(x.By, "@"), Person: strings.HasPrefix(x.By, "@"), Number: x.Number, Gate: x.Gate,
		Phase: string(x.Phase), Why: x.Why, Everywhere: !x.Alone, Place: x.Place,
		Present: [2]int{n.Present.Resolved, n.Present.Tried}, Candidate: [2]int{n.Candidate.Resolved, n.Candidate.Tried},
		Open: n.Open, E: n.E, Harm: n.Harm, Usual: [2]int{n.Usual, evolve.FewestUsual},
		Waits: concernsPeople(x) || set.Policies.Autonomy != sia.AutonomyExperiment,
	}
	for _, g := range n.Guards {
		c.Guards = append(c.Guards,
			render.PolicyGuard{Metric: g.Metric, Before: g.Before, Well: g.With.Resolved, Tried: g.With.Tried,
				Alarm: g.Whose == evolve.TheChanges})
	}
	return c, nil
}

// Look implements Forge. A 👍 counts if its author may command SIA there.
func (f *OnGitHub) Look(ctx context.Context, x store.Experiment) (s PullState, err error) {
	repo := f.repo(x)
	pull, err := repo.Pull(ctx, x.Pull)
	if err != nil {
		return s, err
	}
	s.Open, s.Merged = pull.State == "open", pull.Merged
	if !s.Open || x.Comment == 0 || x.Phase != store.ExperimentProposed {
		return s, nil
	}
	self, err := f.github.Self(ctx)
	if err != nil {
		return s, err
	}
	set, err := f.settings.Settings(ctx, x.Installation, x.Place)
	if err != nil {
		return s, err
	}
	reactions, err := repo.Reactions(ctx, x.Comment)
	if err != nil {
		return s, err
	}
	asked := 0
	for _, r := range reactions {
		_, unpermitted := f.unpermitted.Get(r.ID)
		if r.Content != "+1" || r.Author == self.Login || strings.HasSuffix(r.Author, "[bot]") || unpermitted {
			continue
		}
		if asked++; asked > maxPermissionChecks {
			break // the next look checks the others
		}
		have, err := repo.Permission(ctx, r.Author)
		if err != nil {
			return s, err
		}
		if sia.Covers(have, set.Access.CommandPermission) {
			s.ApprovedBy = r.Author
			break
		}
		f.unpermitted.Put(r.ID, true)
	}
	return s, nil
}

// How long a reaction of a user without permission is remembered, and how many are: a user who gets the permission
// meanwhile has to remove the 👍 and add it again.
const (
	unpermittedTTL     = 24 * time.Hour
	maxCachedReactions = 10_000
)

// UpsertComment implements Forge.
func (f *OnGitHub) UpsertComment(ctx context.Context, x store.Experiment, n evolve.Standing) (id int64, err error) {
	if x.Pull == 0 {
		return 0, nil
	}
	c, err := f.policyChange(ctx, x, n)
	if err != nil {
		return 0, err
	}
	comment, err := f.repo(x).UpsertComment(ctx, x.Pull, render.PolicyMarker(x.ID), render.PolicyComment(c), x.Comment)
	return comment.ID, err
}

// Merge implements Forge. It merges only the tested commit, without additions by others.
func (f *OnGitHub) Merge(ctx context.Context, x store.Experiment) (merged bool, why string, err error) {
	repo := f.repo(x)
	head, ok, err := repo.Head(ctx, branchName(x))
	switch {
	case err != nil:
		return false, "", err
	case !ok:
		return false, "its branch is gone", nil
	case head != x.Head:
		return false, "somebody changed its branch, so what would be merged is not what was tried", nil
	}
	return repo.Merge(ctx, x.Pull, head)
}

// Close implements Forge.
func (f *OnGitHub) Close(ctx context.Context, x store.Experiment) error {
	return f.repo(x).Close(ctx, x.Pull)
}

// Revert implements Forge.
func (f *OnGitHub) Revert(ctx context.Context, x store.Experiment, source string) (url string, merged bool, err error) {
	c, err := f.policyChange(ctx, x, evolve.Standing{})
	if err != nil {
		return "", false, err
	}
	candidate, err := f.store.PolicyVersion(ctx, x.Candidate)
	if err != nil {
		return "", false, err
	}
	pull, there, err := f.commit(ctx, x, branchName(x)+"-back", candidate, source, render.PolicyRevertTitle(c),
		render.PolicyRevertBody(c, x.PullURL))
	switch {
	case err != nil:
		return "", false, err
	case there && !pull.Merged:
		return "", true, nil
	case there:
		return pull.URL, true, nil
	}
	merged, _, err = f.repo(x).Merge(ctx, pull.Number, pull.HeadSHA)
	return pull.URL, merged, err
}
