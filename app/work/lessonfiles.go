package work

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// readBack is what was found in a repository's lesson files, and what they become.
type readBack struct {
	files   map[string][]byte
	edits   int    // that people had made and that were not known yet
	warning string // what can't be read, for people
}

// lessonFiles takes up what people edited in lessons.md and writes it and the file
// beside it from what is known then. SIA's own words are those of the file beside
// it: whatever differs is a person's edit, whoever committed it. Doing it again
// changes nothing.
func (w *Worker) lessonFiles(ctx context.Context, repo sia.Repo, branch func(string) ([]byte, error), by sia.Actor) (readBack, error) {
	var out readBack
	known, err := w.Store.Lessons(ctx, repo.ID)
	if err != nil {
		return out, err
	}
	file, err := branch(lesson.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	sheet, err := lesson.Parse(repo.ID, file)
	if err != nil {
		out.warning = fmt.Sprintf("Lessons were not written to `%s`, which can't be read any more: %v. It is kept as it is; repair or delete it, and SIA writes it again.", lesson.Path, err)
		return out, nil
	}
	out.warning = brokenSections(sheet)
	if strings.TrimSpace(string(file)) != "" { // a file that is gone is written again: nobody forgets everything so
		before, err := lastWritten(repo, branch, known)
		if err != nil {
			return out, err
		}
		if out.edits, err = w.takeEdits(ctx, repo, lesson.Edits(repo.ID, before, sheet), known, by); err != nil {
			return out, err
		}
		if known, err = w.Store.Lessons(ctx, repo.ID); err != nil {
			return out, err
		}
	}
	for i := range known {
		known[i] = known[i].Clean(w.Secrets.Mask)
	}
	markdown, err := lesson.Markdown(repo.ID, known, file)
	if err != nil {
		return out, err
	}
	all, err := w.Store.LessonEvidence(ctx, repo.ID, "")
	if err != nil {
		return out, err
	}
	json, err := lesson.JSON(known, slices.DeleteFunc(all, func(e lesson.Evidence) bool { return ofTask.MatchString(e.Key) }))
	out.files = map[string][]byte{lesson.Path: markdown, lesson.JSONPath: json}
	return out, err
}

// ofTask is what the key of evidence from a task's attempts looks like:
// "attempt/1005-1/2".
var ofTask = regexp.MustCompile(`^[a-z]+/\d+-\d+/`)

// lastWritten are the lessons as SIA last wrote them. Without a file that says so,
// nothing tells a person's words from SIA's but what is known.
func lastWritten(repo sia.Repo, branch func(string) ([]byte, error), known []lesson.Lesson) ([]lesson.Lesson, error) {
	b, err := branch(lesson.JSONPath)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	if before, _, err := lesson.ParseJSON(repo.ID, b); err == nil {
		return before, nil
	}
	return known, nil
}

// takeEdits makes people's edits, and returns how many changed anything.
func (w *Worker) takeEdits(ctx context.Context, repo sia.Repo, edits []lesson.Edit, known []lesson.Lesson, by sia.Actor) (n int, err error) {
	all := make(map[lesson.ID]lesson.Lesson, len(known))
	for _, l := range known {
		all[l.ID] = l
	}
	for _, e := range edits {
		e.Lesson = e.Lesson.Clean(w.Secrets.Mask)
		changed := e.Apply(all, by, w.Now())
		if len(changed) == 0 {
			continue
		}
		if err := w.Store.PutLessons(ctx, repo.ID, changed...); err != nil {
			return n, err
		}
		for _, l := range changed {
			all[l.ID] = l
		}
		n++
		w.Logger.InfoContext(ctx, "a person edited a lesson", "repo", repo.String(), "lesson", e.Lesson.ID, "edit", e.Kind)
	}
	return n, nil
}

// brokenSections tells people what of lessons.md can't be read; "" when all can.
func brokenSections(s lesson.Sheet) string {
	if len(s.Problems) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Part of `%s` can't be read and is kept as it is:", lesson.Path)
	for i, p := range s.Problems {
		if i == 3 {
			fmt.Fprintf(&b, " … and %d more.", len(s.Problems)-i)
			break
		}
		fmt.Fprintf(&b, " %v.", p)
	}
	return b.String()
}

// readMemory takes up what people changed on the memory branch since it was last
// read or written, and answers at once by writing the lessons as they are then.
// warning tells people what can't be read there.
func (w *Worker) readMemory(ctx context.Context, installation int64, repo sia.Repo, name string, by sia.Actor) (warning string, err error) {
	mirror := w.mirrorOf(installation, repo)
	head, err := mirror.Fetch(ctx, name)
	if errors.Is(err, gitops.ErrNoBranch) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	last, err := w.Store.MemoryHead(ctx, repo.ID)
	if err != nil || last.SHA == head {
		return last.Warning, err
	}
	bot, err := w.bot(ctx)
	if err != nil {
		return "", err
	}
	var read readBack
	sha, _, err := mirror.CommitFiles(ctx, gitops.FilesSpec{
		Branch: name, Author: bot, Message: "memory: lessons as people edited them",
		Update: func(branch func(string) ([]byte, error)) (map[string][]byte, error) {
			if read, err = w.lessonFiles(ctx, repo, branch, by); err != nil || read.edits == 0 {
				return nil, err
			}
			return read.files, nil
		},
	})
	if err != nil {
		return "", err
	}
	return read.warning, w.Store.SaveMemoryHead(ctx, repo.ID, store.MemoryHead{SHA: sha, Warning: read.warning})
}

// MemoryEdited reads a repository's memory branch after somebody pushed to it.
func (w *Worker) MemoryEdited(ctx context.Context, installation int64, repo sia.Repo, by sia.Actor) error {
	set, err := w.Settings(ctx, installation, repo)
	if err != nil {
		return err
	}
	warning, err := w.readMemory(ctx, installation, repo, set.Memory.Branch, by)
	if warning != "" {
		w.Logger.WarnContext(ctx, "memory can't be read whole", "repo", repo.String(), "why", warning)
	}
	return err
}
