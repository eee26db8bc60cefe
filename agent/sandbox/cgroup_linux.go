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

// controlGroup is the control group of a command, which limits its memory and its processes.
// https://docs.kernel.org/admin-guide/cgroup-v2.html
type controlGroup struct{ dir string }

// findCgroup returns the directory in which this process can create groups that control memory and processes; "" if
// there is none.
func findCgroup(root string) string {
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

// cgroupCandidates returns the directories in which groups may be created; own is the content of /proc/self/cgroup. A
// group with processes can't have subgroups with controllers. So a candidate is the parent of our own group, if a
// service manager delegates that (systemd: Delegate=yes with DelegateSubgroup=), or our own.
func cgroupCandidates(root, own string) (dirs []string) {
	for line := range strings.Lines(own) {
		p, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok || strings.Contains(p, "..") { // outside of the mounted hierarchy
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

// isDelegated reports whether groups with both controllers can be created in dir, by trying.
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

// enableControllers enables the controllers for memory and processes in dir, and reports whether that worked.
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

// newCgroup creates a group with the limits.
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

// addProcess moves a process into the group; its later children are in the group, too.
func (g *controlGroup) addProcess(pid int) error {
	return g.writeFile("cgroup.procs", strconv.Itoa(pid))
}

// ranOutOfMemory reports whether the kernel killed a process of the group for lack of memory.
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

// Close kills the remaining processes of the group and removes it. It retries, since the kernel may take a moment to
// empty the group.
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
