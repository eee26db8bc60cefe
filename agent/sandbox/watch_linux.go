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
	if w.r.group == nil && w.overMemory(inFiles) { // a group's memory is held by the kernel
		v := w.memoryVerdict()
		w.r.requestEnd(v.by, v.why)
	}
	if availableMemory() < memoryFloor {
		w.r.requestEnd(ByMemory, "this machine has almost no memory left")
	}
}

// overMemory reports whether the processes and so many bytes of temporary files hold more than the limit.
func (w *limitWatch) overMemory(inFiles int64) bool {
	held := inFiles + w.processMemory(residentMemory)
	if held > w.r.limits.Memory {
		held = inFiles + w.processMemory(sharedMemory) // that takes the kernel long
	}
	return held > w.r.limits.Memory
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

// openInProc opens a file of one process in /proc.
type openInProc func(name string) (*os.File, error)

// processMemory is how many bytes of memory the processes hold, as measure finds of each. They are their own and those
// that they share with others of the sandbox, without the files that they map.
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

// residentMemory is what a process's status says. What several share counts for each of them.
func residentMemory(open openInProc) int64 {
	bytes, _ := readMemory(open, "status", "RssAnon", "RssShmem")
	return bytes
}

// sharedMemory divides what several processes share among them, such as what they had when they forked. Where the
// kernel does not say that, it is residentMemory.
func sharedMemory(open openInProc) int64 {
	if bytes, ok := readMemory(open, "smaps_rollup", "Pss_Anon", "Pss_Shmem"); ok {
		return bytes
	}
	return residentMemory(open)
}

// readMemory adds up fields of a process's file; ok says that all were there.
func readMemory(open openInProc, file string, fields ...string) (bytes int64, ok bool) {
	f, err := open(file)
	if err != nil {
		return 0, false // the process has ended, or may not be looked into
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
