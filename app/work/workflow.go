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

// workflowsFolder holds what GitHub lets an app write with a permission of its own
// only; a push that changes something in it is refused whole.
// https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
const workflowsFolder = ".github/workflows/"

// workflowFiles are the workflow files that differ between two commits, and those of
// them that are there afterwards. Whether one may go is left to GitHub.
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

// maxWorkflows bounds how many workflow files are read beside those that are asked for by name.
const maxWorkflows = 50

// workflowsAt reads workflow files at the head, with those of the repository that they call. A path that ends in / is
// all files of a folder.
func (w *branchWorker) workflowsAt(ctx context.Context, t sia.Task, paths []string) ([]gate.File, error) {
	files := make([]gate.File, 0, len(paths))
	most := len(paths) + maxWorkflows
	add := func(path string) {
		if !slices.Contains(paths, path) && len(paths) < most {
			paths = append(paths, path)
		}
	}
	for i := 0; i < len(paths); i++ { // it grows
		path := paths[i]
		if folder, is := strings.CutSuffix(path, "/"); is {
			in, err := w.mirror(t).Files(ctx, string(t.Head), folder)
			if err != nil {
				return nil, fmt.Errorf("list the workflows: %w", err)
			}
			for _, f := range in {
				add(f.Path)
			}
			continue
		}
		content, err := w.mirror(t).ReadFile(ctx, string(t.Head), path, oldLimit)
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

// forbiddenWorkflows are those of the attempt's commit that GitHub would refuse: they
// differ from a commit that it has.
func (w *branchWorker) forbiddenWorkflows(ctx context.Context, t sia.Task, from, sha string) ([]string, error) {
	_, written, err := w.workflowFiles(ctx, t, from, sha)
	if err != nil || len(written) == 0 {
		return nil, err
	}
	may, err := w.repo(t).MayChangeWorkflows(ctx)
	if err != nil { // GitHub decides when it is pushed; the work is not lost to a question
		w.Logger.WarnContext(ctx, "permissions not known before a push", "task", t.ID, "error", err)
		return nil, nil
	}
	if may {
		return nil, nil
	}
	return written, nil
}

// refusedChange reads GitHub's refusal of a push because of its files. Trying again can't help,
// and no person has to act: the next attempt gets the reason.
func refusedChange(err error) (sia.PushRefused, bool) {
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
