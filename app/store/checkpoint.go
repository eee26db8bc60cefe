package store

import (
	"context"
	"time"
)

const (
	checkpointEvery       = time.Second
	checkpointBusyTimeout = 200 * time.Millisecond // busy timeout of a restart of the log, which waits for readers
	maxWALPages           = 16 << 10               // 4-KiB pages in the log, above which a restart blocks writers
)

// background checkpoints SQLite's write-ahead log into the database file, until
// ctx ends. SQLite would do so itself at every thousandth page, in the
// transaction that writes that page, which then waits for the disk; on a
// connection of its own a checkpoint delays no transaction
// (https://sqlite.org/wal.html#ckpt).
func (s *sqliteDialect) background(ctx context.Context) {
	tick := time.NewTicker(checkpointEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// The log restarts only when a checkpoint has caught up with the writers, which may never happen under steady load.
		// Right after a passive checkpoint little is left to move while they wait. The file is not truncated, because that
		// takes longest of all, and writers would wait for it, too.
		if s.runCheckpoint(ctx, "PASSIVE") > maxWALPages {
			s.runCheckpoint(ctx, "RESTART")
		}
	}
}

// runCheckpoint runs a checkpoint, and returns the number of pages in the log.
func (s *sqliteDialect) runCheckpoint(ctx context.Context, mode string) (pages int) {
	var busy, moved int
	err := s.ckpt.QueryRowContext(ctx, `PRAGMA wal_checkpoint(`+mode+`)`).Scan(&busy, &pages, &moved)
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "checkpoint", "err", s.explain("checkpoint the database", err))
	}
	return pages
}
