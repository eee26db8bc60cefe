//go:build !linux

package improve

import "os"

// exchange replaces target by fresh. Only Linux can swap two names atomically.
func exchange(fresh, target string) (exchanged bool, err error) {
	return false, os.Rename(fresh, target)
}
