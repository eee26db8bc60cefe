package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// MemoryHead is the last known head of a repository's memory branch.
type MemoryHead struct {
	SHA     string // of the branch, as last read or written; empty: never
	Warning string // the parts that could not be read, for users
}

// MemoryHead returns the last known head of a repository's memory branch; zero
// when it was never read.
func (s *MemoryStore) MemoryHead(ctx context.Context, repo int64) (h MemoryHead, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT sha, warning FROM memory_heads WHERE repo_id = ?`, repo).
		Scan(&h.SHA, &h.Warning)
	return h, s.explain(fmt.Sprintf("load the memory head of repository %d", repo), ignoreNoRows(err))
}

// SaveMemoryHead stores the head of a repository's memory branch.
func (s *MemoryStore) SaveMemoryHead(ctx context.Context, repo int64, h MemoryHead) error {
	return s.exec(ctx, fmt.Sprintf("save the memory head of repository %d", repo),
		`INSERT INTO memory_heads (repo_id, sha, warning, read_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (repo_id) DO UPDATE SET sha = excluded.sha, warning = excluded.warning, read_at = excluded.read_at`,
		repo, h.SHA, h.Warning, micros(s.now()))
}

// OutcomesOf lists the outcomes of a task's interventions in the order in which
// they were recorded.
func (s *OutcomeStore) OutcomesOf(ctx context.Context, id sia.TaskID) ([]Outcome, error) {
	return list(ctx, s.DB, "load the outcomes of task "+string(id), scanOutcome,
		`SELECT `+outcomeColumns+` FROM outcomes WHERE task_id = ? ORDER BY id`, id)
}

// lessonRestoreBatch is the number of lessons in one transaction, so that other writers are not blocked for long.
const lessonRestoreBatch = 100

// RestoreLessons inserts lessons that are missing, with their counts and with the
// evidence that is included in those counts, so that it is not counted again when
// it is reported again. It returns the number of restored lessons. When it returns
// an error, some may be restored, each with its evidence.
func (s *LessonStore) RestoreLessons(
	ctx context.Context, repo int64, lessons []lesson.Lesson, evidence []lesson.Evidence,
) (restored int, err error) {
	of := map[lesson.ID][]lesson.Evidence{}
	for _, e := range evidence {
		of[e.Lesson] = append(of[e.Lesson], e)
	}
	for some := range slices.Chunk(lessons, lessonRestoreBatch) {
		n := 0
		err := s.write(ctx, fmt.Sprintf("restore lessons of repository %d", repo), func(tx *sql.Tx) (err error) {
			n, err = s.restoreLessons(ctx, tx, repo, some, of)
			return err
		})
		if err != nil {
			return restored, err
		}
		restored += n
	}
	return restored, nil
}

func (s *LessonStore) restoreLessons(
	ctx context.Context, tx *sql.Tx, repo int64, lessons []lesson.Lesson, evidence map[lesson.ID][]lesson.Evidence,
) (restored int, err error) {
	b, err := s.lessonBatch(ctx, tx, repo)
	if err != nil {
		return 0, err
	}
	for _, l := range lessons {
		if !l.ID.Valid() || l.Repo != repo {
			return 0, fmt.Errorf("%q is no lesson of this repository", l.ID)
		}
		old, err := b.load(l.ID)
		if err != nil {
			return 0, err
		}
		if old.seq != 0 {
			continue
		}
		if err := b.save(old, l); err != nil {
			return 0, err
		}
		restored++
		for _, e := range evidence[l.ID] {
			if _, err := b.saveEvidence(e); err != nil {
				return 0, err
			}
		}
	}
	return restored, b.flush()
}
