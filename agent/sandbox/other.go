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

func findCgroup(string) string { return "" }

// Run is supported only on Linux.
func (s *Sandbox) Run(context.Context, Command) (Result, error) { return Result{}, errLinux }

// RemoveAll is os.RemoveAll, since no commands run on this system.
func RemoveAll(dir string) error { return os.RemoveAll(dir) }
