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

// actBatch is the number of acts that are completed together, and held in memory.
const actBatch = 500

// writesGitHub lists the kinds of effects that change something on GitHub.
const writesGitHub = `'push', 'pull', 'update', 'take-back', 'rerun', 'memory', 'announce', 'escalate', 'close',
	'final-review', 'ready', 'draft', 'sync', 'react', 'reply', 'respond', 'study'`

// Acts lists the audit log, the latest first: comments and requests of users, pauses, changes of policies, decisions,
// and what SIA wrote to GitHub. Sign-ins are not stored.
func (s *PersonStore) Acts(ctx context.Context, f ActFilter) (acts []Act, err error) {
	err = s.EachAct(ctx, f, func(a Act) error {
		acts = append(acts, a)
		return nil
	})
	return acts, err
}

// EachAct calls visit with each act that [PersonStore.Acts] lists. It holds few of them in memory.
func (s *PersonStore) EachAct(ctx context.Context, f ActFilter, visit func(Act) error) error {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	op := fmt.Sprintf("list the last %d acts", f.Limit)
	rows, err := s.queryActs(ctx, f)
	if err != nil {
		return s.explain(op, err)
	}
	defer rows.Close()
	for more := rows.Next(); more; {
		var acts []Act
		var effects []string // the effect key of each act; empty: it is no effect
		for ; more && len(acts) < actBatch; more = rows.Next() {
			var a Act
			var effect string
			err := rows.Scan(timeColumn{&a.At}, &a.Who, &a.What, &a.Repo, &a.Task, &a.Detail, &effect)
			if err != nil {
				return s.explain(op, err)
			}
			a.Who, a.Person = strings.CutPrefix(a.Who, "@")
			acts, effects = append(acts, a), append(effects, effect)
		}
		if err := s.addWritten(ctx, acts, effects); err != nil {
			return s.explain(op, err)
		}
		for _, a := range acts {
			if err := visit(a); err != nil {
				return err
			}
		}
	}
	return s.explain(op, rows.Err())
}

// queryActs runs the query for acts, whose limit is set.
func (s *PersonStore) queryActs(ctx context.Context, f ActFilter) (*sql.Rows, error) {
	names := []string{f.Login, "@" + f.Login}
	if name := strings.ToLower(f.Login); name == Operator || name == own || strings.HasPrefix(name, "@") {
		names[1] = f.Login
	}
	return s.r.QueryContext(ctx, `SELECT at, who, what, repo, task, detail, effect FROM (SELECT at,
			CASE who WHEN 'whoever runs the server' THEN '`+Operator+`' ELSE who END AS who,
			what, repo, task, detail, effect, nth FROM (
		SELECT e.at, CASE e.by_login WHEN '' THEN '`+Operator+`' ELSE '@' || e.by_login END AS who, e.kind AS what,
			t.repo_id AS repo, e.task_id AS task,
			CASE e.ignored WHEN '' THEN e.why ELSE 'ignored: ' || e.ignored END AS detail, '' AS effect, e.seq AS nth
			FROM task_events e JOIN tasks t ON t.id = e.task_id
			WHERE e.by_login <> '' OR e.kind <> 'restored' AND e.event LIKE '%"at":"%","by":{"operator":true}%'
		UNION ALL SELECT at, 'sia', 'decide ' || type, repo_id, task_id, choice || ': ' || reason, '', 0 FROM decisions
		UNION ALL SELECT f.ended_at, 'sia', 'effect ' || f.kind, t.repo_id, f.task_id,
			CASE f.state WHEN 'failed' THEN 'failed: ' || f.error ELSE 'done' END, f.key, 0
			FROM effects f JOIN tasks t ON t.id = f.task_id WHERE f.state <> 'pending' AND f.kind IN (`+writesGitHub+`)
		UNION ALL SELECT at, '@' || login, 'said', repo_id, '', '#' || issue || ': ' ||
			CASE answer WHEN '' THEN 'no answer' ELSE answer END, '', 0 FROM heard WHERE login <> ''
		UNION ALL SELECT at, CASE WHEN by_login IN ('`+Operator+`', '`+own+`') THEN by_login
			ELSE '@' || ltrim(by_login, '@') END, what, repo_id, '', detail, '', 0 FROM acts
		UNION ALL SELECT at, '`+Operator+`', 'import priors', 0, '', 'import ' || id || ': ' || source, '', 0
			FROM prior_imports
		UNION ALL SELECT removed_at, '`+Operator+`', 'remove priors', 0, '', 'import ' || id || ': ' || source, '', 0
			FROM prior_imports WHERE removed_at <> 0
		UNION ALL SELECT created_at, proposed_by, 'propose policy', CASE alone WHEN 1 THEN place_id ELSE 0 END, '',
			name || ': ' || change, '', 0 FROM experiments WHERE proposed_by <> ''
		UNION ALL SELECT CASE started_at WHEN 0 THEN created_at ELSE started_at END,
			'@' || ltrim(approved_by, '@'), 'approve policy',
			CASE alone WHEN 1 THEN place_id ELSE 0 END, '', name || ': ' || change, '', 0
			FROM experiments WHERE approved_by <> ''
	) AS written) AS acts WHERE at >= ? AND (? = 0 OR repo = ?) AND (? = '' OR lower(who) IN (lower(?), lower(?)))
	ORDER BY at DESC, task, nth DESC, what, detail, effect LIMIT ?`,
		micros(f.Since), f.Repo, f.Repo, f.Login, names[0], names[1], f.Limit)
}

// addWritten sets Wrote in the acts of completed effects.
func (s *PersonStore) addWritten(ctx context.Context, acts []Act, effects []string) error {
	places := map[sia.TaskID]taskPlaces{}
	for i := range acts {
		a := &acts[i]
		if effects[i] == "" || a.Detail != "done" {
			continue
		}
		at, known := places[a.Task]
		var err error
		if !known {
			var t sia.Task
			if t, err = task(ctx, s.r, a.Task); errors.Is(err, ErrNotFound) { // deleted meanwhile
				continue
			}
			at = placesOf(t)
			places[a.Task] = at
		}
		if err == nil {
			a.Wrote, err = s.loadWrote(ctx, at, effects[i])
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

// taskPlaces are the objects on GitHub to which the effects of a task write.
type taskPlaces struct {
	issue          int
	pull, question Wrote
}

func placesOf(t sia.Task) taskPlaces {
	at := taskPlaces{issue: t.Issue, pull: Wrote{Pull: t.Pull.Number, URL: t.Pull.URL}}
	if t.Escalation != nil {
		at.question = Wrote{Issue: t.Escalation.Issue, URL: t.Escalation.URL}
	}
	return at
}

// loadWrote returns what an effect wrote, from its outcome or else from the effect and its task's places.
func (s *PersonStore) loadWrote(ctx context.Context, at taskPlaces, key string) (w Wrote, err error) {
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
		return Wrote{Issue: cmp.Or(f.OnIssue, at.issue), Comment: cmp.Or(f.Thread, f.Comment)}, nil
	case sia.DoRerun:
		return Wrote{Commit: f.SHA}, nil
	case sia.DoSync:
		return Wrote{Issue: at.issue, Comment: status}, nil
	case sia.DoReady, sia.DoDraft, sia.DoRespond, sia.DoFinalReview, sia.DoStudy:
		return at.pull, nil
	case sia.DoClose:
		return at.question, nil
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
