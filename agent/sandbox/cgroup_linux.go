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

// controlGroup is a control group of one command: the kernel holds its memory and its
// processes. https://docs.kernel.org/admin-guide/cgroup-v2.html
type controlGroup struct{ dir string }

// chooseCgroup finds the directory in which this process may make groups that control
// memory and processes; "" when there is none.
func chooseCgroup(root string) string {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for _, dir := range cgroupCandidates(root, string(own)) {
		if isDelegated(dir) {
			return dir
		}
	}
	return ""
}

// cgroupCandidates are the directories where groups may be made; own is what
// /proc/self/cgroup says. Groups can't be made beside processes. So a candidate is the
// parent of our own group, where a service manager delegates that (systemd:
// Delegate=yes with DelegateSubgroup=), or our own.
func cgroupCandidates(root, own string) (dirs []string) {
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

// isDelegated reports whether groups with both controllers can be made in dir, by trying.
func isDelegated(dir string) bool {
	if !enableControllers(dir) {
		return false
	}
	g, err := newCgroup(dir, DefaultLimits())
	if err != nil {
		return false
	}
	return g.Close() == nil
}

// enableControllers lets the groups in dir control memory and processes. It reports
// whether that worked.
func enableControllers(dir string) bool {
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
func newCgroup(in string, l Limits) (*controlGroup, error) {
	dir, err := os.MkdirTemp(in, "sandbox-*")
	if err != nil {
		return nil, fmt.Errorf("make a control group: %w", err)
	}
	g := &controlGroup{dir}
	if err := g.setLimits(l); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// setLimits sets the group's limits.
func (g *controlGroup) setLimits(l Limits) error {
	for _, f := range []struct{ name, value string }{
		{"memory.max", strconv.FormatInt(l.Memory, 10)},
		{"pids.max", strconv.Itoa(l.Processes)},
		{"memory.oom.group", "1"},
	} {
		if err := g.writeFile(f.name, f.value); err != nil {
			return err
		}
	}
	if err := g.writeFile("memory.swap.max", "0"); err != nil && !errors.Is(err, fs.ErrNotExist) { // absent without swap
		return err
	}
	return nil
}

func (g *controlGroup) writeFile(name, value string) error {
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

// addProcess moves a process in; what it starts follows it.
func (g *controlGroup) addProcess(pid int) error {
	return g.writeFile("cgroup.procs", strconv.Itoa(pid))
}

// ranOutOfMemory reports whether the kernel ended something for lack of memory.
func (g *controlGroup) ranOutOfMemory() bool {
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
func (g *controlGroup) Close() error {
	_ = g.writeFile("cgroup.kill", "1") // since Linux 5.14; the processes are dead anyway
	var err error
	for range 50 {
		if err = os.Remove(g.dir); err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("remove control group: %w", err)
}
