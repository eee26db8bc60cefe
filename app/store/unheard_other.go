//go:build !linux

package store

import "syscall"

// boundUnheard does nothing on systems without TCP_USER_TIMEOUT: the system's own timeout applies.
func boundUnheard(_, _ string, _ syscall.RawConn) error { return nil }
