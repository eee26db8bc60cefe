// Command sia is the GitHub App that resolves labelled issues and lets only
// checks declare success. `sia --help` lists its commands; each is one file of
// this package.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, stop) // a second signal ends the process, whatever it waits for
	// Whoever reads the output may end first, as tee does on Ctrl-C. A write then gives an error. By default it would end
	// the process; where the signal is ignored, so would be that of all processes that this one starts.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	code := runCommand(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
