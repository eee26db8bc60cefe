package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sia/lesson"
)

// SharedLesson is a lesson that a user approved for every repository of an
// installation.
type SharedLesson struct {
	Installation int64
	Lesson       lesson.Lesson // as approved; id and repository are those of the original lesson
	By           string        // the approver's login, or the operator as [sia.Actor.Mention] names them
	At           time.Time
}

// ShareLesson stores an approval. A lesson that is shared already keeps its first
// approval. The error wraps [ErrNotFound] when the installation is not known.
func (s *LessonStore) ShareLesson(ctx context.Context, v SharedLesson) error {
	op := fmt.Sprintf("share lesson %s", v.Lesson.ID)
	if err := v.Lesson.Valid(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	text, err := json.Marshal(v.Lesson)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return s.write(ctx, op, func(tx *sql.Tx) error {
		var id int64
		err := tx.QueryRowContext(ctx, `SELECT id FROM installations WHERE id = ?`, v.Installation).Scan(&id)
		if err != nil {
			return orNotFound(err)
		}
		n, err := affected(ctx, tx, `INSERT INTO shared_lessons (installation_id, id, lesson, approved_by, at)
			VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, v.Installation, v.Lesson.ID, string(text), v.By, micros(v.At))
		if err != nil || n == 0 {
			return err
		}
		return logAct(ctx, tx, Act{At: v.At, Who: v.By, What: "share lesson", Detail: string(v.Lesson.ID)})
	})
}

// SharedLessons lists the approvals of all installations, oldest first.
func (s *LessonStore) SharedLessons(ctx context.Context) ([]SharedLesson, error) {
	return list(ctx, s.DB, "load the shared lessons", func(from row) (v SharedLesson, err error) {
		err = from.Scan(&v.Installation, jsonColumn{&v.Lesson}, &v.By, timeColumn{&v.At})
		return v, err
	}, `SELECT installation_id, lesson, approved_by, at FROM shared_lessons ORDER BY at, installation_id, id`)
}

// missingShared selects the lessons that are shared with a repository and missing in it: it
// has neither a copy nor the original, in any state.
const missingShared = `SELECT s.lesson FROM repositories r
	JOIN shared_lessons s ON s.installation_id = r.installation_id
	WHERE r.id = ? AND NOT EXISTS (SELECT 1 FROM lessons l WHERE l.repo_id = r.id AND l.id = s.id) ORDER BY s.at, s.id`

// TakeSharedLessons copies into a repository the shared lessons that it lacks, and
// returns the copies; nil, after one query, when it has all.
func (s *LessonStore) TakeSharedLessons(
	ctx context.Context, repo int64, now time.Time,
) (copies []lesson.Lesson, err error) {
	op := fmt.Sprintf("take shared lessons into repository %d", repo)
	found, err := collect(ctx, s.r, scanJSON[lesson.Lesson], missingShared, repo)
	if err != nil || len(found) == 0 {
		return nil, s.explain(op, err)
	}
	err = s.write(ctx, op, func(tx *sql.Tx) error {
		copies = nil
		b, err := s.lessonBatch(ctx, tx, repo)
		if err != nil {
			return err
		}
		found, err := collect(ctx, tx, scanJSON[lesson.Lesson], missingShared, repo) // one may have been unshared
		if err != nil {
			return err
		}
		for _, l := range found {
			c := l.CopyTo(repo, now)
			if err := b.save(storedLesson{}, c); err != nil {
				return err
			}
			if err := b.count(c.InitialEvidence()); err != nil {
				return err
			}
			copies = append(copies, c.InitialEvidence().Count(c))
		}
		return b.flush()
	})
	return copies, err
}

// Unshared counts the copies of a lesson that is no longer shared, by what was done with them.
type Unshared struct {
	Removed  int `json:"removed"`  // copies without evidence
	Archived int `json:"archived"` // copies with at least as much evidence against them as for them
	Kept     int `json:"kept"`     // copies with more evidence for them: their repositories confirmed them
}

// UnshareLesson deletes an approval, and the copies that no evidence of their own
// repository confirms. Copies that were never tried are deleted completely, so that
// the lesson can be shared again. Copies that are not live are not changed. The
// error wraps [ErrNotFound] when the lesson is not shared. by is a login; empty: the operator.
func (s *LessonStore) UnshareLesson(
	ctx context.Context, installation int64, id lesson.ID, by string,
) (out Unshared, err error) {
	err = s.write(ctx, fmt.Sprintf("take back lesson %s", id), func(tx *sql.Tx) error {
		out = Unshared{}
		if err := updateOneTx(ctx, tx, `DELETE FROM shared_lessons WHERE installation_id = ? AND id = ?`, installation,
			id); err != nil {
			return err
		}
		repos, err := collect(ctx, tx, scanValue[int64],
			`SELECT l.repo_id FROM lessons l JOIN repositories r ON r.id = l.repo_id
			WHERE r.installation_id = ? AND l.id = ? AND l.source = ? ORDER BY l.repo_id`, installation, id,
			lesson.FromOrganisation)
		if err != nil {
			return err
		}
		for _, repo := range repos {
			if err := s.unshareCopy(ctx, tx, repo, id, &out); err != nil {
				return err
			}
		}
		return logAct(ctx, tx, Act{At: s.now(), Who: by, What: "unshare lesson", Detail: string(id)})
	})
	return out, err
}

// unshareCopy removes, archives or keeps one repository's copy, for [LessonStore.UnshareLesson].
func (s *DB) unshareCopy(ctx context.Context, tx *sql.Tx, repo int64, id lesson.ID, out *Unshared) error {
	b, err := s.lessonBatch(ctx, tx, repo)
	if err != nil {
		return err
	}
	old, err := b.load(id)
	if err != nil || !old.Live() {
		return err
	}
	all, err := collect(ctx, tx, scanJSON[lesson.Evidence], evidenceOf, repo, id, id)
	if err != nil {
		return err
	}
	var good, bad float64 // from the repository's own evidence
	for _, e := range all {
		if e.Key != old.InitialEvidence().Key && e.Arm != lesson.Withheld {
			good, bad = good+e.Good, bad+e.Bad
		}
	}
	switch l := old.Lesson; {
	case good+bad == 0:
		err = b.remove(old)
		out.Removed++
	case good <= bad:
		l.State = lesson.Archived
		err = b.save(old, l)
		out.Archived++
	default:
		out.Kept++
	}
	if err != nil {
		return err
	}
	return b.flush()
}

// remove deletes a lesson and its evidence.
func (b *lessonBatch) remove(old storedLesson) error {
	if _, err := b.tx.ExecContext(b.ctx, `DELETE FROM lessons WHERE seq = ?`, old.seq); err != nil {
		return err
	}
	if _, err := b.tx.ExecContext(b.ctx, `DELETE FROM lesson_evidence WHERE repo_id = ? AND lesson_id = ?`, b.repo,
		old.ID); err != nil {
		return err
	}
	b.reindex(old, lesson.Lesson{State: lesson.Merged}, nil, old.seq)
	return nil
}
