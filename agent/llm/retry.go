package llm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Bounds of the wait between two tries. The wait doubles from firstWait. It is drawn
// from its upper half, so that clients that failed together do not return together. It
// never ends before the time that the endpoint asked for.
const (
	firstWait = time.Second
	mostWait  = time.Minute
)

// maxTimeouts is how many timeouts end a call: each has cost minutes. No try begins later than
// Config.Timeout after the call began; after a timeout, none that might end later than that.
const maxTimeouts = 2

// callRetrying calls the model until it answers, can't answer, or the tries are used up.
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
		wait := c.retryWait(tries, err.RetryAfter)
		late := c.cfg.Now().Sub(started) + wait
		if timeouts > 0 {
			late += c.cfg.First
		}
		if !err.Temporary() || tries > retries || timeouts >= maxTimeouts || late > c.cfg.Timeout ||
			tries > 1 && errors.Is(err.Err, errPage) {
			return failed, tries, err
		}
		if deadline, ok := ctx.Deadline(); wait > mostWait || ok && c.cfg.Now().Add(wait).After(deadline) {
			return failed, tries, err
		}
		c.log.WarnContext(ctx, "model call will be tried again", "kind", err.Kind, "status", err.Status, "try", tries, "wait",
			wait)
		if c.cfg.Sleep(ctx, wait) != nil {
			return failed, tries, fmt.Errorf("call model %s: %w", c.cfg.Name, context.Cause(ctx))
		}
	}
}

// retryWait is how long to wait after the given number of tries.
func (c *Client) retryWait(tries int, asked time.Duration) time.Duration {
	d := min(firstWait<<min(tries-1, 10), mostWait)
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
