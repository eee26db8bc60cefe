package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// querier has the query methods of *sql.DB and *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// row has the common method of *sql.Row and *sql.Rows.
type row interface {
	Scan(into ...any) error
}

// collect reads every row of a query with scan.
func collect[T any](
	ctx context.Context, q querier, scan func(row) (T, error), query string, args ...any,
) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// list is collect outside of a transaction; op names the operation in errors.
func list[T any](
	ctx context.Context, s *DB, op string, scan func(row) (T, error), query string, args ...any,
) ([]T, error) {
	all, err := collect(ctx, s.r, scan, query, args...)
	return all, s.explain(op, err)
}

// existing returns the set of texts that a query finds.
func (s *DB) existing(ctx context.Context, op, query string, args ...any) (map[string]bool, error) {
	found, err := list(ctx, s, op, scanValue[string], query, args...)
	all := make(map[string]bool, len(found))
	for _, text := range found {
		all[text] = true
	}
	return all, err
}

// load reads the row of a query outside of a transaction; the error wraps [ErrNotFound] when there is none.
func load[T any](
	ctx context.Context, s *DB, op string, scan func(row) (T, error), query string, args ...any,
) (T, error) {
	v, err := scan(s.r.QueryRowContext(ctx, query, args...))
	return v, s.explain(op, orNotFound(err))
}

// scanValue reads a row of one column.
func scanValue[T any](from row) (v T, err error) {
	err = from.Scan(&v)
	return v, err
}

// scanJSON reads a row of one column that holds JSON.
func scanJSON[T any](from row) (v T, err error) {
	err = from.Scan(jsonColumn{&v})
	return v, err
}

// jsonColumn is the value of a JSON column: Scan decodes into of, and Value encodes it.
type jsonColumn struct{ of any }

// Scan implements sql.Scanner.
func (j jsonColumn) Scan(v any) error {
	switch v := v.(type) {
	case string:
		return json.Unmarshal([]byte(v), j.of)
	case []byte:
		return json.Unmarshal(v, j.of)
	}
	return fmt.Errorf("%T is no JSON", v)
}

// Value implements driver.Valuer.
func (j jsonColumn) Value() (driver.Value, error) {
	b, err := json.Marshal(j.of)
	return string(b), err
}

// timeColumn is the value of a time column, encoded by micros.
type timeColumn struct{ of *time.Time }

// Scan implements sql.Scanner.
func (t timeColumn) Scan(v any) error {
	var us sql.NullInt64
	err := us.Scan(v)
	*t.of = fromMicros(us.Int64)
	return err
}

// Value implements driver.Valuer.
func (t timeColumn) Value() (driver.Value, error) { return micros(*t.of), nil }

// params returns a parameter for each column of a list.
func params(columns string) string {
	return strings.Repeat("?, ", strings.Count(columns, ",")) + "?"
}

// jsonArray is a parameter for [dialect.inList].
type jsonArray[T any] []T

// Value implements driver.Valuer.
func (a jsonArray[T]) Value() (driver.Value, error) {
	b, err := json.Marshal(append([]T{}, a...))
	return string(b), err
}

// affected runs a statement and returns the number of changed rows.
func affected(ctx context.Context, tx *sql.Tx, query string, args ...any) (int64, error) {
	res, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// exec runs one statement in a transaction of its own.
func (s *DB) exec(ctx context.Context, op, query string, args ...any) error {
	return s.write(ctx, op, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
}

// updateOne is like exec, but the error wraps [ErrNotFound] when the statement changes no row.
func (s *DB) updateOne(ctx context.Context, op, query string, args ...any) error {
	return s.write(ctx, op, func(tx *sql.Tx) error { return updateOneTx(ctx, tx, query, args...) })
}

func updateOneTx(ctx context.Context, tx *sql.Tx, query string, args ...any) error {
	n, err := affected(ctx, tx, query, args...)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// orNotFound returns ErrNotFound if err is sql.ErrNoRows, and err otherwise.
func orNotFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// ignoreNoRows returns nil if err is sql.ErrNoRows, and err otherwise. The scanned variables keep their zero values
// then.
func ignoreNoRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// micros returns the stored form of a time: microseconds since 1970 UTC; 0 is the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// fromMicros is the inverse of micros.
func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
