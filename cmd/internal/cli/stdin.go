package cli

import (
	"context"
	"io"
	"os"
)

// Stdin returns a reader of standard input that fails when e.Ctx ends. A plain read of os.Stdin would block.
func (e *Env) Stdin() io.Reader { return stdin{e.Ctx} }

type stdin struct{ ctx context.Context }

func (s stdin) Read(p []byte) (int, error) {
	type read struct {
		n   int
		err error
	}
	mine, ended := make([]byte, len(p)), make(chan read, 1) // the caller reuses p after Ctrl-C
	go func() {
		n, err := os.Stdin.Read(mine)
		ended <- read{n, err}
	}()
	select {
	case r := <-ended:
		return copy(p, mine[:r.n]), r.err
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}
