package sandbox

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// rlimit is one limit that the kernel holds for each process, or, for processes,
// for the user in this sandbox's namespace.
type rlimit struct {
	name     string // as prlimit(1) calls it
	resource int
	unix.Rlimit
}

// rlimits are l's, none above what this process itself may have.
func rlimits(l Limits) []rlimit {
	seconds := uint64(max(1, l.CPU/time.Second))
	all := []rlimit{
		{"cpu", unix.RLIMIT_CPU, unix.Rlimit{Cur: seconds, Max: seconds + 5}},
		{"nproc", unix.RLIMIT_NPROC, same(uint64(l.Processes))},
		{"nofile", unix.RLIMIT_NOFILE, same(uint64(l.OpenFiles))},
		{"fsize", unix.RLIMIT_FSIZE, same(uint64(l.FileSize))},
		{"core", unix.RLIMIT_CORE, same(0)},
		{"memlock", unix.RLIMIT_MEMLOCK, same(1 << 20)},
		{"msgqueue", unix.RLIMIT_MSGQUEUE, same(1 << 20)},
	}
	for i, limit := range all {
		var own unix.Rlimit
		if unix.Getrlimit(limit.resource, &own) == nil {
			all[i].Cur, all[i].Max = min(limit.Cur, own.Max), min(limit.Max, own.Max)
		}
	}
	return all
}

func same(n uint64) unix.Rlimit { return unix.Rlimit{Cur: n, Max: n} }

// prlimit is the command line that sets the limits from inside and then becomes
// the command. Root uses it: in many containers it may not limit the processes of
// another user, and that is who commands are.
func prlimit(program string, l Limits) []string {
	line := []string{program}
	for _, limit := range rlimits(l) {
		line = append(line, fmt.Sprintf("--%s=%d:%d", limit.name, limit.Cur, limit.Max))
	}
	return append(line, "--")
}
