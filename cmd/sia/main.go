// Command sia is the GitHub App that resolves labelled issues and lets only
// checks declare success. `sia --help` lists its commands; each is one file of
// this package.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	unsetEmpty()
	absoluteTemp()
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, stop) // a second signal kills the process, even if it is blocked
	// The reader of the output may exit first, as tee does on Ctrl-C. A write then returns an error. By default SIGPIPE
	// would kill the process. Ignoring the signal would be inherited by child processes, so it is caught.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	code := runCommand(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// unsetEmpty unsets those of SIA's variables that are empty, as they often are in a container's settings: an empty
// number is an error, and an empty path the current folder.
func unsetEmpty() {
	for _, v := range os.Environ() {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "SIA_") && value == "" {
			_ = os.Unsetenv(name) // it has a valid name
		}
	}
}

// absoluteTemp makes the folder for temporary files absolute, since git and commands run in other folders.
func absoluteTemp() {
	const name = "TMPDIR"
	if dir, err := filepath.Abs(os.Getenv(name)); err == nil && os.Getenv(name) != "" {
		_ = os.Setenv(name, dir) // it has a valid name
	}
}
