package work

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
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/memory"
	"github.com/sia-bot/sia/sia/secret"
)

// memory learns from what the task came to so far, and commits what is known about
// it to the memory branch, with what was learned in its repository. The files are
// a function of what the store knows, so committing them twice changes nothing.
// What people edited meanwhile is read first: it outranks what SIA would write.
func (w *Worker) memory(ctx context.Context, t sia.Task, _ sia.Effect) (sia.Fact, error) {
	if err := w.observe(ctx, t); err != nil {
		return nil, err
	}
	if err := w.learn(ctx, t); err != nil {
		return nil, err
	}
	bot, err := w.bot(ctx)
	if err != nil {
		return nil, err
	}
	links, files, err := w.remembered(ctx, t)
	if err != nil {
		return nil, err
	}
	now := w.Now()
	tasks, err := w.Store.Tasks(ctx, store.Filter{Repo: t.Repo.ID, Since: now.Add(-metricsWindow), Limit: maxMetricsTasks})
	if err != nil {
		return nil, err
	}
	files[memory.MetricsPath(now)] = []byte(w.Secrets.Mask(string(memory.Metrics(now, t.Repo, tasks))))
	shown := secret.Within(w.Secrets, t) // who reads the repository reads its memory
	var warnings []string
	var read readBack
	sha, _, err := w.mirror(t).CommitFiles(ctx, gitops.FilesSpec{
		Branch: t.Settings.Memory.Branch, Author: bot,
		Message: fmt.Sprintf("memory: issue #%d, %s after %d attempts", t.Issue, t.State, len(t.Attempts)),
		Update: func(branch func(string) ([]byte, error)) (map[string][]byte, error) {
			files := maps.Clone(files)
			var err error
			if warnings, err = taskFiles(shown, links, branch, files); err != nil {
				return nil, err
			}
			if read, err = w.lessonFiles(ctx, t.Repo, branch, sia.Actor{}); err != nil {
				return nil, err
			}
			maps.Copy(files, read.files)
			return files, nil
		},
	})
	if err != nil {
		return nil, err
	}
	if err := w.Store.SaveMemoryHead(ctx, t.Repo.ID, store.MemoryHead{SHA: sha, Warning: read.warning}); err != nil {
		return nil, err
	}
	if read.warning != "" {
		warnings = append(warnings, read.warning)
	}
	return sia.MemoryCommitted{SHA: sha, Warning: strings.Join(warnings, "\n\n")}, nil
}

// Bounds of what the day's figures are made from.
const (
	metricsWindow   = 31 * 24 * time.Hour
	maxMetricsTasks = 2000
)

// taskFiles adds the task's two files over what the branch has. A file that can't
// be read is left alone and reported.
func taskFiles(t sia.Task, links memory.Links, branch func(string) ([]byte, error), files map[string][]byte) (warnings []string, err error) {
	markdown, json := memory.Paths(t)
	for path, write := range map[string]func(sia.Task, memory.Links, []byte) ([]byte, error){markdown: memory.Markdown, json: memory.JSON} {
		previous, err := branch(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		b, err := write(t, links, previous)
		var broken *memory.BrokenFile
		if errors.As(err, &broken) {
			warnings = append(warnings, fmt.Sprintf("Memory was not written to `%s`, which can't be read any more: %v. It is kept as it is; repair or delete it, and SIA writes it again.", path, broken))
			continue
		}
		if err != nil {
			return nil, err
		}
		files[path] = b
	}
	slices.Sort(warnings)
	return warnings, nil
}

// remembered gathers what the store has about the task beside the task itself: its
// transcripts, as files, and its log.
func (w *Worker) remembered(ctx context.Context, t sia.Task) (memory.Links, map[string][]byte, error) {
	links := memory.Links{Transcripts: map[int]string{}, Decisions: map[int][]string{}}
	files := map[string][]byte{}
	for _, a := range t.Attempts {
		if a.Outcome == "" {
			continue
		}
		path := memory.TranscriptPath(t, a.Number)
		turns, err := w.transcript(ctx, t, a.Number)
		if err != nil {
			return links, nil, err
		}
		links.Transcripts[a.Number] = path
		if len(turns) == 0 && rebuilt(t) {
			continue // what was written before the database was lost stays
		}
		files[path] = []byte(w.Secrets.Mask(agent.Markdown(turns, header(t, a))))
	}
	decisions, err := w.Store.Decisions(ctx, t.ID)
	if err != nil {
		return links, nil, err
	}
	for _, d := range decisions {
		links.Decisions[d.Attempt] = append(links.Decisions[d.Attempt], d.ID)
	}
	outcomes, err := w.Store.OutcomesOf(ctx, t.ID)
	if err != nil {
		return links, nil, err
	}
	if links.Log.Decisions, err = encoded(decisions); err != nil {
		return links, nil, err
	}
	if links.Log.Outcomes, err = encoded(outcomes); err != nil {
		return links, nil, err
	}
	evidence, err := w.Store.LessonEvidence(ctx, t.Repo.ID, "")
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
