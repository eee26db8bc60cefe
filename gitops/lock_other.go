//go:build !unix

package gitops

import (
	"context"
	"os"
)

// lockFile does nothing here: without flock one cache directory is for one process.
func lockFile(context.Context, *os.File) error { return nil }

const nonBlock = 0
