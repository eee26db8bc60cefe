package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// PersonStore finds and erases the data about a person, in all tables.
type PersonStore struct{ *DB }

// Forgotten reports what erasing a person changed, or would change.
type Forgotten struct {
	Logins  []string       // logins of the person in this database
	IDs     []int64        // GitHub's user ids; empty: none is known
	Rows    map[string]int // table → number of changed rows
	Tasks   []sia.Task     // that named the person in their log, after the change
	Waiting int            // unfinished deliveries and attempts of runners that name the person: they are kept
	Words   int            // rows that have the login as a word without an @: a repository's owner, code or prose
}

// errRehearsed rolls back the transaction of a rehearsal.
var errRehearsed = errors.New("rehearsed")

// personBatch is the number of rows in one transaction. A task has one of its own, with its log.
const personBatch = 100

// Forget replaces a person's login and id by those of GitHub's user for deleted accounts, where they are unambiguous:
// as a value, after an @, in the URL of a profile, or in a noreply e-mail address of GitHub. It empties the bodies of
// deliveries that name the person. Replaying a task's log gives the stored task before and after. With rehearse,
// Forget only counts the changes.
//
// It may run while a server runs: each batch is a transaction of its own. When one fails, Forget goes on with the
// others, and returns what changed with the errors of all; calling it again continues.
func (s *PersonStore) Forget(ctx context.Context, login string, rehearse bool) (Forgotten, error) {
	f := &personEraser{DB: s.DB, ctx: ctx, rehearse: rehearse, done: Forgotten{Rows: map[string]int{}}}
	op := "forget " + login
	if err := f.identify(login); err != nil {
		return f.done, s.explain(op, err)
	}
	var all distinctErrors
	for _, step := range []func() error{f.deliveries, f.attempts, f.tasks, f.lessons, f.others} {
		if ctx.Err() == nil {
			all.add(step())
		}
	}
	all.add(ctx.Err())
	if !rehearse { // the act must not name the person
		all.add(s.LogAct(context.WithoutCancel(ctx), Act{At: s.now(), What: "forget person",
			Detail: fmt.Sprintf("%d rows changed", f.done.All())}))
	}
	return f.done, s.explain(op, all.join())
}

// Compact rewrites the file, so that its free space has no changed or deleted data. It needs as much free disk space
// as the file takes, and blocks writers: a server's writes fail after ten seconds.
func (s *DB) Compact(ctx context.Context) error {
	return s.explain("compact the database", s.compact(ctx))
}

func (s *sqliteDialect) compact(ctx context.Context) error {
	if _, err := s.ckpt.ExecContext(ctx, `VACUUM`); err != nil {
		return err
	}
	var busy bool
	var pages, moved int
	// the write-ahead log has the old pages
	err := s.ckpt.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &moved)
	if err == nil && busy {
		err = &sia.Error{Op: "compact the database", Message: "something reads the database, so " + s.path + "-wal still " +
			"holds what was there before; end what reads it, such as the server or a copy that is being made, and compact it " +
			"again"}
	}
	return err
}

// distinctErrors collects errors, each text once: many batches may fail for the same reason.
type distinctErrors struct {
	errs  []error
	texts map[string]bool
}

func (d *distinctErrors) add(err error) {
	if err == nil || d.texts[err.Error()] {
		return
	}
	if d.texts == nil {
		d.texts = map[string]bool{}
	}
	d.texts[err.Error()] = true
	d.errs = append(d.errs, err)
}

func (d *distinctErrors) join() error { return errors.Join(d.errs...) }

type personEraser struct {
	*DB
	ctx      context.Context
	rehearse bool
	who      person
	done     Forgotten
}

// identify finds the ids of a login and, if there is exactly one, the other logins of that id.
func (f *personEraser) identify(login string) error {
	if login == "" {
		return &sia.Error{Op: "forget", Permanent: true, Message: "name the person's login"}
	}
	if strings.EqualFold(login, ghostLogin) {
		return &sia.Error{Op: "forget", Permanent: true, Message: ghostLogin + " stands for people who were forgotten"}
	}
	scan := func(from row) (a sia.Actor, err error) {
		err = from.Scan(&a.ID, &a.Login)
		return a, err
	}
	found, err := collect(f.ctx, f.r, scan, `SELECT DISTINCT by_id, by_login FROM task_events
		WHERE lower(by_login) = lower(?) AND by_id <> 0 ORDER BY by_id`, login)
	if err != nil {
		return err
	}
	f.done.Logins = []string{login}
	for _, a := range found {
		if !slices.Contains(f.done.IDs, a.ID) {
			f.done.IDs = append(f.done.IDs, a.ID)
		}
	}
	if len(f.done.IDs) == 1 { // with several, another user took the login later
		if found, err = collect(f.ctx, f.r, scan, `SELECT DISTINCT by_id, by_login FROM task_events
			WHERE by_id = ? AND by_login <> '' ORDER BY by_login`, f.done.IDs[0]); err != nil {
			return err
		}
		for _, a := range found {
			if !slices.ContainsFunc(f.done.Logins, func(l string) bool { return strings.EqualFold(l, a.Login) }) {
				f.done.Logins = append(f.done.Logins, a.Login)
			}
		}
	}
	f.who = person{logins: f.done.Logins, ids: f.done.IDs}
	return nil
}

// batches calls work with ranges of a table's row numbers, which are in the column key, each as a batch. It continues
// after an error.
func (f *personEraser) batches(
	table, key string, work func(tx *sql.Tx, from, to int64) (counts, error),
) error {
	var all distinctErrors
	for last := int64(-1 << 62); ; {
		var end sql.NullInt64
		err := f.r.QueryRowContext(f.ctx, `SELECT max(`+key+`) FROM (SELECT `+key+` FROM `+table+` WHERE `+key+` > ?
			ORDER BY `+key+` LIMIT `+fmt.Sprint(personBatch)+`) AS batch`, last).Scan(&end)
		if err != nil || !end.Valid {
			all.add(err)
			return all.join()
		}
		all.add(f.batch(table, func(tx *sql.Tx) (counts, error) { return work(tx, last, end.Int64) }))
		last = end.Int64
	}
}

// batch calls work in a transaction of its own. It adds the counts that work returns after the transaction was
// committed or rehearsed.
func (f *personEraser) batch(table string, work func(tx *sql.Tx) (counts, error)) error {
	var n counts
	err := f.write(f.ctx, "forget a person in "+table, func(tx *sql.Tx) (err error) {
		if n, err = work(tx); err == nil && f.rehearse {
			err = errRehearsed
		}
		return err
	})
	if err != nil && !errors.Is(err, errRehearsed) {
		return err
	}
	for name, rows := range n.rows {
		f.done.Rows[name] += rows
	}
	f.done.Tasks = append(f.done.Tasks, n.tasks...)
	f.done.Words += n.words
	f.done.Waiting += n.waiting
	return nil
}

// counts has the counts of one transaction.
type counts struct {
	rows           map[string]int
	tasks          []sia.Task
	words, waiting int
}

func (c *counts) changed(table string) {
	if c.rows == nil {
		c.rows = map[string]int{}
	}
	c.rows[table]++
}

// deliveries empties the bodies that name the person. The rows remain, so that no delivery is processed twice.
func (f *personEraser) deliveries() error {
	type delivery struct {
		id    int64
		body  []byte
		state string
	}
	empty, err := pack([]byte("{}"))
	if err != nil {
		return err
	}
	return f.batches("deliveries", "id", func(tx *sql.Tx, from, to int64) (n counts, err error) {
		all, err := collect(f.ctx, tx, func(from row) (d delivery, err error) {
			err = from.Scan(&d.id, packedColumn{&d.body}, &d.state)
			return d, err
		}, `SELECT id, body, state FROM deliveries WHERE id > ? AND id <= ?`+f.forUpdate(), from, to)
		if err != nil {
			return n, err
		}
		for _, d := range all {
			if !f.who.isIn(d.body) {
				continue
			}
			if d.state == "pending" {
				n.waiting++
				continue
			}
			if _, err := tx.ExecContext(f.ctx, `UPDATE deliveries SET body = ? WHERE id = ?`, empty, d.id); err != nil {
				return n, err
			}
			n.changed("deliveries")
		}
		return n, nil
	})
}

// attempts counts the attempts of runners, waiting or running, that name the person: data that was sent to a runner
// can't be erased. Their rows are deleted when their effect ends.
func (f *personEraser) attempts() error {
	all, err := collect(f.ctx, f.r, func(from row) (named bool, err error) {
		var work, report, result []byte
		err = from.Scan(&work, &report, &result)
		return slices.ContainsFunc([][]byte{work, report, result}, f.who.isIn), err
	}, `SELECT work, report, result FROM runner_attempts`)
	for _, named := range all {
		if named {
			f.done.Waiting++
		}
	}
	return err
}

// tasks rewrites the logs of tasks, and each task from its new log. Only tasks that name the person block writers.
func (f *personEraser) tasks() error {
	type place struct {
		row int64
		id  sia.TaskID
	}
	var all []error
	for last := int64(-1 << 62); ; {
		batch, err := collect(f.ctx, f.r, func(from row) (p place, err error) {
			err = from.Scan(&p.row, &p.id)
			return p, err
		}, `SELECT rowid, id FROM tasks WHERE rowid > ? ORDER BY rowid LIMIT ?`, last, personBatch)
		if err != nil || len(batch) == 0 {
			return errors.Join(append(all, err)...)
		}
		for _, p := range batch {
			if err := f.task(p.id); err != nil {
				all = append(all, fmt.Errorf("task %s: %w", p.id, err))
			}
			if f.ctx.Err() != nil {
				return errors.Join(all...)
			}
			last = p.row
		}
	}
}

// task rewrites a task if its log names the person.
func (f *personEraser) task(id sia.TaskID) error {
	changed, words, err := f.log(f.r, id)
	if err != nil || len(changed) == 0 {
		f.done.Words += words
		return err
	}
	return f.batch("tasks", func(tx *sql.Tx) (n counts, err error) { return n, f.rewriteTask(tx, id, &n) })
}

// loggedEvent has the columns of an event that may name a person.
type loggedEvent struct {
	seq          int
	event        string
	byID         int64
	by           string
	why, ignored string
}

// log returns the events of a task's log that name the person, without the person. words counts those that still have
// the login as a word.
func (f *personEraser) log(q querier, id sia.TaskID) (changed []loggedEvent, words int, err error) {
	log, err := collect(f.ctx, q, func(from row) (r loggedEvent, err error) {
		err = from.Scan(&r.seq, &r.event, &r.byID, &r.by, &r.why, &r.ignored)
		return r, err
	}, `SELECT seq, event, by_id, by_login, why, ignored FROM task_events WHERE task_id = ? ORDER BY seq`, id)
	for _, r := range log {
		e := rowEraser{who: f.who}
		r.event, r.by = e.text(r.event), e.login(r.by)
		r.why, r.ignored = e.text(r.why), e.text(r.ignored)
		if slices.Contains(f.who.ids, r.byID) || r.by == ghostLogin && r.byID != ghostID {
			r.byID, e.changed = ghostID, true
		}
		words += e.wordsLeft()
		if e.changed {
			changed = append(changed, r)
		}
	}
	return changed, words, err
}

func (f *personEraser) rewriteTask(tx *sql.Tx, id sia.TaskID, n *counts) error {
	if err := f.advisoryLock(f.ctx, tx, taskLock(id)); err != nil {
		return err
	}
	before, err := taskToChange(f.ctx, tx, id)
	if errors.Is(err, ErrNotFound) { // deleted meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	changed, words, err := f.log(tx, id)
	if err != nil {
		return err
	}
	n.words += words
	if len(changed) == 0 {
		return nil
	}
	_, text, stored, err := replay(f.ctx, tx, id, before)
	if err != nil {
		return err
	}
	for _, r := range changed {
		n.changed("task_events")
		if _, err := tx.ExecContext(f.ctx, `UPDATE task_events SET event = ?, by_id = ?, by_login = ?, why = ?, ignored = ?
			WHERE task_id = ? AND seq = ?`, r.event, r.byID, r.by, r.why, r.ignored, id, r.seq); err != nil {
			return err
		}
	}
	after, _, _, err := replay(f.ctx, tx, id, before)
	if err != nil {
		return err
	}
	if text != stored { // the log did not give the stored task before either: rewrite the task alone
		return f.saveTask(tx, before, n)
	}
	if after.State != before.State || after.Version != before.Version {
		return fmt.Errorf("without the person its log gives %s at version %d, and stored is %s at %d", after.State,
			after.Version, before.State, before.Version)
	}
	return f.saveTask(tx, after, n)
}

func (f *personEraser) saveTask(tx *sql.Tx, t sia.Task, n *counts) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	e := rowEraser{who: f.who} // changes nothing in a task that was replayed
	if err := json.Unmarshal([]byte(e.text(string(text))), &t); err != nil {
		return err
	}
	if text, err = json.Marshal(t); err != nil {
		return err
	}
	if _, err := tx.ExecContext(f.ctx, `UPDATE tasks SET task = ?, title = ? WHERE id = ?`, string(text), t.Title,
		t.ID); err != nil {
		return err
	}
	n.changed("tasks")
	n.tasks = append(n.tasks, t)
	return nil
}

// lessons rewrites lessons and their index.
func (f *personEraser) lessons() error {
	type kept struct {
		repo int64
		id   lesson.ID
		text string
	}
	return f.batches("lessons", "seq", func(tx *sql.Tx, from, to int64) (n counts, err error) {
		repos, err := collect(f.ctx, tx, scanValue[int64],
			`SELECT DISTINCT repo_id FROM lessons WHERE seq > ? AND seq <= ? ORDER BY repo_id`, from, to)
		if err != nil {
			return n, err
		}
		batch := map[int64]*lessonBatch{}
		for _, repo := range repos {
			if batch[repo], err = f.lessonBatch(f.ctx, tx, repo); err != nil {
				return n, err
			}
		}
		all, err := collect(f.ctx, tx, func(from row) (r kept, err error) {
			err = from.Scan(&r.repo, &r.id, &r.text)
			return r, err
		}, `SELECT repo_id, id, lesson FROM lessons WHERE seq > ? AND seq <= ?`, from, to)
		if err != nil {
			return n, err
		}
		for _, r := range all {
			e := rowEraser{who: f.who}
			text := e.text(r.text)
			n.words += e.wordsLeft()
			if !e.changed {
				continue
			}
			b := batch[r.repo]
			old, err := b.load(r.id)
			if err != nil {
				return n, err
			}
			var l lesson.Lesson
			if err := json.Unmarshal([]byte(text), &l); err != nil {
				return n, fmt.Errorf("lesson %s: %w", r.id, err)
			}
			if err := b.save(old, l); err != nil {
				return n, err
			}
			n.changed("lessons")
		}
		for _, repo := range repos {
			if err := batch[repo].flush(); err != nil {
				return n, err
			}
		}
		return n, nil
	})
}

// skippedTables lists the tables that name nobody, that other functions here handle, or that have copies of
// external data: files of repositories, signed files, and names from GitHub.
var skippedTables = []string{
	"deliveries", "tasks", "task_events", "lessons", "lesson_terms",
	"repositories", "installations", "repo_policies", "policy_versions",
	"shared_reports", "prior_imports",
}

// others rewrites every other table that has text, so that new tables are included automatically. Of the tables
// without rowids, lessons handles lesson_terms, and attempts handles runner_attempts; the rest name nobody.
func (f *personEraser) others() error {
	all, err := f.tables(f.ctx, f.r)
	if err != nil {
		return err
	}
	var failed distinctErrors
	for _, t := range all {
		var columns []column
		for _, c := range t.columns {
			if !slices.Contains(t.keys, c.name) && (c.kind == "text" || c.isPacked()) {
				columns = append(columns, c)
			}
		}
		key := t.number()
		if t.columns = columns; key == "" || len(columns) == 0 || slices.Contains(skippedTables, t.name) {
			continue
		}
		failed.add(f.batches(t.name, key, func(tx *sql.Tx, from, to int64) (n counts, err error) {
			return n, f.rows(tx, t, key, from, to, &n)
		}))
	}
	return failed.join()
}

// rows rewrites a range of rows of a table.
func (f *personEraser) rows(tx *sql.Tx, t table, key string, from, to int64, n *counts) error {
	type found struct {
		id     int64
		values []sql.NullString
	}
	all, err := collect(f.ctx, tx, func(from row) (found, error) {
		r := found{values: make([]sql.NullString, len(t.columns))}
		into := []any{&r.id}
		for i := range r.values {
			into = append(into, &r.values[i])
		}
		return r, from.Scan(into...)
	}, `SELECT `+key+`, `+t.names()+` FROM `+t.name+` WHERE `+key+` > ? AND `+key+` <= ?`+f.forUpdate(), from, to)
	if err != nil {
		return err
	}
	for _, r := range all {
		e := rowEraser{who: f.who}
		args := make([]any, 0, len(t.columns)+1)
		for i, c := range t.columns {
			value, err := f.erase(&e, c, r.values[i])
			if err != nil {
				return fmt.Errorf("%s of row %d of %s: %w", c.name, r.id, t.name, err)
			}
			args = append(args, value)
		}
		n.words += e.wordsLeft()
		if !e.changed {
			continue
		}
		_, err := tx.ExecContext(f.ctx, `UPDATE `+t.name+` SET `+strings.ReplaceAll(t.names(), ",", " = ?,")+` = ?
			WHERE `+key+` = ?`, append(args, r.id)...)
		if err != nil {
			return err
		}
		n.changed(t.name)
		if t.name == "lesson_evidence" {
			if err := f.rekeyEvidence(tx, key, r.id); err != nil {
				return err
			}
		}
	}
	return nil
}

// rekeyEvidence gives a row of lesson_evidence the key in its evidence, which may have named the person. If there is
// evidence with that key, from somebody else who was forgotten, a number distinguishes the two.
func (f *personEraser) rekeyEvidence(tx *sql.Tx, rowKey string, row int64) error {
	var repo int64
	var was string
	var e lesson.Evidence
	err := tx.QueryRowContext(f.ctx, `SELECT repo_id, key, evidence FROM lesson_evidence WHERE `+rowKey+` = ?`, row).
		Scan(&repo, &was, jsonColumn{&e})
	if err != nil || e.Key == was {
		return err
	}
	first := e.Key
	for n := 2; ; n++ {
		var taken bool
		err := tx.QueryRowContext(f.ctx, `SELECT EXISTS (SELECT 1 FROM lesson_evidence WHERE repo_id = ? AND key = ?)`,
			repo, e.Key).Scan(&taken)
		if err != nil {
			return err
		}
		if !taken {
			break
		}
		e.Key = fmt.Sprintf("%s/%d", first, n)
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(f.ctx, `UPDATE lesson_evidence SET key = ?, evidence = ? WHERE `+rowKey+` = ?`, e.Key,
		string(text), row)
	return err
}

// erase returns the value of a column without the person.
func (f *personEraser) erase(e *rowEraser, c column, value sql.NullString) (any, error) {
	switch {
	case !value.Valid:
		return nil, nil
	case c.isPacked():
		plain, err := unpack([]byte(value.String))
		if err != nil {
			return nil, err
		}
		text := e.text(string(plain))
		if text == string(plain) {
			return []byte(value.String), nil
		}
		return pack([]byte(text))
	case loginKeys[strings.ToLower(c.name)]:
		return e.login(value.String), nil
	}
	return e.text(value.String), nil
}

// All returns the number of changed rows in all tables.
func (f Forgotten) All() (n int) {
	for _, rows := range f.Rows {
		n += rows
	}
	return n
}
