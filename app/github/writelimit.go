package github

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// WriteCounter counts what is created on GitHub for an installation, by whoever it is: GitHub's secondary limits hold
// for all servers together.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
type WriteCounter interface {
	// TakeWrite counts one write. Zero: it may be sent now. Else it was not counted, and may be asked for again then.
	TakeWrite(ctx context.Context, installation int64) (until time.Time, err error)
}

// Uncounted is for programs that write a few times and have no database.
type Uncounted struct{}

// TakeWrite implements [WriteCounter].
func (Uncounted) TakeWrite(context.Context, int64) (until time.Time, err error) { return until, nil }

// WaitsForWrites says, for people, that an installation has to wait before it may write on.
func WaitsForWrites(until time.Time) string {
	return fmt.Sprintf("waiting for GitHub's write limit until %s UTC; SIA goes on by itself then",
		until.UTC().Format("15:04:05"))
}

// writeLimitError says that an installation has created as much as GitHub lets it.
type writeLimitError struct {
	until time.Time
	wait  time.Duration
}

func (e *writeLimitError) Error() string {
	return fmt.Sprintf("the write limit is reached until %s", e.until.UTC().Format(time.RFC3339))
}

// counted has each request that creates something counted, and refuses what would go beyond GitHub's limit. Nobody
// waits here: the effect does, as one that is due later.
func (a *App) counted(installation int64) func(*http.Request) error {
	return func(req *http.Request) error {
		if installation == 0 || req.Method != http.MethodPost || !mutates(req) {
			return nil
		}
		until, err := a.cfg.Writes.TakeWrite(req.Context(), installation)
		switch {
		case err != nil:
			return fmt.Errorf("%w: %w", errUncounted, err)
		case until.IsZero():
			return nil
		}
		return &writeLimitError{until: until, wait: max(until.Sub(a.cfg.Now()), time.Second)}
	}
}
