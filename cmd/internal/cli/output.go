package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
)

// output is standard output. A write to a closed pipe, as behind `| head -1`, cancels the context of the command. The
// error of another write, as on a full disk, is kept: most commands print their lines without a look at it.
type output struct {
	io.Writer
	unread context.CancelCauseFunc

	mu     sync.Mutex
	failed error // first error of a write, other than that of a closed pipe
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		o.unread(err)
	} else if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.failed = cmp.Or(o.failed, err)
	}
	return n, err
}

// err returns why not all was written; nil if it was, or if its reader has left.
func (o *output) err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}
