//go:build unix

package storetest

import (
	"os"
	"os/exec"
	"syscall"
)

// nobody is the user that PostgreSQL runs as when the tests run as root, which it refuses.
const nobody = 65534

// asServer has a command run as the user that PostgreSQL runs as.
func asServer(cmd *exec.Cmd) {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}

func chownToServer(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(dir, nobody, nobody)
}
