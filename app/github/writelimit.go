package github

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// WriteCounter counts the objects created on GitHub for an installation by all servers: GitHub's secondary limits
// apply to all of them together.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
type WriteCounter interface {
	// TakeWrite counts one write. Zero: it may be sent now. Otherwise it was not counted, and may be retried at until.
	TakeWrite(ctx context.Context, installation int64) (until time.Time, err error)
}

// Uncounted is a WriteCounter for programs that write a few times and have no database.
type Uncounted struct{}

// TakeWrite implements [WriteCounter].
func (Uncounted) TakeWrite(context.Context, int64) (until time.Time, err error) { return until, nil }

// WriteLimitMessage returns a message for people about an installation that waits for the write limit.
func WriteLimitMessage(until time.Time) string {
	return fmt.Sprintf("waiting for GitHub's write limit until %s UTC; SIA goes on by itself then",
		until.UTC().Format("15:04:05"))
}

// writeLimitError reports that an installation has reached GitHub's limit on creating content.
type writeLimitError struct {
	until time.Time
	wait  time.Duration
}

func (e *writeLimitError) Error() string {
	return fmt.Sprintf("the write limit is reached until %s", e.until.UTC().Format(time.RFC3339))
}

// countWrite returns a check that counts each request that creates something, and refuses one above GitHub's limit.
// It does not wait: the effect is scheduled again.
func (a *App) countWrite(installation int64) func(*http.Request) error {
	return func(req *http.Request) error {
		if installation == 0 || req.Method != http.MethodPost || !isWrite(req) {
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
