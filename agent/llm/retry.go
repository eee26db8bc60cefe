package llm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Limits of the backoff between two tries. It doubles from initialBackoff. The wait is random in its upper half, so
// that clients that failed together do not retry together, and at least the time that the endpoint asks for.
const (
	initialBackoff = time.Second
	maxBackoff     = time.Minute
)

// maxTimeouts is the number of timeouts that end a call, since each takes minutes. No try starts later than
// Config.Timeout after the call started, nor, after a timeout, if it could time out later than that.
const maxTimeouts = 2

// callRetrying calls the model until it answers, fails permanently, or the retries are used up.
func (c *Client) callRetrying(ctx context.Context, req Request, retries int,
	started time.Time) (Response, int, error) {
	var lost Usage
	timeouts := 0
	for tries := 1; ; tries++ {
		resp, err := c.callAdapting(ctx, req)
		lost = lost.Add(resp.Lost)
		resp.Lost = lost
		if err == nil {
			return resp, tries, nil
		}
		failed := Response{Lost: lost}
		if ctx.Err() != nil {
			return failed, tries, fmt.Errorf("call model %s: %w", c.cfg.Name, context.Cause(ctx))
		}
		err.Tries = tries
		if err.Kind == KindTimeout {
			timeouts++
		}
		wait := c.backoff(tries, err.RetryAfter)
		late := c.cfg.Now().Sub(started) + wait
		if timeouts > 0 {
			late += c.cfg.First
		}
		if !err.Temporary() || tries > retries || timeouts >= maxTimeouts || late > c.cfg.Timeout ||
			tries > 1 && errors.Is(err.Err, errPage) {
			return failed, tries, err
		}
		if deadline, ok := ctx.Deadline(); wait > maxBackoff || ok && c.cfg.Now().Add(wait).After(deadline) {
			return failed, tries, err
		}
		c.log.WarnContext(ctx, "model call will be tried again", "kind", err.Kind, "status", err.Status, "try", tries, "wait",
			wait)
		if c.cfg.Sleep(ctx, wait) != nil {
			return failed, tries, fmt.Errorf("call model %s: %w", c.cfg.Name, context.Cause(ctx))
		}
	}
}

// backoff returns the wait after the given number of tries.
func (c *Client) backoff(tries int, asked time.Duration) time.Duration {
	d := min(initialBackoff<<min(tries-1, 10), maxBackoff)
	d = d/2 + time.Duration(c.cfg.Rand()*float64(d/2))
	return max(d, asked)
}

// sleepFor waits for d or until ctx ends.
func sleepFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
