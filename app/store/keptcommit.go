package store

import (
	"context"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sia"
)

// KeepCommit stores a commit of an attempt, as a pack of the objects that its parents lack, so that the task can
// continue when the mirror is lost. A commit that is stored already is kept.
func (s *TranscriptStore) KeepCommit(ctx context.Context, t sia.Task, sha string, pack []byte) error {
	return s.exec(ctx, "keep commit "+sha, `INSERT INTO commits (repo_id, sha, task_id, pack, at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (repo_id, sha) DO NOTHING`, t.Repo.ID, sha, t.ID, pack, micros(s.now()))
}

// KeptCommit returns the pack that [TranscriptStore.KeepCommit] stored; nil: there is no such commit.
func (s *TranscriptStore) KeptCommit(ctx context.Context, repo int64, sha string) (pack []byte, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT pack FROM commits WHERE repo_id = ? AND sha = ?`, repo, sha).Scan(&pack)
	return pack, s.explain("load commit "+sha, ignoreNoRows(err))
}

// PruneCommits deletes the commits of tasks that have ended and did not change since a time: their result is on their
// branches.
func (s *TranscriptStore) PruneCommits(ctx context.Context, before time.Time) error {
	return s.exec(ctx, fmt.Sprintf("prune commits of before %s", before), `DELETE FROM commits WHERE task_id IN
		(SELECT id FROM tasks WHERE state IN (?, ?) AND updated_at < ?)`, sia.Passed, sia.Stopped, micros(before))
}
