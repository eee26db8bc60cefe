package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/text"
)

// lessonSync is the result of reading a repository's lesson files, and their new contents.
type lessonSync struct {
	files   map[string][]byte
	edits   int    // new edits of users
	more    bool   // lessons of users wait for the next read
	warning string // what can't be read, for users
}

// head returns the head to store for a branch that was read or written. While lessons wait, it is not stored as read,
// so that the next attempt's begin takes them even if nobody pushes.
func (s lessonSync) head(sha string) store.MemoryHead {
	if s.more {
		sha = ""
	}
	return store.MemoryHead{SHA: sha, Warning: s.warning}
}

// Instructions are read only from the base branch: otherwise anybody with access to the memory branch could give
// instructions in the maintainers' name.
const (
	instructionsPath   = ".sia/instructions.md"
	instructionsUnread = "`.sia/instructions.md` on the memory branch is not read; put it on the base branch."
)

// lessonFiles imports edits of lessons.md, and writes it and the JSON file from the resulting lessons. The JSON file
// contains what SIA last wrote: a difference is a user's edit, no matter who committed it. It is idempotent.
func (b *Branches) lessonFiles(
	ctx context.Context, repo sia.Repo, branch func(string) ([]byte, error), by sia.Actor,
) (lessonSync, error) {
	var out lessonSync
	known, err := b.upgraded(ctx, repo.ID)
	if err != nil {
		return out, err
	}
	file, err := branch(lesson.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	sheet, err := lesson.Parse(repo.ID, file)
	if err != nil {
		out.warning = lessonsUnwritten(err)
		return out, nil
	}
	out.warning = describeProblems(sheet)
	if own, err := branch(instructionsPath); err == nil && strings.TrimSpace(string(own)) != "" {
		out.warning = strings.TrimSpace(out.warning + "\n\n" + instructionsUnread)
	}
	var waiting []lesson.ID
	if strings.TrimSpace(string(file)) != "" { // a deleted file is written again instead of deleting all lessons
		before, err := lastWrittenLessons(repo, branch, known, sheet)
		if err != nil {
			return out, err
		}
		out.edits, waiting, err = b.applyEdits(ctx, repo, lesson.Edits(repo.ID, before, sheet), known, by)
		if err != nil {
			return out, err
		}
		if len(waiting) > 0 {
			out.warning = strings.TrimSpace(out.warning + "\n\n" + fmt.Sprintf("SIA has not learned %s in `%s` yet, and "+
				"keeps them as they are: it learns at most %d at a time, and has at most %d. Forget or archive others to "+
				"make room.",
				text.Count(len(waiting), "lesson"), lesson.Path, maxNewLessons, maxLessons))
		}
		out.more = len(waiting) > 0 && out.edits > 0 // a read that changes nothing is the last one: there is no room
		if known, err = b.store.Lessons(ctx, repo.ID); err != nil {
			return out, err
		}
	}
	for i := range known {
		known[i] = known[i].Clean(b.secrets.Mask)
	}
	markdown, err := lesson.Markdown(repo.ID, known, file, waiting...)
	var broken *lesson.BrokenFile
	if errors.As(err, &broken) {
		out.warning, out.edits, out.more = lessonsUnwritten(err), 0, false
		return out, nil
	}
	if err != nil {
		return out, err
	}
	all, err := b.store.LessonEvidence(ctx, repo.ID, "")
	if err != nil {
		return out, err
	}
	json, err := lesson.JSON(known,
		slices.DeleteFunc(all, func(e lesson.Evidence) bool { return taskEvidenceKey.MatchString(e.Key) }))
	out.files = map[string][]byte{lesson.Path: markdown, lesson.JSONPath: json}
	return out, err
}

func lessonsUnwritten(err error) string {
	return fmt.Sprintf("Lessons were not written to `%s`, which can't be read any more: %v. It is kept as it is; repair "+
		"or delete it, and SIA writes it again.", lesson.Path, err)
}

// upgraded returns a repository's lessons. It stores those of earlier versions as lessons of this version.
func (b *Branches) upgraded(ctx context.Context, repo int64) ([]lesson.Lesson, error) {
	known, err := b.store.Lessons(ctx, repo)
	if err != nil {
		return nil, err
	}
	var changed []lesson.Lesson
	for i, was := range known {
		if known[i], _ = was.Upgrade(); known[i].Kind != was.Kind {
			changed = append(changed, known[i])
		}
	}
	return known, b.store.PutLessons(ctx, repo, changed...)
}

// taskEvidenceKey matches the keys of evidence from a task's attempts, such as "attempt/1005-1/2".
var taskEvidenceKey = regexp.MustCompile(`^[a-z]+/\d+-\d+/`)

// lastWrittenLessons returns the lessons as SIA last wrote them. Without the JSON file it returns the stored lessons
// that the sheet shows: a stored lesson that the sheet lacks may have been deleted by a user or may be new.
func lastWrittenLessons(
	repo sia.Repo, branch func(string) ([]byte, error), known []lesson.Lesson, sheet lesson.MarkdownFile,
) ([]lesson.Lesson, error) {
	b, err := branch(lesson.JSONPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil {
		if before, _, err := lesson.ParseJSON(repo.ID, b); err == nil {
			return before, nil
		}
	}
	shown := map[lesson.ID]bool{}
	for _, l := range sheet.Lessons {
		shown[l.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(known), func(l lesson.Lesson) bool { return !shown[l.ID] }), nil
}

// Limits of the lessons that people add in lessons.md: every task's memory, and every choice of lessons, reads all.
const (
	maxNewLessons = 50   // at a time
	maxLessons    = 2000 // of a repository, without archived and forgotten ones
)

// applyEdits applies edits of users, all or none, and returns how many changed anything. waiting are lessons that
// exceed the limits; the next reads, after a push, before an attempt and with a task's memory, apply their edits.
func (b *Branches) applyEdits(
	ctx context.Context, repo sia.Repo, edits []lesson.Edit, known []lesson.Lesson, by sia.Actor,
) (n int, waiting []lesson.ID, err error) {
	all, room := make(map[lesson.ID]lesson.Lesson, len(known)), maxLessons
	for _, l := range known {
		if all[l.ID] = l; l.Live() {
			room--
		}
	}
	added := 0
	var put []lesson.Lesson
	for _, e := range edits {
		full := added == maxNewLessons || added >= room
		if _, there := all[e.Lesson.ID]; full && !there && e.Kind == lesson.Added {
			waiting = append(waiting, e.Lesson.ID)
			continue
		}
		e.Lesson = e.Lesson.Clean(b.secrets.Mask)
		changed := e.Apply(all, by, b.now())
		if len(changed) == 0 {
			continue
		}
		if _, there := all[changed[0].ID]; !there {
			if full {
				waiting = append(waiting, e.Lesson.ID)
				continue
			}
			added++
		}
		put = append(put, changed...)
		for _, l := range changed {
			all[l.ID] = l
		}
		n++
		b.log.InfoContext(ctx, "a person edited a lesson", "repo", repo.String(), "lesson", e.Lesson.ID, "edit", e.Kind)
	}
	return n, waiting, b.store.PutLessons(ctx, repo.ID, put...)
}

// describeProblems describes for users which parts of lessons.md can't be read; "" if all can.
func describeProblems(s lesson.MarkdownFile) string {
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
