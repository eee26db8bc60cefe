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

// Where things are, as a command sees them.
const (
	WorkDir  = "/workspace" // the work tree
	HomeDir  = "/home/user" // empty at the beginning, gone at the end
	CacheDir = "/cache"     // under which caches are usually mounted
)

// Command is one command to run.
type Command struct {
	Dir   string // the work tree on this host, absolute; writable at WorkDir, but for .git
	Argv  []string
	Shell string   // a shell command line, instead of Argv
	Env   []string // NAME=value, added to the little that every command gets

	// ReadOnly are files and folders of the work tree, slash-separated, that can only be
	// read, as .git can. Those that are absent or symbolic links are left alone.
	ReadOnly []string

	Mounts []Mount
	Hosts  []string // hosts that may be connected to, as in [AllowedHosts]; none: no network at all

	// Service answers at ServiceURL, for this command alone; nil: nothing does. Its
	// requests end with the command.
	Service http.Handler

	// Servers run beside the command. Each starts with the first connection to it, or all of them before the command
	// where ServersFirst says so. What one that did not start said is in the command's output; the command runs all the
	// same.
	Servers      []Server
	ServersFirst bool

	Limits Limits    // zero fields: the sandbox's
	Stdin  io.Reader // nil: empty
	// Output gets what the command prints as it comes, both streams in one, until
	// Limits.Printed. Its error ends the command. Nil: nothing does.
	Output io.Writer
}

// Mount makes a directory or file of this host visible to a command.
type Mount struct {
	From     string // on this host, absolute; it must exist
	To       string // as the command sees it, absolute; "": the same path
	Writable bool   // counted in Limits.Disk
}

// Limits bound a command. A zero field means the default.
type Limits struct {
	Time      time.Duration // on the wall clock
	CPU       time.Duration // of one process
	Memory    int64         // bytes that all processes hold, temporary files included
	Processes int           // and threads
	OpenFiles int           // of one process
	FileSize  int64         // bytes of the largest file
	Temp      int64         // bytes of each of /tmp, the home and /dev/shm
	Disk      int64         // bytes that the work tree and the writable mounts take up, what was there included
	Files     int           // how many files they may hold, and the temporary directories too
	Output    int           // bytes of output that the result keeps, half from its beginning and half from its end
	Printed   int64         // bytes of output after which the command is ended
}

// DefaultLimits are generous to a build and small to an attacker.
func DefaultLimits() Limits {
	return Limits{
		Time: 5 * time.Minute, CPU: 10 * time.Minute, Memory: 4 << 30, Processes: 1024, OpenFiles: 4096,
		FileSize: 2 << 30, Temp: 1 << 30, Disk: 10 << 30, Files: 1_000_000, Output: 64 << 10, Printed: 64 << 20,
	}
}

// withDefaults fills l's zero fields in from d.
func (l Limits) withDefaults(d Limits) Limits {
	return Limits{
		Time: cmp.Or(l.Time, d.Time), CPU: cmp.Or(l.CPU, d.CPU), Memory: cmp.Or(l.Memory, d.Memory),
		Processes: cmp.Or(l.Processes, d.Processes), OpenFiles: cmp.Or(l.OpenFiles, d.OpenFiles),
		FileSize: cmp.Or(l.FileSize, d.FileSize), Temp: cmp.Or(l.Temp, d.Temp), Disk: cmp.Or(l.Disk, d.Disk),
		Files: cmp.Or(l.Files, d.Files), Output: cmp.Or(l.Output, d.Output), Printed: cmp.Or(l.Printed, d.Printed),
	}
}

// EndReason says what ended a command that did not end by itself.
type EndReason string

// What can end a command.
const (
	ByTime   EndReason = "time"
	ByMemory EndReason = "memory"
	ByDisk   EndReason = "disk"
	ByOutput EndReason = "output"
	ByCancel EndReason = "cancelled"
)

// ErrDiscarded says that what a command left in the folders that it could write could not be brought into a state in
// which anybody may meet it. These folders are empty now, and are others than they were.
var ErrDiscarded = errors.New("what the command left could not be looked through, so it was discarded as a whole")

// Result is the outcome of a command.
type Result struct {
	ExitCode int       // -1 when Ended is set; 128 + n is usually signal n
	Ended    EndReason // empty: the command ended by itself
	Why      string    // why it was ended, for people; empty when it ended by itself
	Output   []byte    // beginning and end of both streams; a line in between says how much is missing
	Printed  int64     // bytes it printed in all
	Refused  []string  // hosts that it was refused, each with why; 20 at most
	Duration time.Duration
}

// OK reports whether the command ended by itself with status 0.
func (r Result) OK() bool { return r.Ended == "" && r.ExitCode == 0 }

// String says how the command ended, such as "exit status 1 after 2.3s".
func (r Result) String() string {
	return r.ending(" after " + r.Duration.Round(100*time.Millisecond).String())
}

// Ending is String without how long it took, so that the same outcome reads the same.
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

// writable are the folders of this host's disk that the command may write.
func (c Command) writable() []string {
	trees := []string{c.Dir}
	for _, m := range c.Mounts {
		if m.Writable && !slices.Contains(trees, m.From) {
			trees = append(trees, m.From)
		}
	}
	return trees
}

// check refuses a command that makes no sense.
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
	return checkServers(c.Servers)
}
