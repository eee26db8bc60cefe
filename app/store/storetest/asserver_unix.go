//go:build unix

package storetest

import (
	"os"
	"os/exec"
	"syscall"
)

// nobody is the user that PostgreSQL runs as when the tests run as root, which it refuses.
const nobody = 65534

// AsServer has a command run as the user that PostgreSQL runs as.
func AsServer(cmd *exec.Cmd) {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}

// ChownToServer gives that user a folder.
func ChownToServer(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(dir, nobody, nobody)
}
