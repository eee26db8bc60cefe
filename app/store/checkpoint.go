package store

import (
	"context"
	"time"
)

const (
	checkpointEvery = time.Second
	checkpointBusy  = 200 * time.Millisecond // what emptying the log may wait for readers
	walMost         = 16 << 10               // pages of 4 KiB in the log, before writers are held up to empty it
)

// background moves what was written from SQLite's write-ahead log into the
// database file, until ctx ends. SQLite would do so itself at every thousandth
// page, in whatever transaction gets there, which then waits for the disk; a
// connection that does nothing else holds up nobody
// (https://sqlite.org/wal.html#ckpt).
func (s *sqliteDialect) background(ctx context.Context) {
	tick := time.NewTicker(checkpointEvery)
	defer tick.Stop()
	mode := "PASSIVE"
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var busy, pages, moved int
		err := s.ckpt.QueryRowContext(ctx, `PRAGMA wal_checkpoint(`+mode+`)`).Scan(&busy, &pages, &moved)
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "checkpoint", "err", s.explain("checkpoint the database", err))
		}
		// The log starts over only when a checkpoint has caught up with its
		// writers. Under steady load that may not come by itself.
		if mode = "PASSIVE"; pages > walMost {
			mode = "TRUNCATE"
		}
	}
}
