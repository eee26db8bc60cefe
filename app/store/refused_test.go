package store_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sia-bot/sia/app/store"
)

// answering listens on an address and answers each connection. It returns the port.
func answering(t *testing.T, network, address string, answer func(net.Conn) error) (port string) {
	t.Helper()
	l, err := net.Listen(network, address)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				_ = answer(client) // the client may leave at any time
			}()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String()) // a Unix socket has none
	return port
}

// refusal is the response of a server or a pooler to a startup message, or to a later message.
type refusal struct {
	connected  bool
	code, text string
}

func (r refusal) answer(client net.Conn) error {
	b := pgproto3.NewBackend(client, client)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return err
	}
	no := &pgproto3.ErrorResponse{Severity: "FATAL", Code: r.code, Message: r.text}
	if r.connected {
		b.Send(&pgproto3.AuthenticationOk{})
		b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		if err := b.Flush(); err != nil {
			return err
		}
		if _, err := b.Receive(); err != nil {
			return err
		}
	}
	b.Send(no)
	if err := b.Flush(); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, client)
	return err
}

// waits is the advice when the user need not do anything.
const waits = "goes on when it is back"

// TestPoolerRefuses: the message of PgBouncer is included, with advice. All have the code of a broken connection,
// 08P01. The texts are those of PgBouncer 1.18 and PostgreSQL 15.
func TestPoolerRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		refusal
		want string
	}{
		"password": {refusal{false, "08P01", "SASL authentication failed"},
			"refuses this (SASL authentication failed); check user, password"},
		"database": {refusal{false, "08P01", "no such database: x"}, "refuses this (no such database: x)"},
		"parameter": {refusal{false, "08P01", "unsupported startup parameter: search_path"},
			"search_path); leave it out of --db"},
		"away":   {refusal{false, "08P01", "query_wait_timeout"}, waits},
		"broken": {refusal{true, "08P01", "server conn crashed?"}, waits},
		"server's parameter": {refusal{false, "42704", `unrecognized configuration parameter "a"`},
			`"a"); leave it out of --db`},
		"statement is there": {refusal{true, "42P05", `prepared statement "s" already exists`},
			"default_query_exec_mode=exec"},
		"statement is missed": {refusal{true, "26000", `prepared statement "s" does not exist`},
			"default_query_exec_mode=exec"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			answering(t, "unix", filepath.Join(dir, ".s.PGSQL.5432"), c.answer)
			s, err := store.Open(patient(t), store.Config{URL: "postgres://sia@/x?host=" + url.QueryEscape(dir)})
			if err == nil {
				t.Fatal(errors.Join(errors.New("it was opened"), s.Close()))
			}
			wantWords(t, err, c.want)
			if c.want != waits && strings.Contains(err.Error(), waits) {
				t.Errorf("one is told to wait: %v", err)
			}
		})
	}
}

// TestServerIsNotTrusted: an untrusted certificate has another message than an unreachable server.
func TestServerIsNotTrusted(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate, of 127.0.0.1
	defer web.Close()
	authority := filepath.Join(t.TempDir(), "authority.pem")
	must(t, os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: web.Certificate().Raw}), 0o600))
	port := answering(t, "tcp", "127.0.0.1:0", func(client net.Conn) error {
		b := pgproto3.NewBackend(client, client)
		if _, err := b.ReceiveStartupMessage(); err != nil { // the client requests TLS
			return err
		}
		if _, err := client.Write([]byte("S")); err != nil {
			return err
		}
		return tls.Server(client, &tls.Config{Certificates: web.TLS.Certificates}).HandshakeContext(context.Background())
	})
	for _, address := range []string{"127.0.0.1:" + port + "/x?sslmode=verify-full",
		"127.0.0.1:" + port + "/x?sslmode=verify-ca",
		"localhost:" + port + "/x?sslmode=verify-full&sslrootcert=" + url.QueryEscape(authority)} {
		s, err := store.Open(patient(t), store.Config{URL: "postgres://sia@" + address})
		if err == nil {
			t.Fatal(errors.Join(errors.New("it was opened"), s.Close()))
		}
		wantWords(t, err, "sslrootcert")
	}
}
