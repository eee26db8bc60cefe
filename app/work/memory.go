package work

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/memory"
)

// memory learns from what the task came to so far, and commits what is known about
// it to the memory branch. The files are a function of the task and of the log of
// its decisions, so committing them twice changes nothing.
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
	links := memory.Links{Transcripts: map[int]string{}, Decisions: map[int][]string{}}
	decisions, err := w.Store.Decisions(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	for _, d := range decisions {
		links.Decisions[d.Attempt] = append(links.Decisions[d.Attempt], d.ID)
	}
	transcripts := map[string][]byte{}
	for _, a := range t.Attempts {
		if a.Outcome == "" {
			continue
		}
		turns, err := w.transcript(ctx, t, a.Number)
		if err != nil {
			return nil, err
		}
		path := memory.TranscriptPath(t, a.Number)
		links.Transcripts[a.Number] = path
		transcripts[path] = []byte(w.Secrets.Mask(agent.Markdown(turns, header(t, a))))
	}
	warning := ""
	markdown, json := memory.Paths(t)
	sha, _, err := w.mirror(t).CommitFiles(ctx, gitops.FilesSpec{
		Branch: t.Settings.Memory.Branch, Author: bot,
		Message: fmt.Sprintf("memory: issue #%d, %s after %d attempts", t.Issue, t.State, len(t.Attempts)),
		Update: func(read func(string) ([]byte, error)) (map[string][]byte, error) {
			warning = ""
			files := map[string][]byte{}
			for path, b := range transcripts {
				files[path] = b
			}
			for path, write := range map[string]func(sia.Task, memory.Links, []byte) ([]byte, error){markdown: memory.Markdown, json: memory.JSON} {
				previous, err := read(path)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return nil, err
				}
				b, err := write(t, links, previous)
				var broken *memory.BrokenFile
				if errors.As(err, &broken) {
					warning = fmt.Sprintf("Memory was not written to `%s`, which can't be read any more: %v. It is kept as it is; repair or delete it, and SIA writes it again.", path, broken)
					continue
				}
				if err != nil {
					return nil, err
				}
				files[path] = []byte(w.Secrets.Mask(string(b)))
			}
			return files, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return sia.MemoryCommitted{SHA: sha, Warning: warning}, nil
}
