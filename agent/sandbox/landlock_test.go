//go:build linux

package sandbox_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sia-bot/sia/agent/sandbox"
)

// With Landlock, writes are restricted where mounts restrict them, and where they can't: the processes' own settings in
// /proc.
func TestLandlockIsASecondLayer(t *testing.T) {
	s := box(t, sandbox.Options{})
	found := s.Capability()
	if found.Landlock == 0 {
		if !strings.Contains(found.String(), "no Landlock") || sandbox.KernelHasLandlock() {
			t.Errorf("the kernel has it: %t; found: %s", sandbox.KernelHasLandlock(), found)
		}
		return // this kernel has none
	}
	cache := tree(t, map[string]string{"kept": "kept\n"})
	r := run(t, s, sandbox.Command{Dir: tree(t, map[string]string{"d/a": "a\n"}), Mounts: []sandbox.Mount{
		{From: cache, To: "/cache/x", Writable: true}, {From: cache, To: "/cache/y"}},
		Shell: `for f in /proc/self/comm /proc/self/oom_score_adj /proc/self/coredump_filter /proc/self/timerslack_ns \
				/etc/x /usr/x /run/x /x /cache/x.y /cache/y/x /dev/x /proc/x; do (echo 0 > $f) 2>/dev/null && echo BROKE $f; done
			set -e; mkdir e; mv d/a e/b; ln e/b d/c; ln -s b e/l; mkfifo p; truncate -s 3 e/b
			echo x | tee /tmp/a ~/a /dev/shm/a /cache/x/a > /dev/null; mv /tmp/a /tmp/b; rm -r e d
			head -c 2 /dev/urandom > /dev/null; cat /cache/y/kept; ls / /usr > /dev/null
			exec 3<>/dev/zero; python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("sock")' && echo works`})
	if string(r.Output) != "kept\nworks\n" || !r.OK() {
		t.Errorf("%s\n%s", r, r.Output)
	}
	if !strings.Contains(found.String(), "files by Landlock") {
		t.Errorf("%s", found)
	}
}

// If Landlock can't be set up, the sandbox works without it, and reports that.
func TestLandlockThatFails(t *testing.T) {
	program := openPath(t, func() string {
		p := filepath.Join(t.TempDir(), "self")
		write(t, p, "#!/bin/sh\necho not today; exit 125\n")
		return p
	}())
	s := box(t, sandbox.Options{Self: []string{program, "forward"}})
	if found := s.Capability(); found.Landlock != 0 || !strings.Contains(found.String(), "no Landlock") {
		t.Errorf("%s", found)
	}
	if r := sh(t, s, tree(t, nil), "echo works"); string(r.Output) != "works\n" {
		t.Errorf("%s\n%s", r, r.Output)
	}
}
