package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// walkInterval is the maximum time between walks of the trees. A walk is needed even if the file system's usage has not
// grown, since another process may free as much as the command uses.
const walkInterval = 15 * time.Second

// spareDisk is the space that must remain free on the disk, in bytes.
const spareDisk = 512 << 20

var errFull = errors.New("full")

// checkDisk returns the reason if the command uses too much disk space; otherwise "". While the command runs, it walks
// the trees only if the file system's usage grew by an eighth of the limit since the last walk, or after walkInterval:
// frees by other processes can hide usage until then. At the end, tidyUp walks them in any case, so that many short
// commands can't fill the disk.
func (w *limitWatch) checkDisk(ctx context.Context) string {
	var now unix.Statfs_t
	if err := unix.Statfs(w.trees[0], &now); err != nil {
		return ""
	}
	grown := func(since unix.Statfs_t) int64 { return (int64(since.Bfree) - int64(now.Bfree)) * now.Bsize }
	made := int64(w.atWalk.Ffree) - int64(now.Ffree)
	if grown(w.atWalk) < w.r.limits.Disk/8 && made < int64(w.r.limits.Files)/8 && time.Since(w.walked) < walkInterval {
		return ""
	}
	w.atWalk, w.walked = now, time.Now()
	if int64(now.Bavail)*now.Bsize < spareDisk && grown(w.atStart) > spareDisk/4 {
		return "the disk of this machine is almost full"
	}
	m, why := w.measureTrees(ctx)
	if why == "" && grown(w.atStart) > w.r.limits.Disk && (m.hidden || m.bytes+w.measureUnlinked() > w.r.limits.Disk) {
		why = w.diskReason()
	}
	return why
}

// checkAtEnd returns the reason if the command used too much disk space when it ended; m is the size of its trees.
func (w *limitWatch) checkAtEnd(m treeSize) string {
	why := w.tooLarge(m)
	var now unix.Statfs_t
	if why == "" && m.hidden && unix.Statfs(w.trees[0], &now) == nil &&
		(int64(w.atStart.Bfree)-int64(now.Bfree))*now.Bsize > w.r.limits.Disk {
		why = w.diskReason()
	}
	return why
}

func (w *limitWatch) diskReason() string {
	return fmt.Sprintf("its files take up more than %s", humanSize(w.r.limits.Disk))
}

// measureTrees measures the trees until they exceed a limit; why is that limit.
func (w *limitWatch) measureTrees(ctx context.Context) (m treeSize, why string) {
	for _, tree := range w.trees {
		err := walkTree(ctx, tree, func(e walkedEntry) error {
			m.addEntry(e)
			if why = w.tooLarge(m); why != "" {
				return errFull
			}
			return nil
		}, m.addHidden)
		m.hidden = m.hidden || err != nil && why == ""
		if why != "" {
			break
		}
	}
	return m, why
}

// tooLarge returns the limit that the trees exceed; "": none.
func (w *limitWatch) tooLarge(m treeSize) string {
	switch {
	case m.bytes > w.r.limits.Disk:
		return w.diskReason()
	case m.files > w.r.limits.Files:
		return fmt.Sprintf("it made more than %d files", w.r.limits.Files)
	case m.deep:
		return fmt.Sprintf("it made folders nested deeper than %d; what lay deeper is removed", maxDepth)
	}
	return ""
}

// measureUnlinked returns the size of deleted files that processes hold open. They use disk space, but a walk does not
// find them. If a process can't be inspected, it returns the whole limit, so that the file system's usage decides.
func (w *limitWatch) measureUnlinked() (total int64) {
	proc, pids := w.proc.Load(), []string{}
	if proc != nil {
		pids = slices.DeleteFunc(numericEntries(proc), func(pid string) bool { return pid == "1" })
	} else {
		host, err := os.Open("/proc")
		if err != nil {
			return w.r.limits.Disk
		}
		defer host.Close()
		proc = host
		for _, pid := range w.processTree()[1:] { // the first is bubblewrap's, without open files
			pids = append(pids, strconv.Itoa(pid))
		}
	}
	seen := map[uint64]bool{}
	for _, pid := range pids {
		fd, err := unix.Openat(int(proc.Fd()), pid+"/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		switch {
		case errors.Is(err, fs.ErrPermission):
			return w.r.limits.Disk
		case err != nil: // it exited
			continue
		}
		dir := os.NewFile(uintptr(fd), "fd")
		for _, n := range numericEntries(dir) {
			var st unix.Stat_t
			if unix.Fstatat(int(dir.Fd()), n, &st, 0) == nil && st.Nlink == 0 && st.Mode&unix.S_IFMT == unix.S_IFREG &&
				!seen[st.Ino] && w.onDisk(st.Dev) {
				seen[st.Ino] = true
				total += st.Blocks * 512
			}
		}
		dir.Close()
	}
	return total
}

// onDisk reports whether a device contains one of the trees. Temporary files are on other devices and count as memory.
func (w *limitWatch) onDisk(dev uint64) bool {
	return slices.ContainsFunc(w.trees, func(tree string) bool {
		var st unix.Stat_t
		return unix.Stat(tree, &st) == nil && st.Dev == dev
	})
}
