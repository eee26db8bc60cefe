package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/lesson"
)

// PutLessons writes and indexes lessons of a repository, all or none. It replaces
// existing lessons, with two exceptions: a forgotten lesson is not changed, and
// counts and creation time are kept, because only [LessonStore.CountLessons]
// changes counts.
func (s *LessonStore) PutLessons(ctx context.Context, repo int64, lessons ...lesson.Lesson) error {
	return s.MergeLessons(ctx, repo, nil, lessons, nil)
}

// MergeLessons writes lessons like [LessonStore.PutLessons] and then adds evidence like
// [LessonStore.CountLessons], in one transaction. read has lessons as they were read before; others are replaced
// whatever they are. If one of those has been changed since, nothing is written and the error wraps [ErrStale].
func (s *LessonStore) MergeLessons(
	ctx context.Context, repo int64, read, lessons []lesson.Lesson, evidence []lesson.Evidence,
) error {
	if len(lessons) == 0 && len(evidence) == 0 {
		return nil
	}
	return s.write(ctx, fmt.Sprintf("save lessons of repository %d", repo), func(tx *sql.Tx) error {
		b, err := s.lessonBatch(ctx, tx, repo)
		if err != nil {
			return err
		}
		was := make(map[lesson.ID]lesson.Lesson, len(read))
		for _, l := range read {
			was[l.ID] = l
		}
		for _, l := range lessons {
			switch {
			case !l.ID.Valid():
				return fmt.Errorf("%q is no lesson's id", l.ID)
			case l.Repo != repo:
				return fmt.Errorf("lesson %s belongs to repository %d", l.ID, l.Repo)
			}
			old, err := b.load(l.ID)
			if err != nil {
				return err
			}
			if old.seq != 0 {
				if w, known := was[l.ID]; known && (w.Version() != old.Version() || w.ArchivedByHand != old.ArchivedByHand) {
					return ErrStale
				}
				if old.State == lesson.Forgotten {
					continue
				}
				l.Good, l.Bad, l.CountedAt, l.CreatedAt = old.Good, old.Bad, old.CountedAt, old.CreatedAt
			}
			if err := b.save(old, l); err != nil {
				return err
			}
		}
		for _, e := range evidence {
			if err := b.count(e); err != nil {
				return err
			}
		}
		return b.flush()
	})
}

// CountLessons adds evidence about lessons. Evidence with an existing key changes
// nothing. Evidence about a merged lesson counts for the lesson it was merged into;
// evidence about one that does not exist or was forgotten is ignored. A lesson is
// promoted or archived immediately if the evidence suffices.
func (s *LessonStore) CountLessons(ctx context.Context, repo int64, evidence ...lesson.Evidence) error {
	return s.MergeLessons(ctx, repo, nil, nil, evidence)
}

// ReplaceEvidence adds evidence about a lesson like [LessonStore.CountLessons], and replaces evidence with the
// same key.
func (s *LessonStore) ReplaceEvidence(ctx context.Context, repo int64, e lesson.Evidence) error {
	return s.write(ctx, fmt.Sprintf("replace evidence about lesson %s", e.Lesson), func(tx *sql.Tx) error {
		b, err := s.lessonBatch(ctx, tx, repo)
		if err != nil {
			return err
		}
		if err := b.retract(e.Key); err != nil {
			return err
		}
		if err := b.count(e); err != nil {
			return err
		}
		return b.flush()
	})
}

// Lesson loads one lesson; the error wraps [ErrNotFound] when there is none.
func (s *LessonStore) Lesson(ctx context.Context, repo int64, id lesson.ID) (lesson.Lesson, error) {
	l, err := loadLesson(ctx, s.r, repo, id)
	if _, ok := l.Upgrade(); err == nil && (l.seq == 0 || !ok) {
		err = ErrNotFound
	}
	return l.Lesson, s.explain(fmt.Sprintf("load lesson %s", id), err)
}

// Lessons lists a repository's lessons of every state, in the order in which
// they were learned. It leaves out what is no lesson any more ([lesson.Lesson.Upgrade]).
func (s *LessonStore) Lessons(ctx context.Context, repo int64) ([]lesson.Lesson, error) {
	all, err := list(ctx, s.DB, fmt.Sprintf("load the lessons of repository %d", repo), scanJSON[lesson.Lesson],
		`SELECT lesson FROM lessons WHERE repo_id = ? ORDER BY seq`, repo)
	return slices.DeleteFunc(all, func(l lesson.Lesson) bool {
		_, ok := l.Upgrade()
		return !ok
	}), err
}

// ToolLessons lists the live lessons about tools of a repository, the latest 200.
func (s *LessonStore) ToolLessons(ctx context.Context, repo int64) ([]lesson.Lesson, error) {
	return list(ctx, s.DB, fmt.Sprintf("load the lessons about tools of repository %d", repo), scanJSON[lesson.Lesson],
		`SELECT lesson FROM lessons WHERE repo_id = ? AND kind = ? AND state IN (?, ?) ORDER BY seq DESC LIMIT 200`,
		repo, lesson.Tool, lesson.Active, lesson.Promoted)
}

// LearnedSince counts the lessons that were learned from outcomes of attempts
// since a time. It leaves out lessons that users taught, that are from other
// repositories, or that were merged.
func (s *LessonStore) LearnedSince(ctx context.Context, repo int64, since time.Time) (n int, err error) {
	err = s.r.QueryRowContext(ctx,
		`SELECT count(*) FROM lessons WHERE repo_id = ? AND created_at >= ? AND source NOT IN (?, ?) AND state <> ?`,
		repo, micros(since), lesson.FromPerson, lesson.FromOrganisation, lesson.Merged).Scan(&n)
	return n, s.explain("count new lessons", err)
}

// LessonRepositories lists the repositories that have lessons, or tasks that may teach some.
func (s *LessonStore) LessonRepositories(ctx context.Context) ([]int64, error) {
	return list(ctx, s.DB, "list the repositories that have lessons", scanValue[int64],
		`SELECT repo_id FROM lessons UNION SELECT repo_id FROM tasks ORDER BY repo_id`)
}

// LessonEvidence lists the evidence about one lesson or, with an empty id, about
// all lessons of a repository, oldest first.
func (s *LessonStore) LessonEvidence(ctx context.Context, repo int64, id lesson.ID) ([]lesson.Evidence, error) {
	return list(ctx, s.DB, "load the evidence about lessons", scanJSON[lesson.Evidence], evidenceOf, repo, id, id)
}

const evidenceOf = `SELECT evidence FROM lesson_evidence
	WHERE repo_id = ? AND (? = '' OR lesson_id = ?) ORDER BY at, key`

// storedLesson is a stored lesson with its row number; seq 0: there is none.
type storedLesson struct {
	lesson.Lesson
	seq int64
}

func loadLesson(ctx context.Context, q querier, repo int64, id lesson.ID) (k storedLesson, err error) {
	err = q.QueryRowContext(ctx, `SELECT seq, lesson FROM lessons WHERE repo_id = ? AND id = ?`, repo, id).
		Scan(&k.seq, jsonColumn{&k.Lesson})
	return k, ignoreNoRows(err)
}

// lessonBatch writes lessons in one transaction.
type lessonBatch struct {
	ctx  context.Context
	tx   *sql.Tx
	repo int64

	postings map[postingKey]map[int]bool // changes of the index: whether the lesson at an offset has the term
}

// lessonBatch begins a batch. It locks the lessons of the repository until the transaction ends.
func (s *DB) lessonBatch(ctx context.Context, tx *sql.Tx, repo int64) (*lessonBatch, error) {
	if err := s.advisoryLock(ctx, tx, fmt.Sprintf("lessons of %d", repo)); err != nil {
		return nil, err
	}
	return &lessonBatch{ctx: ctx, tx: tx, repo: repo, postings: map[postingKey]map[int]bool{}}, nil
}

func (b *lessonBatch) load(id lesson.ID) (storedLesson, error) {
	return loadLesson(b.ctx, b.tx, b.repo, id)
}

// save inserts a lesson, or replaces the old one if old.seq is not 0.
func (b *lessonBatch) save(old storedLesson, l lesson.Lesson) error {
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("encode lesson %s: %w", l.ID, err)
	}
	seq, words := old.seq, l.Terms()
	if seq == 0 {
		err = b.tx.QueryRowContext(b.ctx, `INSERT INTO lessons (repo_id, id, kind, state, source, created_at, lesson, terms)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
			b.repo, l.ID, l.Kind, l.State, l.From.Source, micros(l.CreatedAt), string(text), strings.Join(words, " ")).Scan(&seq)
	} else {
		_, err = b.tx.ExecContext(b.ctx,
			`UPDATE lessons SET kind = ?, state = ?, source = ?, lesson = ?, terms = ? WHERE seq = ?`,
			l.Kind, l.State, l.From.Source, string(text), strings.Join(words, " "), seq)
	}
	if err != nil {
		return err
	}
	b.reindex(old, l, words, seq)
	return nil
}

// retract removes the evidence with a key, if any, and its effect on the counts.
func (b *lessonBatch) retract(key string) error {
	found, err := collect(b.ctx, b.tx, scanJSON[lesson.Evidence],
		`DELETE FROM lesson_evidence WHERE repo_id = ? AND key = ? RETURNING evidence`, b.repo, key)
	if err != nil || len(found) == 0 {
		return err
	}
	old := found[0]
	l, err := b.load(old.Lesson)
	if err != nil || l.seq == 0 || l.State == lesson.Forgotten {
		return err
	}
	since, err := collect(b.ctx, b.tx, scanJSON[lesson.Evidence], evidenceOf, b.repo, l.ID, l.ID)
	if err != nil {
		return err
	}
	return b.save(l, l.Uncount(old, since))
}

// saveEvidence inserts evidence unless its key exists. It returns the number of rows that it inserted.
func (b *lessonBatch) saveEvidence(e lesson.Evidence) (n int64, err error) {
	text, err := json.Marshal(e)
	if err != nil {
		return 0, fmt.Errorf("encode evidence %s: %w", e.Key, err)
	}
	return affected(b.ctx, b.tx, `INSERT INTO lesson_evidence (repo_id, key, lesson_id, at, arm, evidence)
		VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, b.repo, e.Key, e.Lesson, micros(e.At), e.Arm, string(text))
}

// count adds one piece of evidence.
func (b *lessonBatch) count(e lesson.Evidence) error {
	l, err := b.load(e.Lesson)
	if err != nil {
		return err
	}
	for hops := 0; l.State == lesson.Merged && hops < 10; hops++ {
		if l, err = b.load(l.Into); err != nil {
			return err
		}
	}
	if l.seq == 0 || l.State == lesson.Forgotten {
		return nil
	}
	e.Lesson = l.ID
	if n, err := b.saveEvidence(e); err != nil || n == 0 {
		return err
	}
	after, _ := e.Count(l.Lesson).UpdateState(e.At)
	return b.save(l, after)
}
