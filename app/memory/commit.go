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

// Commit commits what is known about a task to its repository's memory branch, with what was learned in
// the repository. The files are a function of what the store knows, so committing them twice changes
// nothing. What people edited meanwhile is read first: it outranks what SIA would write. Where GitHub refuses what the
// files hold, there is no commit, and the warning says so.
func (b *Branches) Commit(ctx context.Context, t sia.Task) (out sia.MemoryCommitted, err error) {
	if branch := t.Settings.Memory.Branch; branch == t.BaseBranch || branch == t.Branch {
		return out, holdsCode(branch)
	}
	now := b.now()
	bot, err := b.github.Author(ctx, now)
	if err != nil {
		return out, err
	}
	links, files, err := b.remembered(ctx, t)
	if err != nil {
		return out, err
	}
	tasks, err := b.store.Tasks(ctx, store.Filter{Repo: t.Repo.ID, Since: now.Add(-metricsWindow), Limit: maxMetricsTasks})
	if err != nil {
		return out, err
	}
	files[memory.MetricsPath(now)] = []byte(b.secrets.Mask(string(memory.Metrics(now, t.Repo, tasks))))
	shown := sia.Masked(t, b.secrets.Mask) // who reads the repository reads its memory
	var warnings []string
	var read readBack
	sha, _, err := b.mirror(t.Installation, t.Repo).CommitFiles(ctx, gitops.FilesSpec{
		Branch: t.Settings.Memory.Branch, Author: bot,
		Message: fmt.Sprintf("memory: issue #%d, %s after %s", t.Issue, t.State, text.Count(len(t.Attempts), "attempt")),
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
	if refused := refusedMemory(err); refused != "" {
		return sia.MemoryCommitted{Warning: refused}, nil
	}
	if err != nil {
		return out, err
	}
	if err := b.store.SaveMemoryHead(ctx, t.Repo.ID, store.MemoryHead{SHA: sha, Warning: read.warning}); err != nil {
		return out, err
	}
	if read.warning != "" {
		warnings = append(warnings, read.warning)
	}
	return sia.MemoryCommitted{SHA: sia.SHA(sha), Warning: strings.Join(warnings, "\n\n")}, nil
}

func holdsCode(branch string) error {
	return &sia.Error{Op: "write memory", Permanent: true, Message: fmt.Sprintf("memory is not written to `%s`, "+
		"which holds the code: name another branch in `memory.branch`", branch)}
}

// refusedMemory is what people are told where GitHub refused what memory's files hold; empty: it did not. The store has
// it all, and each commit of a task's memory writes all of its files.
func refusedMemory(err error) string {
	var rejected *gitops.RejectedError
	if !errors.As(err, &rejected) || !rejected.OfFiles() {
		return ""
	}
	return render.MemoryRefused(rejected.Branch, rejected.Reason)
}

// Bounds of what the day's figures are made from.
const (
	metricsWindow   = 31 * 24 * time.Hour
	maxMetricsTasks = 2000
)

// taskFiles adds the task's two files over what the branch has. A file that can't
// be read is left alone and reported.
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

// remembered gathers what the store has about the task beside the task itself: its
// transcripts, as files, and its log.
func (b *Branches) remembered(ctx context.Context, t sia.Task) (memory.Links, map[string][]byte, error) {
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
		if len(turns) == 0 && (rebuilt(t) || a.Turns > 0) {
			continue // what was written before the database was lost, or the transcript deleted, stays
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
	if links.Log.Decisions, err = encoded(decisions); err != nil {
		return links, nil, err
	}
	if links.Log.Outcomes, err = encoded(outcomes); err != nil {
		return links, nil, err
	}
	evidence, err := b.store.LessonEvidence(ctx, t.Repo.ID, "")
	if err != nil {
		return links, nil, err
	}
	links.Log.Evidence, err = encoded(slices.DeleteFunc(evidence, func(e lesson.Evidence) bool {
		return !ofTask.MatchString(e.Key) || !strings.Contains(e.Key, "/"+string(t.ID)+"/")
	}))
	return links, files, err
}

// rebuilt reports whether the task was rebuilt from memory.
func rebuilt(t sia.Task) bool { return len(t.Seen) > 0 && strings.HasPrefix(t.Seen[0], restoreEvent) }

// encoded is each of vs as JSON.
func encoded[T any](vs []T) ([]json.RawMessage, error) {
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

// restoreEvent begins the id of the event that rebuilds a task from memory.
const restoreEvent = "reindex/"
