//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"os"
)

var errLinux = errors.New("commands can be contained on Linux only")

func seccompFilter() ([]byte, error) { return nil, errLinux }

func landlockVersion() int { return 0 }

func restrictThread([]string) error { return errLinux }

func signalName(int) string { return "a signal" }

func chooseCgroup(string) string { return "" }

// Run is for Linux.
func (s *Sandbox) Run(context.Context, Command) (Result, error) { return Result{}, errLinux }

// RemoveAll is os.RemoveAll where no command runs.
func RemoveAll(dir string) error { return os.RemoveAll(dir) }
