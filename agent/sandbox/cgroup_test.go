//go:build linux

package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeCgroups creates a tree that looks like cgroup v2, to check the settings that are written. Their effects can only
// be tested on a host with delegated groups.
func fakeCgroups(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestCgroupCandidates(t *testing.T) {
	for name, c := range map[string]struct {
		own  string
		want []string
	}{
		"a service with a group below": {"0::/system.slice/sia.service/main\n",
			[]string{"/sys/system.slice/sia.service", "/sys/system.slice/sia.service/main"}},
		"a container":                {"0::/\n", []string{"/sys"}},
		"version 1 beside it":        {"4:memory:/x\n0::/y\n", []string{"/sys", "/sys/y"}},
		"version 1 only":             {"4:memory:/x\n", nil},
		"outside of what is mounted": {"0::/../../other\n", nil},
	} {
		if d := cmp.Diff(c.want, cgroupCandidates("/sys", c.own)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestCgroupNeedsBothControllers(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"both":    {map[string]string{"cgroup.controllers": "cpu memory pids\n", "cgroup.subtree_control": ""}, true},
		"no pids": {map[string]string{"cgroup.controllers": "cpu memory\n", "cgroup.subtree_control": ""}, false},
		"no control": {map[string]string{"cgroup.controllers": "memory pids\n", "cgroup.subtree_control/not-writable": ""},
			false},
		"no group": {nil, false},
	} {
		dir := fakeCgroups(t, c.files)
		if got := enableControllers(dir); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control")); c.want &&
			(err != nil || string(b) != "+memory +pids") {
			t.Errorf("%s: asked for %q, %v", name, b, err)
		}
	}
}

func TestCgroupLimits(t *testing.T) {
	files := map[string]string{"memory.max": "max", "pids.max": "max", "memory.oom.group": "0", "cgroup.procs": "",
		"memory.events": "low 0\noom 3\noom_kill 0\n"}
	g := &controlGroup{fakeCgroups(t, files)}
	if err := g.setLimits(Limits{Memory: 4096, Processes: 7}); err != nil {
		t.Fatal(err) // a host without swap has no memory.swap.max
	}
	if err := g.addProcess(4711); err != nil {
		t.Fatal(err)
	}
	if g.ranOutOfMemory() {
		t.Error("it ran out of memory before it began")
	}
	if err := os.WriteFile(filepath.Join(g.dir, "memory.events"), []byte("oom 1\noom_kill 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if !g.ranOutOfMemory() {
		t.Error("what the kernel ended was not noticed")
	}
	for name, want := range map[string]string{"memory.max": "4096", "pids.max": "7", "memory.oom.group": "1",
		"cgroup.procs": "4711"} {
		// A write replaces the content of kernel files, but only overwrites the start of these.
		if b, err := os.ReadFile(filepath.Join(g.dir, name)); err != nil || string(b)[:len(want)] != want {
			t.Errorf("%s is %q, %v; want %q", name, b, err, want)
		}
	}
	if err := (&controlGroup{fakeCgroups(t, map[string]string{"pids.max": ""})}).setLimits(Limits{Memory: 1,
		Processes: 1}); err == nil {
		t.Error("a limit that could not be set was not an error")
	}
}
