package work

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sia/text"
)

// workflowsFolder contains the files for which an app needs a special permission; without it GitHub rejects the whole
// push.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
const workflowsFolder = ".github/workflows/"

// workflowFiles returns the workflow files that differ between two commits, and those of them that exist afterwards.
// Whether one may be deleted is left to GitHub.
func (w *branchWorker) workflowFiles(
	ctx context.Context, t sia.Task, from, to string,
) (touched, written []string, err error) {
	diff, err := w.mirror(t).Diff(ctx, from, to)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range diff.Files {
		switch {
		case strings.HasPrefix(f.Path, workflowsFolder):
			touched = append(touched, f.Path)
			if f.Status != gitops.FileDeleted {
				written = append(written, f.Path)
			}
		case strings.HasPrefix(f.OldPath, workflowsFolder):
			touched = append(touched, f.OldPath)
		}
	}
	return touched, written, nil
}

// maxWorkflows limits the workflow files that are read in addition to those requested by name.
const maxWorkflows = 50

// readWorkflows reads workflow files of a commit, and the files of the repository that they call. A path that ends in /
// means all files of a folder.
func (w *branchWorker) readWorkflows(
	ctx context.Context, t sia.Task, sha sia.SHA, paths []string,
) ([]gate.File, error) {
	files := make([]gate.File, 0, len(paths))
	most := len(paths) + maxWorkflows
	add := func(path string) {
		if !slices.Contains(paths, path) && len(paths) < most {
			paths = append(paths, path)
		}
	}
	for i := 0; i < len(paths); i++ { // paths grows
		path := paths[i]
		if folder, is := strings.CutSuffix(path, "/"); is {
			in, err := w.mirror(t).Files(ctx, string(sha), folder)
			if err != nil {
				return nil, fmt.Errorf("list the workflows: %w", err)
			}
			for _, f := range in {
				add(f.Path)
			}
			continue
		}
		content, err := w.mirror(t).ReadFile(ctx, string(sha), path, oldLimit)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			files = append(files, gate.File{Path: path, Gone: true})
		case errors.Is(err, gitops.ErrTooLarge):
			files = append(files, gate.File{Path: path, Unread: true})
		case err != nil:
			return nil, fmt.Errorf("read what the workflows do: %w", err)
		default:
			file := gate.ReadFile(path, content)
			files = append(files, file)
			for _, called := range file.Calls() {
				add(called)
			}
		}
	}
	return gate.ExpandCalls(files), nil
}

// forbiddenWorkflows returns the workflow files for which GitHub would reject the attempt's commit: those that differ
// from a commit on GitHub.
func (w *branchWorker) forbiddenWorkflows(ctx context.Context, t sia.Task, from, sha string) ([]string, error) {
	_, written, err := w.workflowFiles(ctx, t, from, sha)
	if err != nil || len(written) == 0 {
		return nil, err
	}
	may, err := w.repo(t).MayChangeWorkflows(ctx)
	if err != nil { // GitHub decides at the push; the work must not be lost because of this request
		w.Logger.WarnContext(ctx, "permissions not known before a push", "task", t.ID, "error", err)
		return nil, nil
	}
	if may {
		return nil, nil
	}
	return written, nil
}

// parseRefusal parses GitHub's rejection of a push because of its files. A retry can't help, and no user has to act:
// the next attempt gets the reason.
func parseRefusal(err error) (sia.PushRefused, bool) {
	var rejected *gitops.RejectedError
	if !errors.As(err, &rejected) {
		return sia.PushRefused{}, false
	}
	said := strings.ToLower(rejected.Reason)
	says := func(words string) bool { return strings.Contains(said, words) }
	switch {
	case says("refusing to allow") && says("workflow"):
		var paths []string
		if _, rest, ok := strings.Cut(rejected.Reason, workflowsFolder); ok {
			name, _, _ := strings.Cut(rest, "`")
			name, _, _ = strings.Cut(name, " ")
			paths = append(paths, workflowsFolder+text.Clip(name, 100))
		}
		return sia.PushRefused{Change: true, Reason: render.WorkflowsRefused(paths)}, true
	case rejected.OfFiles():
		return sia.PushRefused{Change: true, Reason: render.ChangeRefused(rejected.Reason)}, true
	}
	return sia.PushRefused{}, false
}
