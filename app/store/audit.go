package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Act is something that somebody did, or SIA. Its JSON is what `sia audit` prints; fields are only added.
type Act struct {
	At     time.Time  `json:"at"`
	Who    string     `json:"who"`            // a login, "operator" (whoever runs the server) or "sia"
	What   string     `json:"what"`           // kind of the event or act, "decide " and the question, "effect " and a kind
	Repo   int64      `json:"repo,omitempty"` // GitHub's id; 0: none, or all
	Task   sia.TaskID `json:"task,omitempty"`
	Detail string     `json:"detail,omitempty"` // what followed, for people
}

// ActFilter chooses acts; a zero field chooses all.
type ActFilter struct {
	Repo  int64  // GitHub's repository id
	Login string // in whatever case; also "operator" and "sia"
	Since time.Time
	Limit int // at most; 0 is 100
}

// writesGitHub are the effects that change something on GitHub.
const writesGitHub = `'push', 'pull', 'update', 'rerun', 'memory', 'announce', 'escalate', 'close', 'ready', 'draft',
	'sync', 'react', 'reply', 'respond', 'study'`

// Acts lists who did what, the latest first: what people said and asked for, pauses, changes of policies, decisions,
// and what SIA wrote to GitHub. Sign-ins are not stored.
func (s *PersonStore) Acts(ctx context.Context, f ActFilter) ([]Act, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	return list(ctx, s.DB, fmt.Sprintf("list the last %d acts", f.Limit), func(from row) (a Act, err error) {
		err = from.Scan(intoTime{&a.At}, &a.Who, &a.What, &a.Repo, &a.Task, &a.Detail)
		return a, err
	}, `SELECT at, who, what, repo, task, detail FROM (
		SELECT e.at, CASE e.by_login WHEN '' THEN 'operator' ELSE e.by_login END AS who, e.kind AS what, t.repo_id AS repo,
			e.task_id AS task, CASE e.ignored WHEN '' THEN e.why ELSE 'ignored: ' || e.ignored END AS detail
			FROM task_events e JOIN tasks t ON t.id = e.task_id
			WHERE e.by_login <> '' OR e.kind <> 'restored' AND e.event LIKE '%"at":"%","by":{"operator":true}%'
		UNION ALL SELECT at, 'sia', 'decide ' || type, repo_id, task_id, choice || ': ' || reason FROM decisions
		UNION ALL SELECT f.ended_at, 'sia', 'effect ' || f.kind, t.repo_id, f.task_id,
			CASE f.state WHEN 'failed' THEN 'failed: ' || f.error ELSE 'done' END
			FROM effects f JOIN tasks t ON t.id = f.task_id WHERE f.state <> 'pending' AND f.kind IN (`+writesGitHub+`)
		UNION ALL SELECT at, login, 'said', repo_id, '', '#' || issue || ': ' ||
			CASE answer WHEN '' THEN 'no answer' ELSE answer END FROM heard WHERE login <> ''
		UNION ALL SELECT at, by_login, what, repo_id, '', detail FROM acts
		UNION ALL SELECT created_at, proposed_by, 'propose policy', CASE alone WHEN 1 THEN place_id ELSE 0 END, '',
			name || ': ' || change FROM experiments WHERE proposed_by <> ''
		UNION ALL SELECT CASE started_at WHEN 0 THEN created_at ELSE started_at END, approved_by, 'approve policy',
			CASE alone WHEN 1 THEN place_id ELSE 0 END, '', name || ': ' || change FROM experiments WHERE approved_by <> ''
		UNION ALL SELECT at, CASE by_login WHEN '' THEN 'sia' ELSE by_login END, 'hold policy', place_id, '',
			name || ': ' || why FROM policy_holds
		UNION ALL SELECT at, approved_by, 'share lesson', 0, '', id FROM shared_lessons
	) AS acts WHERE at >= ? AND (? = 0 OR repo = ?) AND (? = '' OR lower(who) = lower(?))
	ORDER BY at DESC, task, what LIMIT ?`, micros(f.Since), f.Repo, f.Repo, f.Login, f.Login, f.Limit)
}

// LogAct keeps an act that neither a task's log nor another table has: somebody taught a lesson, or had one forgotten.
func (s *PersonStore) LogAct(ctx context.Context, a Act) error {
	return s.write(ctx, "log who did what", func(tx *sql.Tx) error { return logAct(ctx, tx, a) })
}

func logAct(ctx context.Context, tx *sql.Tx, a Act) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO acts (at, by_login, what, repo_id, detail) VALUES (?, ?, ?, ?, ?)`,
		micros(a.At), cmp.Or(a.Who, "operator"), a.What, a.Repo, a.Detail)
	return err
}
