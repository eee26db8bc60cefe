package store

import (
	"context"
	"fmt"
	"time"
)

// Heard is a comment outside of any task, or about a whole repository, and
// SIA's answer.
type Heard struct {
	Repo   int64
	Event  string // id of the event, unique in the repository
	Issue  int    // number of the issue or pull request of the comment
	Login  string
	Answer string // empty: no answer
	At     time.Time
}

// SaveHeard stores a comment. The first record of an event is kept.
func (s *DeliveryStore) SaveHeard(ctx context.Context, h Heard) error {
	return s.exec(ctx, "note what was heard", `INSERT INTO heard (repo_id, event_id, issue, login, answer, at)
		VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, h.Repo, h.Event, h.Issue, h.Login, h.Answer, micros(h.At))
}

// Heard loads the comment of an event; the error wraps [ErrNotFound] when it is not
// stored.
func (s *DeliveryStore) Heard(ctx context.Context, repo int64, event string) (h Heard, err error) {
	h = Heard{Repo: repo, Event: event}
	err = s.r.QueryRowContext(ctx, `SELECT issue, login, answer, at FROM heard WHERE repo_id = ? AND event_id = ?`,
		repo, event).Scan(&h.Issue, &h.Login, &h.Answer, timeColumn{&h.At})
	return h, s.explain(fmt.Sprintf("look whether %s was heard", event), orNotFound(err))
}

// HeardSince lists the comments in a repository since a time that are on an issue or by
// a user, oldest first.
func (s *DeliveryStore) HeardSince(
	ctx context.Context, repo int64, issue int, login string, since time.Time,
) ([]Heard, error) {
	return list(ctx, s.DB, "list what was heard", func(from row) (Heard, error) {
		h := Heard{Repo: repo}
		err := from.Scan(&h.Event, &h.Issue, &h.Login, &h.Answer, timeColumn{&h.At})
		return h, err
	}, `SELECT event_id, issue, login, answer, at FROM heard
		WHERE at >= ? AND repo_id = ? AND (issue = ? OR login = ?) ORDER BY at, event_id`, micros(since), repo, issue, login)
}
