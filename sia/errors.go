package sia

import (
	"errors"
	"fmt"
	"time"
)

// Error is an error with a message for people. Adapters return it if a person
// can do something about it, or if retrying must wait or is pointless.
type Error struct {
	Op         string        // the operation, such as "push sia/issue-1"
	Message    string        // for people: what happened and what to do; never contains a secret
	Permanent  bool          // retrying can't help
	RetryAfter time.Duration // wait requested by the server; 0: none
	Turn       bool          // not a failure: the operation has to wait for its turn, for RetryAfter
	Outage     bool          // no request like it succeeds until something outside of the task ends, see [IsOutage]
	Err        error
}

// Error returns "op: message: cause".
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%s: %s", e.Op, e.Message)
	}
	return fmt.Sprintf("%s: %s: %v", e.Op, e.Message, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// IsPermanent reports whether retrying err can't help.
func IsPermanent(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Permanent
}

// maxRetryAfter is the longest wait that a server or a runner can request.
const maxRetryAfter = 24 * time.Hour

// RetryAfter returns the wait that err requests before the next try, at most a day; 0 if it requests none.
func RetryAfter(err error) time.Duration {
	var e *Error
	if errors.As(err, &e) {
		return min(max(0, e.RetryAfter), maxRetryAfter)
	}
	return 0
}

// IsOutage reports whether err is an outage: GitHub or a model is down, can't be reached or limits requests, or GitHub
// refuses the app's own key. Retrying helps when that ends.
func IsOutage(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Outage && !e.Permanent
}

// WaitsTurn reports whether err is no failure but a wait for a turn.
func WaitsTurn(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Turn
}
