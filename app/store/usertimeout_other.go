//go:build !linux

package store

import "syscall"

// setUserTimeout does nothing on systems without TCP_USER_TIMEOUT: the system's own timeout applies.
func setUserTimeout(_, _ string, _ syscall.RawConn) error { return nil }
