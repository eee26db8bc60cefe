package store

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// outageTries is the number of tries of a transaction after which the database is away. Broken connections to a server
// that answers are replaced in fewer.
const outageTries = 8

// outage is the state of the connection to the database. It is safe for concurrent use.
type outage struct{ since atomic.Int64 } // microseconds since 1970; 0: the database answers

// away reports whether the database does not answer.
func (o *outage) away() bool { return o.since.Load() != 0 }

// recordReach logs the begin and the end of an outage, once each. err is the result of a transaction after a number of
// tries.
func (s *DB) recordReach(ctx context.Context, try int, err error) {
	switch {
	case err == nil:
		if since := s.outage.since.Swap(0); since != 0 {
			s.log.InfoContext(ctx, "the database is back", "after", time.Since(fromMicros(since)).Round(time.Second))
		}
	case try >= outageTries && s.unreachable(err) && s.outage.since.CompareAndSwap(0, time.Now().UnixMicro()):
		s.outageLog.ErrorContext(ctx, "the database is away: nothing is worked on until it is back", "err",
			s.explain("reach it", err))
	}
}

// outageHandler lowers the level of errors that an outage of the database causes, as of each job that meets it, to
// debug. The outage itself is logged by [DB.recordReach].
type outageHandler struct {
	slog.Handler
	s *DB
}

// Handle implements slog.Handler.
func (h outageHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn && h.s.outage.away() && h.isOutage(r) {
		if r.Level = slog.LevelDebug; !h.Enabled(ctx, r.Level) {
			return nil
		}
	}
	return h.Handler.Handle(ctx, r)
}

func (h outageHandler) isOutage(r slog.Record) (is bool) {
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		is = ok && h.s.unreachable(err)
		return !is
	})
	return is
}

// WithAttrs implements slog.Handler.
func (h outageHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return outageHandler{h.Handler.WithAttrs(attrs), h.s}
}

// WithGroup implements slog.Handler.
func (h outageHandler) WithGroup(name string) slog.Handler {
	return outageHandler{h.Handler.WithGroup(name), h.s}
}
