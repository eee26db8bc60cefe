package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// How often the watch looks. Between two looks a process can fill about a tenth
// of a GiB of memory for each processor.
const (
	memoryEvery = 50 * time.Millisecond
	diskEvery   = 250 * time.Millisecond
	graspWithin = 3 * time.Second // to get hold of the sandbox's own folders
)

// floor is how much memory must stay available on the whole host: what is held
// in ways that no process accounts for, such as pipes and unmapped shared
// memory, ends here.
const floor = 192 << 20

// watch holds the limits that the kernel does not hold for us.
type watch struct {
	r     *running
	trees []string // on the disk: the work tree and the writable mounts
	since time.Time

	proc  atomic.Pointer[os.File] // the sandbox's own /proc, which lists its processes and no others; nil when it has none
	temps []*os.File              // its temporary file systems
	first unix.Statfs_t           // the work tree's file system when the command began
	last  unix.Statfs_t           // and when the trees were last walked
	when  time.Time               // they were
}

func newWatch(r *running, c Command) *watch {
	w := &watch{r: r, trees: c.writable(), since: time.Now(), when: time.Now()}
	_ = unix.Statfs(c.Dir, &w.first) // without it every look is a walk
	w.last = w.first
	return w
}

// run looks until stop is closed.
func (w *watch) run(stop chan struct{}) {
	defer func() {
		for _, f := range w.temps {
			f.Close()
		}
	}()
	disk := make(chan struct{})
	go func() {
		defer close(disk)
		every(stop, diskEvery, func() {
			if why := w.disk(false); why != "" {
				w.r.end(ByDisk, why)
			}
		})
	}()
	every(stop, memoryEvery, w.look)
	<-disk
	if proc := w.proc.Load(); proc != nil {
		proc.Close()
	}
}

// every calls f again and again until stop is closed.
func every(stop chan struct{}, d time.Duration, f func()) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			f()
		}
	}
}

// look measures memory.
func (w *watch) look() {
	w.grasp()
	if w.temps == nil && time.Since(w.since) > graspWithin {
		w.r.end(ByMemory, "it hides from the watch on its memory")
		return
	}
	var held, files int64
	for _, t := range w.temps {
		var st unix.Statfs_t
		if unix.Fstatfs(int(t.Fd()), &st) == nil {
			held += int64(st.Blocks-st.Bfree) * st.Bsize
			files += int64(st.Files - st.Ffree)
		}
	}
	if files > int64(w.r.limits.Files) {
		w.r.end(ByDisk, fmt.Sprintf("it made more than %d temporary files", w.r.limits.Files))
	}
	for _, p := range w.processes() {
		held += p
	}
	if held > w.r.limits.Memory {
		v := w.memory()
		w.r.end(v.by, v.why)
	}
	if available() < floor {
		w.r.end(ByMemory, "this machine has almost no memory left")
	}
}

func (w *watch) memory() verdict {
	return verdict{ByMemory, fmt.Sprintf("it needed more than %s of memory", size(w.r.limits.Memory))}
}

// grasp opens the sandbox's own folders. They are reached through a process of
// the command, since the first one, being bubblewrap's, can't be looked into by
// anybody but root.
func (w *watch) grasp() {
	if w.temps != nil {
		return
	}
	for _, pid := range append([]string{strconv.Itoa(w.r.pid)}, children(w.r.pid)...) {
		root := "/proc/" + pid + "/root"
		var temps []*os.File
		for _, dir := range []string{"/tmp", HomeDir, "/dev/shm"} {
			fd, err := unix.Open(root+dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
			if err != nil {
				break
			}
			temps = append(temps, os.NewFile(uintptr(fd), dir))
		}
		if len(temps) < 3 {
			for _, f := range temps {
				f.Close()
			}
			continue
		}
		w.temps = temps
		if w.r.sandbox.capability.Kind == Full {
			if proc, err := os.Open(root + "/proc"); err == nil { // without it the host's is read
				w.proc.Store(proc)
			}
		}
		return
	}
}

// children lists the processes that a process has begun.
func children(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(b))
}

// processes is the memory that each process holds: what is its own and what it
// shares with others of the sandbox, not the files that it maps.
func (w *watch) processes() (held []int64) {
	if proc := w.proc.Load(); proc != nil {
		for _, pid := range numbers(proc) {
			if fd, err := unix.Openat(int(proc.Fd()), pid+"/status", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
				held = append(held, anonymous(os.NewFile(uintptr(fd), "status")))
			}
		}
		return held
	}
	for _, pid := range w.tree() {
		if f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/status"); err == nil {
			held = append(held, anonymous(f))
		}
	}
	return held
}

// numbers lists the entries of a directory of /proc that are numbers.
func numbers(dir *os.File) []string {
	again, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", dir.Fd())) // a position of its own
	if err != nil {
		return nil
	}
	defer again.Close()
	names, _ := again.Readdirnames(-1) // some may have gone meanwhile
	return slices.DeleteFunc(names, func(n string) bool { return n[0] < '0' || n[0] > '9' })
}

// anonymous reads a process's status and closes it.
func anonymous(f *os.File) (bytes int64) {
	defer f.Close()
	var b [4096]byte
	n, _ := f.Read(b[:])
	for line := range strings.Lines(string(b[:n])) {
		name, value, _ := strings.Cut(line, ":")
		if name == "RssAnon" || name == "RssShmem" {
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			bytes += kb << 10
		}
	}
	return bytes
}

// tree lists the first process and all that came of it. Orphans become children
// of the first process of their namespace, so that none is missed.
func (w *watch) tree() []int {
	parents := map[int][]int{}
	names, err := filepath.Glob("/proc/[1-9]*/stat")
	if err != nil {
		return nil
	}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(b[strings.LastIndexByte(string(b), ')')+1:]), " ")
		f := strings.Fields(rest) // state, parent, …
		if len(f) < 2 {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(n)))
		parent, _ := strconv.Atoi(f[1])
		parents[parent] = append(parents[parent], pid)
	}
	all := []int{w.r.pid}
	for i := 0; i < len(all); i++ {
		all = append(all, parents[all[i]]...)
	}
	return all
}

// available is the memory that programs can still get on this host; when that
// can't be told, plenty.
func available() int64 {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 1 << 62
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err == nil {
				return kb << 10
			}
		}
	}
	return 1 << 62
}
