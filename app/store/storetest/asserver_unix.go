//go:build unix

package storetest

import (
	"os"
	"os/exec"
	"syscall"
)

// nobody is the id of the user that runs PostgreSQL when the tests run as root, which PostgreSQL refuses.
const nobody = 65534

// AsServer makes a command run as the user that runs PostgreSQL.
func AsServer(cmd *exec.Cmd) {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}

// ChownToServer makes that user the owner of a folder.
func ChownToServer(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(dir, nobody, nobody)
}
