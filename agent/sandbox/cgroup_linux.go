package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cgroup is a control group of one command: the kernel holds its memory and its
// processes. https://docs.kernel.org/admin-guide/cgroup-v2.html
type cgroup struct{ dir string }

// chooseCgroup is the directory in which this process may make groups that
// control memory and processes; "" when there is none.
func chooseCgroup(root string) string {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for _, dir := range candidates(root, string(own)) {
		if delegated(dir) {
			return dir
		}
	}
	return ""
}

// candidates are the directories where groups may be made, given what
// /proc/self/cgroup says. Groups can't be made beside processes, so it is the
// parent of our own where a service manager delegates that (systemd: Delegate=yes
// with DelegateSubgroup=), or our own.
func candidates(root, own string) (dirs []string) {
	for line := range strings.Lines(own) {
		p, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok || strings.Contains(p, "..") { // outside of what is mounted here
			continue
		}
		dir := filepath.Join(root, p)
		if dir != root {
			dirs = append(dirs, filepath.Dir(dir))
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// delegated tries whether groups with both controllers can be made in dir.
func delegated(dir string) bool {
	if !handsDown(dir) {
		return false
	}
	g, err := newCgroup(dir, DefaultLimits())
	if err != nil {
		return false
	}
	return g.Close() == nil
}

// handsDown lets the groups in dir control memory and processes, and reports
// whether they may.
func handsDown(dir string) bool {
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return false
	}
	have := strings.Fields(string(b))
	if !slices.Contains(have, "memory") || !slices.Contains(have, "pids") {
		return false
	}
	return os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+memory +pids"), 0) == nil
}

// newCgroup makes a group with the limits.
func newCgroup(in string, l Limits) (*cgroup, error) {
	dir, err := os.MkdirTemp(in, "sandbox-*")
	if err != nil {
		return nil, fmt.Errorf("make a control group: %w", err)
	}
	g := &cgroup{dir}
	if err := g.limit(l); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// limit sets the group's limits.
func (g *cgroup) limit(l Limits) error {
	for _, f := range []struct{ name, value string }{
		{"memory.max", strconv.FormatInt(l.Memory, 10)},
		{"pids.max", strconv.Itoa(l.Processes)},
		{"memory.oom.group", "1"},
	} {
		if err := g.write(f.name, f.value); err != nil {
			return err
		}
	}
	if err := g.write("memory.swap.max", "0"); err != nil && !errors.Is(err, fs.ErrNotExist) { // absent without swap
		return err
	}
	return nil
}

func (g *cgroup) write(name, value string) error {
	f, err := os.OpenFile(filepath.Join(g.dir, name), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("control group: %w", err)
	}
	_, err = f.WriteString(value)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("control group: %w", err)
	}
	return nil
}

// add moves a process in; what it starts follows it.
func (g *cgroup) add(pid int) error { return g.write("cgroup.procs", strconv.Itoa(pid)) }

// ranOut reports whether the kernel ended something for lack of memory.
func (g *cgroup) ranOut() bool {
	b, err := os.ReadFile(filepath.Join(g.dir, "memory.events"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(b)) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
			return n != "0"
		}
	}
	return false
}

// Close ends what is left in the group and removes it. The kernel may need a
// moment until the group counts as empty.
func (g *cgroup) Close() error {
	_ = g.write("cgroup.kill", "1") // since Linux 5.14; the processes are dead anyway
	var err error
	for range 50 {
		if err = os.Remove(g.dir); err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("remove control group: %w", err)
}
