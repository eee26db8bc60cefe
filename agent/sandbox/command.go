package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Paths inside the sandbox.
const (
	WorkDir  = "/workspace" // work tree
	HomeDir  = "/home/user" // home, initially empty and removed afterwards
	CacheDir = "/cache"     // parent of the usual mounts for caches
)

// Command is one command to run.
type Command struct {
	Dir   string // work tree on this host, absolute; mounted writable at WorkDir, except .git
	Argv  []string
	Shell string   // a shell command line, instead of Argv
	Env   []string // NAME=value, in addition to the default environment

	// ReadOnly are files and folders of the work tree, slash-separated, that are mounted read-only, as is .git. Absent
	// ones and symbolic links are skipped.
	ReadOnly []string

	Mounts []Mount
	Hosts  []string // allowed hosts, as in [AllowedHosts]; none: no network

	// Service handles requests of this command at ServiceURL; nil: there is no service. Its requests are canceled when
	// the command ends.
	Service http.Handler

	// Servers run alongside the command. Each starts at the first connection to it, or, with ServersFirst, before the
	// command. If one does not start, its messages are in the command's output, and the command still runs.
	Servers      []Server
	ServersFirst bool

	Limits Limits    // zero fields: the sandbox's limits
	Stdin  io.Reader // nil: empty
	// Output receives stdout and stderr of the command, combined, as they are printed, up to Limits.Printed. An error
	// from Write ends the command. Nil: discarded.
	Output io.Writer
}

// Mount makes a directory or file of this host available to a command.
type Mount struct {
	From     string // absolute path on this host; must exist
	To       string // absolute path in the sandbox; "": the same path
	Writable bool   // counted in Limits.Disk
}

// Limits limit a command. A zero field means the default.
type Limits struct {
	Time      time.Duration // wall clock time
	CPU       time.Duration // CPU time of a process
	Memory    int64         // bytes of memory of all processes, temporary files included
	Processes int           // processes and threads
	OpenFiles int           // per process
	FileSize  int64         // bytes of a file
	Temp      int64         // bytes of each of /tmp, the home and /dev/shm
	Disk      int64         // bytes of the work tree and the writable mounts, existing files included
	Files     int           // number of files in them, and in the temporary directories
	Output    int           // bytes of output kept in the result, half from the start and half from the end
	Printed   int64         // bytes of output at which the command is ended
}

// DefaultLimits returns limits that are sufficient for builds.
func DefaultLimits() Limits {
	return Limits{
		Time: 5 * time.Minute, CPU: 10 * time.Minute, Memory: 4 << 30, Processes: 1024, OpenFiles: 4096,
		FileSize: 2 << 30, Temp: 1 << 30, Disk: 10 << 30, Files: 1_000_000, Output: 64 << 10, Printed: 64 << 20,
	}
}

// withDefaults replaces l's zero fields by those of d.
func (l Limits) withDefaults(d Limits) Limits {
	return Limits{
		Time: cmp.Or(l.Time, d.Time), CPU: cmp.Or(l.CPU, d.CPU), Memory: cmp.Or(l.Memory, d.Memory),
		Processes: cmp.Or(l.Processes, d.Processes), OpenFiles: cmp.Or(l.OpenFiles, d.OpenFiles),
		FileSize: cmp.Or(l.FileSize, d.FileSize), Temp: cmp.Or(l.Temp, d.Temp), Disk: cmp.Or(l.Disk, d.Disk),
		Files: cmp.Or(l.Files, d.Files), Output: cmp.Or(l.Output, d.Output), Printed: cmp.Or(l.Printed, d.Printed),
	}
}

// EndReason is the reason why a command was ended.
type EndReason string

// Reasons to end a command.
const (
	ByTime   EndReason = "time"
	ByMemory EndReason = "memory"
	ByDisk   EndReason = "disk"
	ByOutput EndReason = "output"
	ByCancel EndReason = "cancelled"
	// ByRefusals means that the command kept connecting to hosts that are refused or can't be reached.
	ByRefusals EndReason = "refusals"
)

// ErrDiscarded means that the folders that a command could write could not be made safe afterwards. They were replaced
// by empty ones.
var ErrDiscarded = errors.New("what the command left could not be looked through, so it was discarded as a whole")

// Result is the outcome of a command.
type Result struct {
	ExitCode int       // -1 if Ended is set; 128 + n is usually signal n
	Ended    EndReason // empty: the command was not ended
	Why      string    // description of Ended for users; empty if that is
	Output   []byte    // start and end of the output; a line between them reports the omitted size
	Printed  int64     // total size of the output, in bytes
	Refused  []string  // refused hosts with reasons; at most 20
	Duration time.Duration
}

// OK reports whether the command exited with status 0.
func (r Result) OK() bool { return r.Ended == "" && r.ExitCode == 0 }

// NotStarted reports whether the exit status is that of a shell for a program that does not exist or can't be run.
// https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_08_02
func (r Result) NotStarted() bool { return r.Ended == "" && (r.ExitCode == 126 || r.ExitCode == 127) }

// String returns how the command ended, such as "exit status 1 after 2.3s".
func (r Result) String() string {
	return r.ending(" after " + r.Duration.Round(100*time.Millisecond).String())
}

// Ending is String without the duration, so that equal outcomes have equal texts.
func (r Result) Ending() string { return r.ending("") }

func (r Result) ending(after string) string {
	switch {
	case r.Ended != "":
		return "stopped" + after + ": " + r.Why
	case r.ExitCode > 128 && r.ExitCode < 128+65:
		return fmt.Sprintf("exit status %d (%s)%s", r.ExitCode, signalName(r.ExitCode-128), after)
	}
	return fmt.Sprintf("exit status %d%s", r.ExitCode, after)
}

// writable returns the folders on this host that the command may write to.
func (c Command) writable() []string {
	trees := []string{c.Dir}
	for _, m := range c.Mounts {
		if m.Writable && !slices.Contains(trees, m.From) {
			trees = append(trees, m.From)
		}
	}
	return trees
}

// check validates the command.
func (c Command) check() error {
	switch {
	case !filepath.IsAbs(c.Dir):
		return fmt.Errorf("the work tree %q is not an absolute path", c.Dir)
	case (len(c.Argv) == 0) == (c.Shell == ""):
		return fmt.Errorf("either Argv or Shell must be set")
	}
	for _, s := range append(append([]string{c.Shell}, c.Argv...), c.Env...) {
		if strings.ContainsRune(s, 0) {
			return fmt.Errorf("there is a NUL byte in the command")
		}
	}
	for _, e := range c.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
			return fmt.Errorf("environment: %q is not NAME=value", name)
		}
	}
	for _, p := range c.ReadOnly {
		if !filepath.IsLocal(filepath.FromSlash(p)) || path.Clean(p) == "." {
			return fmt.Errorf("%q is no path in the work tree", p)
		}
	}
	for _, m := range c.Mounts {
		if !filepath.IsAbs(m.From) || m.To != "" && !path.IsAbs(m.To) {
			return fmt.Errorf("mount %s at %s: both must be absolute paths", m.From, m.To)
		}
	}
	for _, s := range c.Servers {
		if strings.ContainsRune(strings.Join(append([]string{s.Name, s.Script}, s.Env...), ""), 0) {
			return fmt.Errorf("server %q: there is a NUL byte in it", s.Name)
		}
	}
	return nil
}
