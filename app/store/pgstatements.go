package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/stdlib"
)

// paramConnector opens connections to PostgreSQL that accept our statements: with ? for parameters, and 1 and 0 for
// booleans. Statements that number their parameters, such as River's and goose's, are passed unchanged.
type paramConnector struct{ driver.Connector }

// Connect implements driver.Connector.
func (n paramConnector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := n.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return paramConn{opened.(*stdlib.Conn)}, nil //nolint:forcetypeassert // it is a connector of pgx
}

// paramConn is a connection of paramConnector. Like every connection it is used by one goroutine at a time.
type paramConn struct{ *stdlib.Conn }

// ExecContext implements driver.ExecerContext.
func (c paramConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	query, args, err := bindParams(query, args)
	if err != nil {
		return nil, err
	}
	return c.Conn.ExecContext(ctx, query, args)
}

// QueryContext implements driver.QueryerContext.
func (c paramConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	query, args, err := bindParams(query, args)
	if err != nil {
		return nil, err
	}
	return c.Conn.QueryContext(ctx, query, args)
}

// hasPlaceholders reports whether a statement has ? for parameters.
func hasPlaceholders(query string) bool {
	return strings.Contains(query, "?") && !strings.Contains(query, "$1")
}

// statementCache caches our statements in PostgreSQL's form, by their text and the types of their arguments. The
// program has a fixed number of them.
var statementCache sync.Map // of textKey to string

type textKey struct{ query, types string }

// bindParams numbers the parameters of a statement, and casts each to the type of its argument: otherwise PostgreSQL
// infers types, and treats a parameter that is compared with 0 as a four-byte integer.
func bindParams(query string, args []driver.NamedValue) (string, []driver.NamedValue, error) {
	if !hasPlaceholders(query) {
		return query, args, nil
	}
	values, types := make([]driver.NamedValue, len(args)), make([]byte, len(args))
	for i, a := range args {
		v, err := portableValue(a.Value)
		if err != nil {
			return "", nil, fmt.Errorf("parameter %d: %w", i+1, err)
		}
		values[i] = driver.NamedValue{Ordinal: a.Ordinal, Value: v}
		switch v.(type) {
		case int64:
			types[i] = 'i'
		case float64:
			types[i] = 'f'
		case string:
			types[i] = 's'
		case []byte:
			types[i] = 'b'
		default:
			types[i] = 'n'
		}
	}
	key := textKey{query, string(types)}
	text, ok := statementCache.Load(key)
	if !ok {
		text, _ = statementCache.LoadOrStore(key, numberParams(query, types))
	}
	return text.(string), values, nil //nolint:forcetypeassert // nothing else is stored
}

var postgresTypes = map[byte]string{'i': "::bigint", 'f': "::double precision", 's': "::text", 'b': "::bytea"}

// numberParams numbers and casts the parameters outside of quotes.
func numberParams(query string, types []byte) string {
	var b strings.Builder
	n, quoted := 0, false
	for _, r := range query {
		switch {
		case r == '\'':
			quoted = !quoted
		case r == '?' && !quoted:
			n++
			b.WriteString("$" + strconv.Itoa(n))
			b.WriteString(postgresTypes[types[n-1]])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// portableValue converts an argument to the value that SQLite would store, in a form that PostgreSQL accepts: texts are
// valid UTF-8 without zero bytes.
func portableValue(v any) (any, error) {
	p, err := driver.DefaultParameterConverter.ConvertValue(v)
	if err != nil {
		return nil, err
	}
	switch p := p.(type) {
	case bool:
		if p {
			return int64(1), nil
		}
		return int64(0), nil
	case string:
		return portableText(p), nil
	}
	return p, nil
}

// portableText replaces what PostgreSQL accepts in no text.
func portableText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
