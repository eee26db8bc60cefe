package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/memory"
	"github.com/sia-bot/sia/sia/text"
)

// Commit commits the memory of a task, and the lessons of its repository, to the memory branch. The files depend only
// on the store, so a repeated commit changes nothing. It first imports edits of users, which have priority over SIA's
// version. If GitHub rejects the content of the files, or the branch holds code, it makes no commit and returns a
// warning.
func (b *Branches) Commit(ctx context.Context, t sia.Task) (out sia.MemoryCommitted, err error) {
	if branch := t.Settings.Memory.Branch; branch == t.BaseBranch || branch == t.Branch {
		return sia.MemoryCommitted{Warning: refusalWarning(codeBranchError(branch))}, nil
	}
	now := b.now()
	bot, err := b.github.Author(ctx, now)
	if err != nil {
		return out, err
	}
	links, files, err := b.taskRecord(ctx, t)
	if err != nil {
		return out, err
	}
	tasks, err := b.store.Tasks(ctx, store.Filter{Repo: t.Repo.ID, Since: now.Add(-metricsWindow), Limit: maxMetricsTasks})
	if err != nil {
		return out, err
	}
	files[memory.MetricsPath(now)] = []byte(b.secrets.Mask(string(memory.Metrics(now, t.Repo, tasks))))
	shown := sia.Masked(t, b.secrets.Mask) // all readers of the repository can read its memory
	var warnings []string
	var read lessonSync
	sha, err := b.commit(ctx, t.Installation, t.Repo, gitops.FilesSpec{
		Branch: t.Settings.Memory.Branch, Author: bot,
		Message: fmt.Sprintf("%sissue #%d, %s after %s", messagePrefix, t.Issue, t.State,
			text.Count(len(t.Attempts), "attempt")),
		Update: func(branch func(string) ([]byte, error)) (map[string][]byte, error) {
			files := maps.Clone(files)
			var err error
			if warnings, err = taskFiles(shown, links, branch, files); err != nil {
				return nil, err
			}
			if read, err = b.lessonFiles(ctx, t.Repo, branch, sia.Actor{}); err != nil {
				return nil, err
			}
			maps.Copy(files, read.files)
			return files, nil
		},
	})
	if refused := refusalWarning(err); refused != "" {
		return sia.MemoryCommitted{Warning: refused}, nil
	}
	if err != nil {
		return out, err
	}
	if err := b.store.SaveMemoryHead(ctx, t.Repo.ID, read.head(sha)); err != nil {
		return out, err
	}
	if read.warning != "" {
		warnings = append(warnings, read.warning)
	}
	return sia.MemoryCommitted{SHA: sia.SHA(sha), Warning: strings.Join(warnings, "\n\n")}, nil
}

// messagePrefix begins the messages of commits to the memory branch. Services that build every branch would fail there.
// https://developers.cloudflare.com/pages/configuration/git-integration/gitlab-integration
// https://github.com/jupyterhub/nbgitpuller/pull/151
const messagePrefix = "[skip ci] memory: "

// errCodeBranch reports that the branch named for memory holds code.
var errCodeBranch = errors.New("the branch holds code")

func codeBranchError(branch string) error {
	return &sia.Error{Op: "write memory", Permanent: true, Err: errCodeBranch, Message: fmt.Sprintf("memory is neither "+
		"read from `%s` nor written there, since that branch holds code: name another one in `memory.branch` of "+
		"`.sia/config.yml`, here or, if the setting is inherited, in the owner's `.github` repository", branch)}
}

// refusalWarning returns the message for users if GitHub rejected the content of memory's files, or the settings name a
// branch with code; empty: neither. Nothing is lost: the store has it, and each commit of a task's memory writes all of
// its files. So work goes on.
func refusalWarning(err error) string {
	var ofBranch *sia.Error
	if errors.As(err, &ofBranch) && errors.Is(ofBranch, errCodeBranch) {
		return text.Capital(ofBranch.Message) + ". The task goes on without it; SIA keeps it and tries again whenever " +
			"the task goes on or ends"
	}
	var rejected *gitops.RejectedError
	if !errors.As(err, &rejected) || !rejected.OfFiles() {
		return ""
	}
	return render.MemoryRefused(rejected.Branch, rejected.Reason)
}

// Limits of the tasks in the daily metrics.
const (
	metricsWindow   = 31 * 24 * time.Hour
	maxMetricsTasks = 2000
)

// taskFiles adds the task's two files, updated from those on the branch. A file that can't be parsed is not changed and
// is reported.
func taskFiles(
	t sia.Task, links memory.Links, branch func(string) ([]byte, error), files map[string][]byte,
) (warnings []string, err error) {
	markdown, json := memory.Paths(t)
	for path, write := range map[string]func(sia.Task, memory.Links, []byte) ([]byte, error){markdown: memory.Markdown,
		json: memory.JSON} {
		previous, err := branch(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		text, err := write(t, links, previous)
		var broken *memory.BrokenFile
		if errors.As(err, &broken) {
			warnings = append(warnings, fmt.Sprintf("Memory was not written to `%s`, which can't be read any more: %v. It is "+
				"kept as it is; repair or delete it, and SIA writes it again.", path, broken))
			continue
		}
		if err != nil {
			return nil, err
		}
		files[path] = text
	}
	slices.Sort(warnings)
	return warnings, nil
}

// taskRecord returns the task's log and its transcripts, as files, from the store.
func (b *Branches) taskRecord(ctx context.Context, t sia.Task) (memory.Links, map[string][]byte, error) {
	links := memory.Links{Transcripts: map[int]string{}, Decisions: map[int][]string{}}
	files := map[string][]byte{}
	for _, a := range t.Attempts {
		if a.Outcome == "" {
			continue
		}
		path := memory.TranscriptPath(t, a.Number)
		rows, err := b.store.Turns(ctx, t.ID, a.Number)
		if err != nil {
			return links, nil, err
		}
		turns, err := agent.Turns(rows)
		if err != nil {
			return links, nil, fmt.Errorf("read attempt %d of task %s: %w", a.Number, t.ID, err)
		}
		links.Transcripts[a.Number] = path
		if len(turns) == 0 && (isRebuilt(t) || a.Turns > 0) {
			continue // keep the file written before the database was lost or the transcript deleted
		}
		files[path] = []byte(b.secrets.Mask(agent.Markdown(turns, agent.HeaderOf(t, a))))
	}
	decisions, err := b.store.Decisions(ctx, t.ID)
	if err != nil {
		return links, nil, err
	}
	for _, d := range decisions {
		links.Decisions[d.Attempt] = append(links.Decisions[d.Attempt], d.ID)
	}
	outcomes, err := b.store.OutcomesOf(ctx, t.ID)
	if err != nil {
		return links, nil, err
	}
	if links.Log.Decisions, err = encodeAll(decisions); err != nil {
		return links, nil, err
	}
	if links.Log.Outcomes, err = encodeAll(outcomes); err != nil {
		return links, nil, err
	}
	evidence, err := b.store.LessonEvidence(ctx, t.Repo.ID, "")
	if err != nil {
		return links, nil, err
	}
	links.Log.Evidence, err = encodeAll(slices.DeleteFunc(evidence, func(e lesson.Evidence) bool {
		return !taskEvidenceKey.MatchString(e.Key) || !strings.Contains(e.Key, "/"+string(t.ID)+"/") ||
			strings.HasPrefix(e.Key, "model/") // of an earlier version; see [lesson.Lesson.Upgrade]
	}))
	return links, files, err
}

// isRebuilt reports whether the task was rebuilt from memory.
func isRebuilt(t sia.Task) bool { return len(t.Seen) > 0 && strings.HasPrefix(t.Seen[0], restoreEvent) }

// encodeAll encodes each of vs as JSON.
func encodeAll[T any](vs []T) ([]json.RawMessage, error) {
	var out []json.RawMessage
	for _, v := range vs {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("encode %T: %w", v, err)
		}
		out = append(out, b)
	}
	return out, nil
}

// restoreEvent is the prefix of the id of an event that rebuilds a task from memory.
const restoreEvent = "reindex/"
