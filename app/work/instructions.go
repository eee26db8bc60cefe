package work

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// instructionFiles are read from the base branch, never from the task's branch, which a stranger may have written. The
// first has the highest priority.
var instructionFiles = []string{".sia/instructions.md", "AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md"}

const instructionLimit = 256 << 10

// tree reads files of a commit. [gitops.Repo] implements it.
type tree interface {
	Files(ctx context.Context, sha, prefix string) ([]gitops.File, error)
	ReadFile(ctx context.Context, sha, name string, limit int64) ([]byte, error)
}

// instructions returns a repository's instructions for agents at a base commit, and notes about omitted ones.
func instructions(ctx context.Context, base tree, sha string) (found []agent.Instruction, leftOut []string, _ error) {
	for _, name := range instructionFiles {
		text, err := instruction(ctx, base, sha, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, gitops.ErrTooLarge):
			leftOut = append(leftOut, fmt.Sprintf("%s was left out: it has more than %d KiB", name, instructionLimit>>10))
			continue
		case err != nil:
			return nil, nil, err
		}
		i := slices.IndexFunc(found, func(f agent.Instruction) bool { return f.Text == text })
		switch {
		case strings.TrimSpace(text) == "":
		case i >= 0:
			leftOut = append(leftOut, fmt.Sprintf("%s was left out: it says the same as %s", name, found[i].Path))
		default:
			found = append(found, agent.Instruction{Path: name, Text: text})
		}
	}
	return found, leftOut, nil
}

// instruction reads one file. A symbolic link, used by many repositories to give one text several names, is followed
// once, within the repository.
func instruction(ctx context.Context, base tree, sha, name string) (string, error) {
	files, err := base.Files(ctx, sha, name)
	if err != nil {
		return "", err
	}
	if len(files) != 1 || files[0].Path != name {
		return "", fs.ErrNotExist
	}
	b, err := base.ReadFile(ctx, sha, name, instructionLimit)
	if err != nil || files[0].Mode&fs.ModeSymlink == 0 {
		return string(b), err
	}
	target := path.Join(path.Dir(name), string(b))
	if !fs.ValidPath(target) || path.IsAbs(string(b)) {
		return "", fs.ErrNotExist
	}
	files, err = base.Files(ctx, sha, target)
	if err != nil {
		return "", err
	}
	if len(files) != 1 || files[0].Path != target || !files[0].Mode.IsRegular() {
		return "", fs.ErrNotExist
	}
	b, err = base.ReadFile(ctx, sha, target, instructionLimit)
	return string(b), err
}

// lastFailures returns the checks that were red when an attempt was last judged, with the long extracts of their logs;
// none after a pass.
func (w *attemptWorker) lastFailures(ctx context.Context, t sia.Task) (all []tool.FailedCheck, _ error) {
	earlier := t.Attempts[:max(0, len(t.Attempts)-1)]
	for _, a := range slices.Backward(earlier) {
		if a.Outcome == sia.AttemptPass || a.Outcome == sia.AttemptUnchanged {
			return nil, nil // the head was green, whatever had failed before
		}
		for _, f := range a.Failures {
			text, err := w.Store.Text(ctx, t.ID, a.Number, textFailure+f.Check)
			if errors.Is(err, store.ErrNotFound) {
				text, err = f.Excerpt, nil
			}
			if err != nil {
				return nil, err
			}
			all = append(all, tool.FailedCheck{Name: f.Check, Class: f.Class, Text: text})
		}
		if len(all) > 0 {
			return all, nil
		}
	}
	return nil, nil
}
