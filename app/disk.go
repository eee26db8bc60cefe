package app

import "fmt"

// MinFree is the free disk space that a server's folder needs, in bytes. With less, a server that makes attempts is not
// ready.
const MinFree = 1 << 30

// FreeSpace returns the free space of the disk that holds a folder, in bytes, as the user of this process may use it.
// The error wraps [errors.ErrUnsupported] on systems where it can't be read.
func FreeSpace(dir string) (int64, error) {
	n, err := freeSpace(dir)
	if err != nil {
		return 0, fmt.Errorf("read the free space of %s: %w", dir, err)
	}
	return n, nil
}

// CheckFree returns an error with advice if that is less than MinFree.
func CheckFree(free int64) error {
	if free >= MinFree {
		return nil
	}
	return fmt.Errorf("%d MiB are free on the disk of the server's folder, and SIA needs %d; free some space, and SIA "+
		"goes on", free>>20, MinFree>>20)
}
