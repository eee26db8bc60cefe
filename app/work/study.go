package work

import (
	"context"
	"fmt"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/technique"
)

// textStudy stores what a user's fix of a task has taught.
const textStudy = "study"

// studyResult is the result of studying a user's fix.
type studyResult struct {
	Fact      sia.FixStudied       `json:"fact"`
	Technique *technique.Technique `json:"technique,omitempty"` // to be proposed; nil: none
}

// study finds out how a user solved a task that SIA could not. A technique unlike any known one is proposed in a pull
// request with its file, for people to review.
func (w *learnWorker) study(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	if t.Fix != nil && t.Fix.Head == f.SHA {
		return sia.FixStudied{Fix: *t.Fix}, nil
	}
	out, err := askOnce(ctx, w.common, f, textStudy, string(f.SHA), func() (studyResult, error) {
		return w.requestStudy(ctx, t, f)
	})
	if err != nil {
		return nil, err
	}
	if p := out.Technique; p != nil {
		if out.Fact.Fix.PullURL, err = w.propose(ctx, t, out.Fact.Fix, *p); err != nil {
			return nil, err
		}
		out.Fact.Fix.Technique = p.ID
	}
	return out.Fact, nil
}

// requestStudy asks a model what a user's change teaches.
func (w *learnWorker) requestStudy(ctx context.Context, t sia.Task, f sia.Effect) (out studyResult, err error) {
	repo := w.mirror(t)
	if err := repo.FetchCommit(ctx, string(t.BaseSHA)); err != nil {
		return out, err
	}
	if err := repo.FetchCommit(ctx, string(f.SHA)); err != nil {
		return out, err
	}
	from, diff, err := w.fixDiff(ctx, t, f.SHA)
	if err != nil {
		return out, err
	}
	library, warning, err := w.Settings.Techniques(ctx, t)
	if err != nil {
		return out, err
	}
	in := diagnose.SolvedTask{Task: t, Diff: w.Secrets.Mask(diff.Patch), Library: library}
	for _, file := range diff.Files[:min(len(diff.Files), 50)] {
		in.Paths = append(in.Paths, file.Path)
	}
	if t.Credits.Left() <= 0 {
		in.NoModel = "the task's credits are used up"
	}
	learned, usage, err := w.Diagnoser.Study(ctx, in)
	if err != nil {
		return out, err
	}
	learned = sia.Masked(learned, w.Secrets.Mask) // before any of it is committed
	return studyResult{Technique: learned.Technique, Fact: sia.FixStudied{Cost: sia.CreditsOf(usage.USD), Warning: warning,
		Fix: sia.Fix{By: t.HeadBy, From: from, Head: f.SHA, Paths: in.Paths, Summary: learned.Summary,
			Resembles: learned.Resembles}}}, nil
}

// fixDiff compares the head that passed with SIA's last commit, or with the base if that commit is no longer
// available.
func (w *learnWorker) fixDiff(
	ctx context.Context, t sia.Task, head sia.SHA,
) (from sia.SHA, d gitops.Diff, err error) {
	repo := w.mirror(t)
	for i := len(t.Attempts) - 1; i >= 0; i-- {
		if from = t.Attempts[i].Head; from == "" {
			continue
		}
		if d, err = repo.Diff(ctx, string(from), string(head)); err == nil {
			return from, d, nil
		}
		w.Logger.WarnContext(ctx, "commit of an attempt is gone", "task", t.ID, "attempt", t.Attempts[i].Number, "error", err)
		break
	}
	d, err = repo.Diff(ctx, string(t.BaseSHA), string(head))
	return t.BaseSHA, d, err
}

// propose opens the pull request that adds a technique to the repository.
func (w *learnWorker) propose(
	ctx context.Context, t sia.Task, fix sia.Fix, p technique.Technique,
) (url string, err error) {
	file, err := technique.EncodeFile(p)
	if err != nil {
		return "", err
	}
	bot, err := w.author(ctx)
	if err != nil {
		return "", err
	}
	branch := fmt.Sprintf("sia/technique-%s-%d", p.ID, t.Issue)
	_, _, err = w.mirror(t).CommitFiles(ctx, gitops.FilesSpec{
		Branch: branch, Base: string(t.BaseSHA), Author: bot, Message: render.TechniqueTitle(p.Name),
		Update: func(func(string) ([]byte, error)) (map[string][]byte, error) {
			return map[string][]byte{technique.FilePath(p.ID): file}, nil
		},
	})
	if err != nil {
		return "", err
	}
	pull, err := w.repo(t).EnsurePull(ctx, github.NewPull{
		Head: branch, Base: t.BaseBranch, Title: render.TechniqueTitle(p.Name),
		Body: render.TechniqueBody(t, fix,
			render.Proposal{ID: p.ID, Name: p.Name, When: p.When, Prompt: p.Prompt, Path: technique.FilePath(p.ID)}, w.Links),
	})
	return pull.URL, err
}
