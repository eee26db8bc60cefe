package sandbox

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// rlimit is a limit that the kernel enforces for each process, or, for the number of processes, for the user in this
// sandbox's namespace.
type rlimit struct {
	name     string // name of the prlimit(1) option
	resource int
	unix.Rlimit
}

// limitsOf converts l, with no limit above that of this process.
func limitsOf(l Limits) []rlimit {
	seconds := uint64(max(1, l.CPU/time.Second))
	all := []rlimit{
		{"cpu", unix.RLIMIT_CPU, unix.Rlimit{Cur: seconds, Max: seconds + 5}},
		{"nproc", unix.RLIMIT_NPROC, equalLimit(uint64(l.Processes))},
		{"nofile", unix.RLIMIT_NOFILE, equalLimit(uint64(l.OpenFiles))},
		{"fsize", unix.RLIMIT_FSIZE, equalLimit(uint64(l.FileSize))},
		{"core", unix.RLIMIT_CORE, equalLimit(0)},
		{"memlock", unix.RLIMIT_MEMLOCK, equalLimit(1 << 20)},
		{"msgqueue", unix.RLIMIT_MSGQUEUE, equalLimit(1 << 20)},
	}
	for i, limit := range all {
		var own unix.Rlimit
		if unix.Getrlimit(limit.resource, &own) == nil {
			all[i].Cur, all[i].Max = min(limit.Cur, own.Max), min(limit.Max, own.Max)
		}
	}
	return all
}

func equalLimit(n uint64) unix.Rlimit { return unix.Rlimit{Cur: n, Max: n} }

// prlimitLine returns the command line that sets the limits from inside and then executes the command. It is used if
// SIA is root and commands run as another user: in many containers root can't limit that user's processes from outside.
func prlimitLine(program string, l Limits) []string {
	line := []string{program}
	for _, limit := range limitsOf(l) {
		line = append(line, fmt.Sprintf("--%s=%d:%d", limit.name, limit.Cur, limit.Max))
	}
	return append(line, "--")
}
