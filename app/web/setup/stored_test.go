package setup

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
)

// Only a file that was read and is broken is to be moved away: not one of another user, nor a --dir that is no folder.
func TestUnusableAdvice(t *testing.T) {
	const broken, path = "move it away and set SIA up again", "/var/lib/sia/" + File
	for errno, want := range map[syscall.Errno]string{
		syscall.EACCES:  "run this as the server's user",
		syscall.EPERM:   "run this as the server's user",
		syscall.ENOTDIR: "name the server's folder with --dir",
		syscall.EISDIR:  broken,
	} {
		err := unusable(path, &fs.PathError{Op: "open", Path: path, Err: errno}).Error()
		if !strings.Contains(err, path) || !strings.Contains(err, want) || want != broken && strings.Contains(err, broken) {
			t.Errorf("%v: %s", errno, err)
		}
	}
	if _, _, err := Load(os.DevNull); err == nil || strings.Contains(err.Error(), broken) {
		t.Errorf("a folder that is none: %v", err)
	}
}
