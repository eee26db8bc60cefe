package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Operator and own are the names of the server's operator and of SIA in acts. People's have an @ in the database.
const (
	Operator = "operator"
	own      = "sia"
)

// Act is an entry of the audit log. `sia audit` prints its JSON, to which fields may only be added.
type Act struct {
	At     time.Time  `json:"at"`
	Who    string     `json:"who"`            // a login; or "operator" (of the server) or "sia", if person is false
	What   string     `json:"what"`           // kind of the event or act, "decide " and the question, "effect " and a kind
	Repo   int64      `json:"repo,omitempty"` // GitHub's id; 0: none, or all
	Task   sia.TaskID `json:"task,omitempty"`
	Detail string     `json:"detail,omitempty"` // the result, for users
	Person bool       `json:"person,omitempty"` // Who is the login of a person or bot
	Wrote             // by an effect
}

// Wrote identifies the objects that an effect wrote to GitHub, if known; zero: none.
type Wrote struct {
	Commit  sia.SHA `json:"commit,omitempty"`
	Pull    int     `json:"pull,omitempty"`    // number of the pull request
	Issue   int     `json:"issue,omitempty"`   // number of the issue or pull request of the comment
	Comment int64   `json:"comment,omitempty"` // GitHub's id; for a reply or a reaction, the comment it answers
	URL     string  `json:"url,omitempty"`
}

// ActFilter selects acts; a zero field selects all.
type ActFilter struct {
	Repo  int64  // GitHub's repository id
	Login string // case-insensitive; also "operator" and "sia", which with an @ are people
	Since time.Time
	Limit int // at most; 0 is 100
}

// writesGitHub lists the kinds of effects that change something on GitHub.
const writesGitHub = `'push', 'pull', 'update', 'take-back', 'rerun', 'memory', 'announce', 'escalate', 'close',
	'final-review', 'ready', 'draft', 'sync', 'react', 'reply', 'respond', 'study'`

// Acts lists the audit log, the latest first: comments and requests of users, pauses, changes of policies, decisions,
// and what SIA wrote to GitHub. Sign-ins are not stored.
func (s *PersonStore) Acts(ctx context.Context, f ActFilter) ([]Act, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	op := fmt.Sprintf("list the last %d acts", f.Limit)
	names := []string{f.Login, "@" + f.Login}
	if name := strings.ToLower(f.Login); name == Operator || name == own || strings.HasPrefix(name, "@") {
		names[1] = f.Login
	}
	var effects []string // the effect key of each act; empty: it is no effect
	acts, err := list(ctx, s.DB, op, func(from row) (a Act, err error) {
		var effect string
		err = from.Scan(timeColumn{&a.At}, &a.Who, &a.What, &a.Repo, &a.Task, &a.Detail, &effect)
		a.Who, a.Person = strings.CutPrefix(a.Who, "@")
		effects = append(effects, effect)
		return a, err
	}, `SELECT at, who, what, repo, task, detail, effect FROM (SELECT at,
			CASE who WHEN 'whoever runs the server' THEN '`+Operator+`' ELSE who END AS who,
			what, repo, task, detail, effect FROM (
		SELECT e.at, CASE e.by_login WHEN '' THEN '`+Operator+`' ELSE '@' || e.by_login END AS who, e.kind AS what,
			t.repo_id AS repo, e.task_id AS task,
			CASE e.ignored WHEN '' THEN e.why ELSE 'ignored: ' || e.ignored END AS detail, '' AS effect
			FROM task_events e JOIN tasks t ON t.id = e.task_id
			WHERE e.by_login <> '' OR e.kind <> 'restored' AND e.event LIKE '%"at":"%","by":{"operator":true}%'
		UNION ALL SELECT at, 'sia', 'decide ' || type, repo_id, task_id, choice || ': ' || reason, '' FROM decisions
		UNION ALL SELECT f.ended_at, 'sia', 'effect ' || f.kind, t.repo_id, f.task_id,
			CASE f.state WHEN 'failed' THEN 'failed: ' || f.error ELSE 'done' END, f.key
			FROM effects f JOIN tasks t ON t.id = f.task_id WHERE f.state <> 'pending' AND f.kind IN (`+writesGitHub+`)
		UNION ALL SELECT at, '@' || login, 'said', repo_id, '', '#' || issue || ': ' ||
			CASE answer WHEN '' THEN 'no answer' ELSE answer END, '' FROM heard WHERE login <> ''
		UNION ALL SELECT at, CASE WHEN by_login IN ('`+Operator+`', '`+own+`') THEN by_login
			ELSE '@' || ltrim(by_login, '@') END, what, repo_id, '', detail, '' FROM acts
		UNION ALL SELECT at, '`+Operator+`', 'import priors', 0, '', 'import ' || id || ': ' || source, ''
			FROM prior_imports
		UNION ALL SELECT removed_at, '`+Operator+`', 'remove priors', 0, '', 'import ' || id || ': ' || source, ''
			FROM prior_imports WHERE removed_at <> 0
		UNION ALL SELECT created_at, proposed_by, 'propose policy', CASE alone WHEN 1 THEN place_id ELSE 0 END, '',
			name || ': ' || change, '' FROM experiments WHERE proposed_by <> ''
		UNION ALL SELECT CASE started_at WHEN 0 THEN created_at ELSE started_at END,
			'@' || ltrim(approved_by, '@'), 'approve policy',
			CASE alone WHEN 1 THEN place_id ELSE 0 END, '', name || ': ' || change, ''
			FROM experiments WHERE approved_by <> ''
	) AS written) AS acts WHERE at >= ? AND (? = 0 OR repo = ?) AND (? = '' OR lower(who) IN (lower(?), lower(?)))
	ORDER BY at DESC, task, what LIMIT ?`, micros(f.Since), f.Repo, f.Repo, f.Login, names[0], names[1],
		f.Limit)
	if err != nil {
		return nil, err
	}
	return acts, s.explain(op, s.addWritten(ctx, acts, effects))
}

// addWritten sets Wrote in the acts of completed effects.
func (s *PersonStore) addWritten(ctx context.Context, acts []Act, effects []string) error {
	tasks := map[sia.TaskID]sia.Task{}
	for i := range acts {
		a := &acts[i]
		if effects[i] == "" || a.Detail != "done" {
			continue
		}
		t, known := tasks[a.Task]
		var err error
		if !known {
			if t, err = task(ctx, s.r, a.Task); errors.Is(err, ErrNotFound) { // deleted meanwhile
				continue
			}
			tasks[a.Task] = t
		}
		if err == nil {
			a.Wrote, err = s.loadWrote(ctx, t, effects[i])
		}
		if err != nil {
			return err
		}
		if words := a.describe(); words != "" {
			a.Detail += ": " + words
		}
	}
	return nil
}

// loadWrote returns what an effect wrote, from its outcome or else from the effect and its task.
func (s *PersonStore) loadWrote(ctx context.Context, t sia.Task, key string) (w Wrote, err error) {
	var f sia.Effect
	var outcome sql.NullString // null: it did not change the task
	var status int64           // the status comment
	if err := s.r.QueryRowContext(ctx, `SELECT f.effect, o.event, coalesce(s.github_id, 0) FROM effects f
		LEFT JOIN task_events o ON o.task_id = f.task_id AND o.event_id = f.key
		LEFT JOIN surfaces s ON s.task_id = f.task_id AND s.kind = ? WHERE f.key = ?`, SurfaceStatus, key).
		Scan(jsonColumn{&f}, &outcome, &status); err != nil {
		return w, ignoreNoRows(err)
	}
	var e sia.Event
	if outcome.Valid {
		if err := json.Unmarshal([]byte(outcome.String), &e); err != nil {
			return w, err
		}
	}
	switch of := e.Fact.(type) {
	case sia.Pushed:
		return Wrote{Commit: of.SHA}, nil
	case sia.Updated:
		return Wrote{Commit: of.SHA}, nil
	case sia.TakenBack:
		return Wrote{Commit: of.SHA}, nil
	case sia.MemoryCommitted:
		return Wrote{Commit: of.SHA}, nil
	case sia.PullOpened:
		return Wrote{Pull: of.Number, URL: of.URL}, nil
	case sia.CommentPosted:
		return Wrote{URL: of.URL}, nil
	case sia.EscalationOpened:
		return Wrote{Issue: of.Issue, URL: of.URL}, nil
	}
	switch f.Kind {
	case sia.DoReact, sia.DoReply:
		return Wrote{Issue: cmp.Or(f.OnIssue, t.Issue), Comment: cmp.Or(f.Thread, f.Comment)}, nil
	case sia.DoRerun:
		return Wrote{Commit: f.SHA}, nil
	case sia.DoSync:
		return Wrote{Issue: t.Issue, Comment: status}, nil
	case sia.DoReady, sia.DoDraft, sia.DoRespond, sia.DoFinalReview, sia.DoStudy:
		return Wrote{Pull: t.Pull.Number, URL: t.Pull.URL}, nil
	case sia.DoClose:
		if t.Escalation != nil {
			return Wrote{Issue: t.Escalation.Issue, URL: t.Escalation.URL}, nil
		}
	}
	return w, nil
}

// describe describes the written objects, for users.
func (w Wrote) describe() string {
	var all []string
	if w.Commit != "" {
		all = append(all, "commit "+w.Commit.Short())
	}
	if w.Pull != 0 {
		all = append(all, fmt.Sprintf("pull request #%d", w.Pull))
	}
	if w.Issue != 0 {
		all = append(all, fmt.Sprintf("issue #%d", w.Issue))
	}
	if w.Comment != 0 {
		all = append(all, fmt.Sprintf("comment %d", w.Comment))
	}
	if w.URL != "" {
		all = append(all, w.URL)
	}
	return strings.Join(all, ", ")
}

// LogAct stores an act that neither a task's log nor another table has, such as a lesson that was taught or forgotten.
// Who is a login, perhaps after an @; empty: the operator.
func (s *PersonStore) LogAct(ctx context.Context, a Act) error {
	return s.write(ctx, "log who did what", func(tx *sql.Tx) error { return logAct(ctx, tx, a) })
}

func logAct(ctx context.Context, tx *sql.Tx, a Act) error {
	who := Operator
	if a.Who != "" && a.Who != (sia.Actor{Operator: true}).Mention() {
		who = "@" + strings.TrimPrefix(a.Who, "@")
	}
	return logActOf(ctx, tx, who, a)
}

// logActOf is logAct for an act of who: [Operator], own, or a login after an @.
func logActOf(ctx context.Context, tx *sql.Tx, who string, a Act) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO acts (at, by_login, what, repo_id, detail) VALUES (?, ?, ?, ?, ?)`,
		micros(a.At), who, a.What, a.Repo, a.Detail)
	return err
}
