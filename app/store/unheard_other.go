//go:build !linux

package store

import "syscall"

// boundUnheard does nothing where there is no such option: the system's own bound holds.
func boundUnheard(_, _ string, _ syscall.RawConn) error { return nil }
