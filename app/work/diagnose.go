package work

import (
	"context"
	"errors"
	"strings"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/technique"
)

const (
	techniqueLimit = 64 << 10
	exampleLimit   = 32 << 10 // of a file that a diagnosis takes an example from
)

// diagnose works out why the attempt failed and what to try instead.
func (w *Worker) diagnose(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	turns, err := w.transcript(ctx, t, f.Attempt)
	if err != nil {
		return nil, err
	}
	diff, err := w.Store.Text(ctx, t.ID, f.Attempt, textDiff)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	repo := w.mirror(t)
	if err := repo.FetchCommit(ctx, t.BaseBranch, t.BaseSHA); err != nil {
		return nil, err
	}
	files, err := repo.Files(ctx, t.BaseSHA, "")
	if err != nil {
		return nil, err
	}
	library, warning, err := w.library(ctx, t, repo, files)
	if err != nil {
		return nil, err
	}
	in := diagnose.Input{
		Task: t, Attempt: *t.Attempt(), Transcript: agent.Markdown(turns, header(t, *t.Attempt())), Diff: diff,
		Library: library, Final: t.ApproachesLeft() == 0, Tools: w.Tools,
		Candidates: func(p sia.Pattern) []sia.Candidate { return library.Candidates(t, p, t.Refused, nil) },
		Files:      paths(files),
		Read:       func(path string) ([]byte, error) { return repo.ReadFile(ctx, t.BaseSHA, path, exampleLimit) },
	}
	if t.Credits.Left() <= 0 {
		in.NoModel = "the task's credits are used up"
	}
	d, usage, err := w.Diagnoser.Diagnose(ctx, in)
	if err != nil {
		return nil, err
	}
	return sia.Diagnosed{Diagnosis: d, Cost: credits(usage), Warning: warning}, nil
}

// library is the techniques that ship with SIA and the repository's own, from
// its base branch. A broken file is left out, and the warning says so.
func (w *Worker) library(ctx context.Context, t sia.Task, repo *gitops.Repo, files []gitops.File) (_ *technique.Library, warning string, _ error) {
	own := map[string][]byte{}
	for _, f := range files {
		if !strings.HasPrefix(f.Path, technique.Dir+"/") || !strings.HasSuffix(f.Path, ".md") {
			continue
		}
		b, err := repo.ReadFile(ctx, t.BaseSHA, f.Path, techniqueLimit)
		if err != nil {
			return nil, "", err
		}
		own[f.Path] = b
	}
	library, broken := technique.Load(own)
	if len(broken) > 0 {
		faults := make([]string, len(broken))
		for i, err := range broken {
			faults[i] = err.Error()
		}
		warning = "Left out, because it can't be read: " + strings.Join(faults, "; ")
	}
	return library, warning, nil
}

func paths(files []gitops.File) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.Path
	}
	return out
}
