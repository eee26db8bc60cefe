package sia

import (
	"errors"
	"fmt"
	"time"
)

// Error is an error with words for people. Adapters return one where a person
// can do something about it, or where retrying must wait or is pointless.
type Error struct {
	Op         string        // the operation, such as "push sia/issue-1"
	Message    string        // for people: what happened and what to do; never holds a secret
	Permanent  bool          // retrying can't help
	RetryAfter time.Duration // the other side asked to wait this long; 0 when it did not say
	Turn       bool          // nothing went wrong: it has to wait for its turn, for RetryAfter. No try has failed
	Err        error
}

// Error is "op: message: cause".
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

// RetryAfter is how long err asks to wait before the next try; 0 when it does not say.
func RetryAfter(err error) time.Duration {
	var e *Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

// WaitsTurn reports whether err only says that something has to wait for its turn.
func WaitsTurn(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Turn
}
