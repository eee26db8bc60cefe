package store

import (
	"context"
	"time"
)

const (
	checkpointEvery = time.Second
	checkpointBusy  = 200 * time.Millisecond // what starting the log over may wait for readers
	walMost         = 16 << 10               // pages of 4 KiB in the log, before writers are held up to start it over
)

// background moves what was written from SQLite's write-ahead log into the
// database file, until ctx ends. SQLite would do so itself at every thousandth
// page, in whatever transaction gets there, which then waits for the disk; a
// connection that does nothing else holds up nobody
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
		// The log starts over only when a checkpoint has caught up with its writers. Under steady load that may not come by
		// itself. Right after another checkpoint there is little left to move while they wait. The file keeps its size:
		// cutting it off takes longer than all else, and writers would wait for that, too.
		if s.moveLog(ctx, "PASSIVE") > walMost {
			s.moveLog(ctx, "RESTART")
		}
	}
}

// moveLog moves what is in the log into the database file, and returns how many pages the log has.
func (s *sqliteDialect) moveLog(ctx context.Context, mode string) (pages int) {
	var busy, moved int
	err := s.ckpt.QueryRowContext(ctx, `PRAGMA wal_checkpoint(`+mode+`)`).Scan(&busy, &pages, &moved)
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "checkpoint", "err", s.explain("checkpoint the database", err))
	}
	return pages
}
