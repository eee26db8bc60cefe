package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Moved reports what [Move] copied. `sia migrate --from` prints its JSON, to which fields may only be added.
type Moved struct {
	Tried  bool         `json:"tried"` // a trial: no row was kept
	Schema int64        `json:"schema"`
	Tables []MovedTable `json:"tables"` // by name
	Jobs   int          `json:"jobs"`   // new jobs, for unfinished work
}

// MovedTable is a table that was copied, read again and found equal in each row.
type MovedTable struct {
	Name    string `json:"name"`
	Rows    int    `json:"rows"`
	SHA256  string `json:"sha256"`            // of all rows, in the order of their keys
	Cleaned int    `json:"cleaned,omitempty"` // rows with text that had bytes that PostgreSQL doesn't allow
}

// parents lists the tables that others refer to, each after those that it refers to itself.
var parents = []string{"installations", "repositories", "tasks", "experiments", "shared_reports"}

// Move copies a snapshot of one database to an empty one, in one transaction, and compares each row. It creates new
// jobs for unfinished work. No server may work on either database meanwhile. The source is not changed. With try, the
// transaction is rolled back: the target has SIA's tables then, and no row in them.
func Move(ctx context.Context, from, to Config, try bool) (m Moved, err error) {
	if file, err := File(from.URL); err != nil {
		return m, err
	} else if _, err := os.Stat(file); file != "" && err != nil {
		return m, &sia.Error{Op: "move", Permanent: true, Message: "there is no database at " + from.URL, Err: err}
	}
	source, err := Open(ctx, from)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if v, err := source.Version(ctx); err != nil {
		return m, err
	} else if v == 0 {
		return m, &sia.Error{Op: "move", Permanent: true, Message: "there is no SIA database at " + Named(from.URL)}
	}
	if err := source.requireCurrent(ctx); err != nil {
		return m, err
	}
	target, err := Open(ctx, to)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	if source.name() == target.name() {
		return m, &sia.Error{Op: "move", Permanent: true, Message: "both addresses name the same database, " + source.name()}
	}
	for _, s := range []*Store{source, target} {
		release, err := s.requireIdle(ctx)
		if err != nil {
			return m, err
		}
		defer func() { _ = release() }()
	}
	if err := target.requireEmpty(ctx); err != nil {
		return m, err
	}
	if _, m.Schema, err = target.Migrate(ctx); err != nil {
		return m, err
	}
	m.Tried = try
	err = (&mover{ctx: ctx, from: source.DB, to: target.DB, done: &m}).run()
	return m, target.explain("move to "+target.name(), err)
}

type mover struct {
	ctx      context.Context
	from, to *DB
	source   *sql.Tx
	target   *sql.Tx
	done     *Moved
}

func (v *mover) run() (err error) {
	if v.source, err = v.from.snapshot(v.ctx); err != nil {
		return v.from.explain("read "+v.from.name(), err)
	}
	defer v.source.Rollback() //nolint:errcheck // read-only
	tables, err := v.from.tables(v.ctx, v.source)
	if err != nil {
		return v.from.explain("read "+v.from.name(), err)
	}
	place := func(t table) int { // parents first
		if i := slices.Index(parents, t.name); i >= 0 {
			return i
		}
		return len(parents)
	}
	slices.SortStableFunc(tables, func(a, b table) int { return place(a) - place(b) })
	if v.target, err = v.to.w.BeginTx(v.ctx, nil); err != nil {
		return err
	}
	defer v.target.Rollback() //nolint:errcheck // after Commit it does nothing
	for _, t := range tables {
		moved, err := v.copy(t)
		if err == nil {
			err = v.compare(t, &moved)
		}
		if err == nil {
			err = v.to.advanceSequence(v.ctx, v.target, t)
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
		v.done.Tables = append(v.done.Tables, moved)
	}
	slices.SortFunc(v.done.Tables, func(a, b MovedTable) int { return strings.Compare(a.Name, b.Name) })
	if err := v.jobs(); err != nil {
		return err
	}
	v.to.jobQueues.take(v.target)
	if v.done.Tried {
		return nil
	}
	return v.target.Commit()
}

// Limits of one statement: its parameters, of which SQLite allows 32,766, and their bytes, of which PostgreSQL allows a
// GiB. One row may be larger.
const (
	moveMaxParams = 2_000
	moveMaxBytes  = 16 << 20
)

// copy copies the rows of a table in the order in which they were written.
func (v *mover) copy(t table) (m MovedTable, err error) {
	m.Name = t.name
	rows, err := v.source.QueryContext(v.ctx, `SELECT `+t.names()+` FROM `+t.name+` ORDER BY `+
		cmp.Or(t.number(), strings.Join(t.keys, ", ")))
	if err != nil {
		return m, err
	}
	defer rows.Close()
	most := max(1, moveMaxParams/len(t.columns))
	var batch []any
	size := 0 // in bytes, of the texts and blobs in it
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		row := `(` + strings.TrimSuffix(strings.Repeat(`?, `, len(t.columns)), `, `) + `)`
		values := strings.TrimSuffix(strings.Repeat(row+`, `, len(batch)/len(t.columns)), `, `)
		_, err := v.target.ExecContext(v.ctx, `INSERT INTO `+t.name+` (`+t.names()+`) VALUES `+values, batch...)
		batch, size = batch[:0], 0
		return err
	}
	for rows.Next() {
		row, err := scanAny(rows, len(t.columns))
		if err != nil {
			return m, err
		}
		batch = append(batch, row...)
		for _, value := range row {
			size += textLength(value)
		}
		if m.Rows++; len(batch) == most*len(t.columns) || size >= moveMaxBytes {
			if err := flush(); err != nil {
				return m, err
			}
		}
	}
	return m, errors.Join(rows.Err(), flush())
}

// textLength returns the length of a text or blob, in bytes; 0 for other values.
func textLength(value any) int {
	switch v := value.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	}
	return 0
}

// compare compares a table with its copy, row by row.
func (v *mover) compare(t table, m *MovedTable) error {
	query := `SELECT ` + t.names() + ` FROM ` + t.name + ` ORDER BY ` + strings.Join(t.keys, ", ")
	source, err := v.source.QueryContext(v.ctx, query)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := v.target.QueryContext(v.ctx, query)
	if err != nil {
		return err
	}
	defer target.Close()
	sum := sha256.New()
	n := 0
	for source.Next() {
		n++
		if !target.Next() {
			return errors.Join(target.Err(), fmt.Errorf("row %d is missing in the copy", n))
		}
		want, err := scanAny(source, len(t.columns))
		if err != nil {
			return err
		}
		got, err := scanAny(target, len(t.columns))
		if err != nil {
			return err
		}
		cleaned := false
		for i := range want {
			if !reflect.DeepEqual(want[i], got[i]) {
				clean, err := portableValue(want[i])
				if err != nil || !reflect.DeepEqual(clean, got[i]) {
					return fmt.Errorf("row %d differs in the copy in its column %s", n, t.columns[i].name)
				}
				cleaned = true
			}
		}
		if cleaned {
			m.Cleaned++
		}
		addRow(sum, got)
	}
	if target.Next() {
		return fmt.Errorf("the copy has more than %d rows", n)
	}
	m.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if n != m.Rows {
		return fmt.Errorf("%d rows were copied and %d were compared", m.Rows, n)
	}
	return errors.Join(source.Err(), target.Err())
}

// addRow adds a row to a hash: each value with its type and length.
func addRow(sum hash.Hash, row []any) {
	for _, value := range row {
		text := fmt.Sprint(value)
		if b, ok := value.([]byte); ok {
			text = string(b)
		}
		fmt.Fprintf(sum, "%T %d %s\n", value, len(text), text)
	}
}

// scanAny reads a row of n columns.
func scanAny(rows *sql.Rows, n int) ([]any, error) {
	row := make([]any, n)
	into := make([]any, n)
	for i := range row {
		into[i] = &row[i]
	}
	return row, rows.Scan(into...)
}

// jobs inserts jobs for unfinished effects, deliveries and setups.
func (v *mover) jobs() error {
	effects, err := v.to.takeOverTx(v.ctx, v.target, time.Time{})
	if err != nil {
		return err
	}
	pending, err := collect(v.ctx, v.target, func(from row) (d Delivery, err error) {
		err = from.Scan(&d.GUID, &d.Installation)
		return d, err
	}, `SELECT guid, installation_id FROM deliveries WHERE state = 'pending' ORDER BY id`)
	if err != nil {
		return err
	}
	deliveries := deliveryJobs(pending)
	for some := range slices.Chunk(deliveries, groupSize) {
		if err := v.to.insertDeliveryJobs(v.ctx, v.target, some); err != nil {
			return err
		}
	}
	type setup struct{ repo, slot int64 }
	setups, err := collect(v.ctx, v.target, func(from row) (s setup, err error) {
		err = from.Scan(&s.repo, &s.slot)
		return s, err
	}, `SELECT repo_id, slot FROM setups WHERE state = 'pending' ORDER BY slot`)
	if err != nil {
		return err
	}
	for _, s := range setups {
		due := fromMicros(s.slot).Add(-setupBurst * setupGap)
		if _, err := v.to.insert(v.ctx, v.target, setupArgs{Repo: s.repo}, queueSetups, due); err != nil {
			return err
		}
	}
	v.done.Jobs = effects + len(deliveries) + len(setups)
	return nil
}

// requireEmpty returns an error when a database has rows of SIA, or tables of another application.
func (s *DB) requireEmpty(ctx context.Context) error {
	v, err := s.Version(ctx)
	if err != nil {
		return err
	}
	tables, err := s.tables(ctx, s.r)
	if err != nil {
		return s.explain("look into "+s.name(), err)
	}
	for _, t := range tables {
		if v == 0 {
			return &sia.Error{Op: "move", Permanent: true, Message: fmt.Sprintf("the database %s is in use: its table %s is "+
				"not SIA's; name an empty one", s.name(), t.name)}
		}
		var some bool
		if err := s.r.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM `+t.name+`)`).Scan(&some); err != nil {
			return s.explain("look into "+s.name(), err)
		}
		if some {
			return &sia.Error{Op: "move", Permanent: true, Message: fmt.Sprintf("the database %s is in use: its table %s has "+
				"rows; name an empty one", s.name(), t.name)}
		}
	}
	return nil
}
