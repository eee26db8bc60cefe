package work

import (
	"context"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// change returns the files that the task's head changes against its base. It returns nil if they can't be read: the
// pull request's text is then written without them.
func (w *surfaceWorker) change(ctx context.Context, t sia.Task) []render.ChangedFile {
	if t.Head == "" || t.BaseSHA == "" {
		return nil
	}
	diff, err := w.mirror(t).Diff(ctx, string(t.BaseSHA), string(t.Head))
	if err != nil {
		w.Logger.WarnContext(ctx, "the pull request lists no files", "task", t.ID, "head", t.Head.Short(), "error", err)
		return nil
	}
	files := make([]render.ChangedFile, len(diff.Files))
	for i, f := range diff.Files {
		files[i] = render.ChangedFile{Path: f.Path, OldPath: f.OldPath, Status: string(f.Status), Added: f.Added,
			Deleted: f.Deleted, Generated: render.Generated(f.Path, f.FirstLines())}
	}
	return files
}
