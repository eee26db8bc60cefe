package sandbox

import (
	"context"
	"fmt"
	"os"
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
	openWithin  = 3 * time.Second // to get hold of the sandbox's own folders
)

// memoryFloor is how many bytes of memory must stay available on the whole host. It
// bounds what is held in ways that no process accounts for, such as pipes and unmapped
// shared memory.
const memoryFloor = 192 << 20

// limitWatch holds the limits that the kernel does not hold for us.
type limitWatch struct {
	r     *runningCommand
	trees []string // on the disk: the work tree and the writable mounts
	since time.Time

	proc  atomic.Pointer[os.File] // the sandbox's own /proc, which lists its processes and no others; nil when it has none
	temps []*os.File              // its temporary file systems
	first unix.Statfs_t           // the work tree's file system when the command began
	last  unix.Statfs_t           // and when the trees were last walked
	when  time.Time               // they were
}

func newWatch(r *runningCommand, c Command) *limitWatch {
	w := &limitWatch{r: r, trees: c.writable(), since: time.Now(), when: time.Now()}
	_ = unix.Statfs(c.Dir, &w.first) // without it every look is a walk
	w.last = w.first
	return w
}

// run looks until stop is closed.
func (w *limitWatch) run(stop chan struct{}) {
	defer func() {
		for _, f := range w.temps {
			f.Close()
		}
	}()
	disk := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(disk)
		runEvery(stop, diskEvery, func() {
			if why := w.checkDisk(ctx); why != "" {
				w.r.requestEnd(ByDisk, why)
			}
		})
	}()
	runEvery(stop, memoryEvery, w.checkMemory)
	cancel() // a walk under way
	<-disk
	if proc := w.proc.Load(); proc != nil {
		proc.Close()
	}
}

// runEvery calls f again and again until stop is closed.
func runEvery(stop chan struct{}, d time.Duration, f func()) {
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

// checkMemory measures memory.
func (w *limitWatch) checkMemory() {
	w.openFolders()
	if w.temps == nil && time.Since(w.since) > openWithin {
		w.r.requestEnd(ByMemory, "it hides from the watch on its memory")
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
		w.r.requestEnd(ByDisk, fmt.Sprintf("it made more than %d temporary files", w.r.limits.Files))
	}
	for _, p := range w.processMemory() {
		held += p
	}
	if held > w.r.limits.Memory {
		v := w.memoryVerdict()
		w.r.requestEnd(v.by, v.why)
	}
	if availableMemory() < memoryFloor {
		w.r.requestEnd(ByMemory, "this machine has almost no memory left")
	}
}

func (w *limitWatch) memoryVerdict() endVerdict {
	return endVerdict{ByMemory, fmt.Sprintf("it needed more than %s of memory", humanSize(w.r.limits.Memory))}
}

// openFolders opens the sandbox's temporary folders and its /proc. They are reached
// through a process of the command, since the first process is bubblewrap's, and only
// root can look into that one.
func (w *limitWatch) openFolders() {
	if w.temps != nil {
		return
	}
	for _, pid := range append([]string{strconv.Itoa(w.r.pid)}, childPIDs(w.r.pid)...) {
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
		if w.r.sandbox.capability.Kind == KindFull {
			if proc, err := os.Open(root + "/proc"); err == nil { // without it the host's is read
				w.proc.Store(proc)
			}
		}
		return
	}
}

// childPIDs lists the processes that a process has begun.
func childPIDs(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(b))
}

// processMemory is how many bytes of memory each process holds. They are its own and
// those that it shares with others of the sandbox, without the files that it maps.
func (w *limitWatch) processMemory() (held []int64) {
	if proc := w.proc.Load(); proc != nil {
		for _, pid := range numericEntries(proc) {
			if fd, err := unix.Openat(int(proc.Fd()), pid+"/status", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
				held = append(held, anonymousMemory(os.NewFile(uintptr(fd), "status")))
			}
		}
		return held
	}
	for _, pid := range w.processTree() {
		if f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/status"); err == nil {
			held = append(held, anonymousMemory(f))
		}
	}
	return held
}

// numericEntries lists the entries of a directory of /proc that are numbers.
func numericEntries(dir *os.File) []string {
	again, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", dir.Fd())) // a position of its own
	if err != nil {
		return nil
	}
	defer again.Close()
	names, _ := again.Readdirnames(-1) // some may have gone meanwhile
	return slices.DeleteFunc(names, func(n string) bool { return n[0] < '0' || n[0] > '9' })
}

// anonymousMemory reads a process's memory from its status, and closes the file.
func anonymousMemory(f *os.File) (bytes int64) {
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

// processTree lists the first process and all its descendants. Orphans become children
// of the first process of their namespace, so that none is missed.
func (w *limitWatch) processTree() []int {
	parents := map[int][]int{}
	proc, err := os.Open("/proc")
	if err != nil {
		return []int{w.r.pid}
	}
	defer proc.Close()
	for _, n := range numericEntries(proc) {
		b, err := os.ReadFile("/proc/" + n + "/stat")
		if err != nil {
			continue // it ended
		}
		_, rest, _ := strings.Cut(string(b[strings.LastIndexByte(string(b), ')')+1:]), " ")
		f := strings.Fields(rest) // state, parent, …
		if len(f) < 2 {
			continue
		}
		pid, _ := strconv.Atoi(n)
		parent, _ := strconv.Atoi(f[1])
		parents[parent] = append(parents[parent], pid)
	}
	all := []int{w.r.pid}
	for i := 0; i < len(all); i++ {
		all = append(all, parents[all[i]]...)
	}
	return all
}

// availableMemory is how many bytes programs can still get on this host; 1<<62 when that
// is not known.
func availableMemory() int64 {
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
