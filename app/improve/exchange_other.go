//go:build !linux

package improve

import "os"

// exchange gives fresh the name of target; what had it is gone. Elsewhere two names can't be
// exchanged at once.
func exchange(fresh, target string) (exchanged bool, err error) {
	return false, os.Rename(fresh, target)
}
