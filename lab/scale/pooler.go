package scale

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/sia-bot/sia/app/store/storetest"
)

// pooler starts PgBouncer in front of the database, with transaction pooling: clients have no session, so notifications
// don't arrive. It returns the database URL for servers.
// https://www.pgbouncer.org/config.html
func (s *stage) pooler(ctx context.Context, database string) (string, error) {
	if s.Pooler == "" {
		return database, nil
	}
	u, err := url.Parse(database)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(s.dir, "pooler")
	config := filepath.Join(dir, "pgbouncer.ini")
	if err := errors.Join(
		os.Mkdir(dir, 0o755),
		os.WriteFile(config, fmt.Appendf(nil, "[databases]\n* = host=%s\n[pgbouncer]\nlisten_addr =\nlisten_port = 6432\n"+
			"unix_socket_dir = %s\nauth_type = trust\nauth_file = %[2]s/users\npool_mode = transaction\n"+
			"max_client_conn = 1000\n", u.Query().Get("host"), dir), 0o644), //nolint:gosec // another user reads it
		os.WriteFile(filepath.Join(dir, "users"), []byte("\"sia\" \"\"\n"), 0o644), //nolint:gosec // the same
		storetest.ChownToServer(dir),
	); err != nil {
		return "", err
	}
	p := &process{name: "PgBouncer", program: s.Pooler, args: []string{config}, ready: "process up",
		as: storetest.AsServer}
	s.poolers = append(s.poolers, p)
	u.RawQuery = url.Values{"host": {dir}, "port": {"6432"}, "default_query_exec_mode": {"exec"}}.Encode()
	return u.String(), p.start(ctx)
}
