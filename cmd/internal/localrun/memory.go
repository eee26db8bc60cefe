package localrun

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/memory"
	"github.com/sia-bot/sia/cmd/internal/localgit"
	"github.com/sia-bot/sia/sia/config"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/text"
)

// memoryBranch is the branch of the simulated repository with its memory.
const memoryBranch = "sia/memory"

// memoryFolder holds what SIA learned, next to files that users write for it.
const memoryFolder = ".sia/"

// instructionsFile is written by users, and only its version on the base counts.
const instructionsFile = memoryFolder + "instructions.md"

// copyMemory creates a memory branch in the copy of a repository from the files that earlier runs left on the base. It
// returns the highest number of their issues. known reports whether there were any.
func (j *job) copyMemory(ctx context.Context, to string) (last int, known bool, err error) {
	listed, err := j.git.Run(ctx, "ls-tree", "-r", "-z", j.base, "--", memoryFolder)
	if err != nil {
		return 0, false, err
	}
	var entries strings.Builder
	for entry := range strings.SplitAfterSeq(string(listed), "\x00") {
		_, name, _ := strings.Cut(strings.TrimSuffix(entry, "\x00"), "\t")
		if name == "" || name == config.Path || name == instructionsFile {
			continue
		}
		entries.WriteString(entry)
		if number, isTask := strings.CutPrefix(name, memoryFolder+"tasks/"); isTask && path.Ext(name) == ".json" {
			n, err := strconv.Atoi(strings.TrimSuffix(number, ".json"))
			if err == nil && n < maxIssueNumber {
				last = max(last, n)
			}
		}
		known = known || last > 0 || name == lesson.Path || name == lesson.JSONPath
	}
	if !known {
		return 0, false, nil
	}
	bare := localgit.Own(to)
	made, err := bare.CommitEntries(ctx, filepath.Join(to, "memory-index"), "", entries.String(), "sia: earlier runs")
	if err == nil {
		_, err = bare.Run(ctx, "update-ref", "refs/heads/"+memoryBranch, made)
	}
	return last, true, err
}

// maxIssueNumber is larger than any issue number.
const maxIssueNumber = 1 << 30

// loadMemory loads what earlier runs learned into the server's database.
func (r *run) loadMemory() error {
	m, closing, err := app.OpenMemory(r.Ctx, r.Config, r.Options)
	if err != nil {
		return err
	}
	_, err = m.Reindex(r.Ctx, r.repo, func(known memory.ReindexResult) {
		r.progress("Earlier runs left %s and %s under %s.", text.Count(known.Tasks, "task"),
			text.Count(known.Lessons, "lesson"), memoryFolder)
		for _, problem := range known.Problems {
			r.progress("  %s", problem)
		}
	})
	return errors.Join(err, closing())
}

// commitMemory commits what was learned on top of the result, under .sia/, and returns the new head.
func (r *run) commitMemory(ctx context.Context, head string) (string, error) {
	if !r.bare.HasBranch(ctx, memoryBranch) { // nothing was learned
		return head, nil
	}
	entries, err := r.bare.Run(ctx, "ls-tree", "-r", "-z", memoryBranch, "--", memoryFolder)
	if err != nil || len(entries) == 0 {
		return head, err
	}
	if err := r.job.git.Take(ctx, r.bare, memoryBranch, head); err != nil {
		return head, err
	}
	after, err := r.job.git.CommitEntries(ctx, filepath.Join(r.Dir, "index"), head, string(entries),
		"sia: what was learned")
	if err != nil {
		return head, err
	}
	_, err = r.job.git.Run(ctx, "update-ref", "refs/heads/"+r.job.branch, after, head)
	return after, err
}
