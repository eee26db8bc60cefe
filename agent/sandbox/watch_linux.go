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

// Intervals of the watch. In one memory interval, a process can fill about a tenth of a GiB for each processor.
const (
	memoryInterval = 50 * time.Millisecond
	diskInterval   = 250 * time.Millisecond
	openTimeout    = 3 * time.Second // for opening the sandbox's own folders
)

// memoryFloor is the memory that must stay available on the host, in bytes. It limits memory that is not accounted to
// processes, such as pipes and unmapped shared memory.
const memoryFloor = 192 << 20

// limitWatch enforces the limits that the kernel does not.
type limitWatch struct {
	r     *runningCommand
	trees []string // on disk: the work tree and the writable mounts
	since time.Time

	proc    atomic.Pointer[os.File] // the sandbox's own /proc, with only its processes; nil: none
	temps   []*os.File              // temporary file systems of the sandbox
	atStart unix.Statfs_t           // state of the work tree's file system at the start
	atWalk  unix.Statfs_t           // state at the last walk of the trees
	walked  time.Time               // time of that walk
}

func newWatch(r *runningCommand, c Command) *limitWatch {
	w := &limitWatch{r: r, trees: c.writable(), since: time.Now(), walked: time.Now()}
	_ = unix.Statfs(c.Dir, &w.atStart) // if this fails, every check is a walk
	w.atWalk = w.atStart
	return w
}

// run checks the limits until stop is closed.
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
		runEvery(stop, diskInterval, func() {
			if why := w.checkDisk(ctx); why != "" {
				w.r.requestEnd(ByDisk, why)
			}
		})
	}()
	runEvery(stop, memoryInterval, w.checkMemory)
	cancel() // cancels a running walk
	<-disk
	if proc := w.proc.Load(); proc != nil {
		proc.Close()
	}
}

// runEvery calls f at intervals of d until stop is closed.
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

// checkMemory checks the memory limits.
func (w *limitWatch) checkMemory() {
	w.openFolders()
	if w.temps == nil && time.Since(w.since) > openTimeout {
		w.r.requestEnd(ByMemory, "it hides from the watch on its memory")
		return
	}
	var inFiles, files int64
	for _, t := range w.temps {
		var st unix.Statfs_t
		if unix.Fstatfs(int(t.Fd()), &st) == nil {
			inFiles += int64(st.Blocks-st.Bfree) * st.Bsize
			files += int64(st.Files - st.Ffree)
		}
	}
	if files > int64(w.r.limits.Files) {
		w.r.requestEnd(ByDisk, fmt.Sprintf("it made more than %d temporary files", w.r.limits.Files))
	}
	if w.r.group == nil && w.overMemory(inFiles) { // in a control group, the kernel limits memory
		v := w.memoryVerdict()
		w.r.requestEnd(v.by, v.why)
	}
	if availableMemory() < memoryFloor {
		w.r.requestEnd(ByMemory, "this machine has almost no memory left")
	}
}

// overMemory reports whether the processes and inFiles bytes of temporary files exceed the memory limit.
func (w *limitWatch) overMemory(inFiles int64) bool {
	held := inFiles + w.processMemory(residentMemory)
	if held > w.r.limits.Memory {
		held = inFiles + w.processMemory(sharedMemory) // accurate, but slow
	}
	return held > w.r.limits.Memory
}

func (w *limitWatch) memoryVerdict() endVerdict {
	return endVerdict{ByMemory, fmt.Sprintf("it needed more than %s of memory", humanSize(w.r.limits.Memory))}
}

// openFolders opens the sandbox's temporary folders and its /proc. It uses a process of the command, since the first
// process is bubblewrap's, which only root can inspect.
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
			if proc, err := os.Open(root + "/proc"); err == nil { // otherwise the host's /proc is used
				w.proc.Store(proc)
			}
		}
		return
	}
}

// childPIDs returns the children of a process.
func childPIDs(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(b))
}

// openInProc opens a file of one process in /proc.
type openInProc func(name string) (*os.File, error)

// processMemory returns the memory of the processes, in bytes, according to measure. It includes memory shared within
// the sandbox and excludes mapped files.
func (w *limitWatch) processMemory(measure func(openInProc) int64) (held int64) {
	if proc := w.proc.Load(); proc != nil {
		for _, pid := range numericEntries(proc) {
			held += measure(func(name string) (*os.File, error) {
				fd, err := unix.Openat(int(proc.Fd()), pid+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
				if err != nil {
					return nil, err
				}
				return os.NewFile(uintptr(fd), name), nil
			})
		}
		return held
	}
	for _, pid := range w.processTree() {
		held += measure(func(name string) (*os.File, error) { return os.Open(fmt.Sprintf("/proc/%d/%s", pid, name)) })
	}
	return held
}

// numericEntries returns the entries of a directory of /proc that are numbers.
func numericEntries(dir *os.File) []string {
	again, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", dir.Fd())) // with its own position
	if err != nil {
		return nil
	}
	defer again.Close()
	names, _ := again.Readdirnames(-1) // some may have been removed
	return slices.DeleteFunc(names, func(n string) bool { return n[0] < '0' || n[0] > '9' })
}

// residentMemory returns a process's memory from its status. Shared memory counts for each process.
func residentMemory(open openInProc) int64 {
	bytes, _ := readMemory(open, "status", "RssAnon", "RssShmem")
	return bytes
}

// sharedMemory divides shared memory, such as that before a fork, among its processes. If the kernel does not report
// that, it is residentMemory.
func sharedMemory(open openInProc) int64 {
	if bytes, ok := readMemory(open, "smaps_rollup", "Pss_Anon", "Pss_Shmem"); ok {
		return bytes
	}
	return residentMemory(open)
}

// readMemory adds up fields of a process's file; ok reports whether all were present.
func readMemory(open openInProc, file string, fields ...string) (bytes int64, ok bool) {
	f, err := open(file)
	if err != nil {
		return 0, false // the process has exited, or can't be inspected
	}
	defer f.Close()
	var b [4096]byte
	n, _ := f.Read(b[:])
	found := 0
	for line := range strings.Lines(string(b[:n])) {
		name, value, _ := strings.Cut(line, ":")
		if slices.Contains(fields, name) {
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			bytes += kb << 10
			found++
		}
	}
	return bytes, found == len(fields)
}

// processTree returns the first process and all its descendants. It misses none, since orphans become children of the
// first process of their namespace.
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
			continue // it exited
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

// availableMemory returns the memory available on this host, in bytes; 1<<62 if unknown.
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
