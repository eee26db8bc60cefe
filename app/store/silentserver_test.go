package store

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// silent returns the address of a database that accepts connections and sends nothing.
func silent(t *testing.T) *pgx.ConnConfig {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c, err := postgresConfig("postgres://sia@" + l.Addr().String() + "/sia?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A transaction is retried if no connection could be made.
func TestServerSaysNothing(t *testing.T) {
	c := silent(t)
	c.ConnectTimeout = time.Millisecond
	_, err := pgx.ConnectConfig(t.Context(), c)
	var unreached *pgconn.ConnectError
	if !errors.As(err, &unreached) || !(*postgresDialect)(nil).retryable(err) {
		t.Errorf("it is not tried again after: %v", err)
	}
}
