package cli

import (
	"context"
	"errors"
	"io"
	"syscall"
)

// output is standard output. A write to a closed pipe, as behind `| head -1`, cancels the context of the command.
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
