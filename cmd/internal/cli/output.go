package cli

import (
	"context"
	"errors"
	"io"
	"syscall"
)

// output is standard output. A write that nobody reads, as behind `| head -1`, ends the context of the command.
type output struct {
	io.Writer
	unread context.CancelCauseFunc
}

func (o output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		o.unread(err)
	}
	return n, err
}
