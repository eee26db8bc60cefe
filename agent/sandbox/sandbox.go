package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Kind is how commands are contained on this host.
type Kind string

// The kinds of sandbox.
const (
	KindFull   Kind = "bubblewrap"
	KindNoProc Kind = "bubblewrap-no-proc" // without /proc, which some containers don't let one mount
	KindNone   Kind = "none"
)

// Options say what to make a sandbox of. The zero value looks for it on this host.
type Options struct {
	Bwrap  string       // path of bubblewrap; "": looked up in PATH
	Kind   Kind         // try only this kind; "": Full, then NoProc
	Limits Limits       // for commands that don't set their own; zero fields: [DefaultLimits]
	Env    []string     // of this process, to find toolchains with; nil: os.Environ
	Self   []string     // command that runs this program as [Forward]; nil: no allow-list of hosts, and no Landlock
	Stdlib string       // folder for compiled standard libraries, see [Sandbox.Stdlib]; "": none are kept
	Logger *slog.Logger // nil: nothing is logged
	// Compiling is called before a standard library is compiled, which takes minutes; it may be nil.
	Compiling func()

	setpriv string // path of util-linux's setpriv, which root needs; looked up in PATH
	unshare string // likewise unshare
	prlimit string // likewise prlimit, which must lie in /usr or /bin
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Compiling == nil {
		o.Compiling = func() {}
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	look := func(path *string, name string) {
		if *path == "" {
			*path, _ = exec.LookPath(name) // absent: Probe says so
		}
	}
	look(&o.Bwrap, "bwrap")
	look(&o.setpriv, "setpriv")
	look(&o.unshare, "unshare")
	look(&o.prlimit, "prlimit")
	o.Limits = o.Limits.withDefaults(DefaultLimits())
	return o
}

// Capability is what this host can do, in words that a person can act on.
type Capability struct {
	Kind       Kind
	Version    string   // bubblewrap's
	Memory     string   // what bounds memory and processes: "cgroup" or "watch"
	Landlock   int      // version of the kernel's that holds commands too; 0: none does
	Reasons    []string // what is missing or weaker, and why; empty: nothing
	Fix        string   // what to do about it; empty: nothing
	Toolchains []string // names of the toolchains that commands can use

	cgroup     string
	toolchains []Toolchain
}

// OK reports whether commands can be run.
func (c Capability) OK() bool { return c.Kind == KindFull || c.Kind == KindNoProc }

// String is one line for logs and people.
func (c Capability) String() string {
	if !c.OK() {
		return "no sandbox: " + cmp.Or(strings.Join(c.Reasons, "; "), "not looked for")
	}
	s := fmt.Sprintf("%s %s, memory held by %s", c.Kind, c.Version, c.Memory)
	if c.Landlock > 0 {
		s += fmt.Sprintf(", files by Landlock %d too", c.Landlock)
	} else {
		s += ", files by no Landlock"
	}
	if len(c.Toolchains) > 0 {
		s += ", with " + strings.Join(c.Toolchains, ", ")
	}
	if len(c.Reasons) > 0 {
		s += " (" + strings.Join(c.Reasons, "; ") + ")"
	}
	return s
}

// Sandbox runs commands. It is safe for concurrent use.
type Sandbox struct {
	options    Options
	capability Capability
	shell      []string      // shell that runs Command.Shell
	root       bool          // this process is root, so commands run as another user
	stdlib     chan struct{} // has the turn of compiling a standard library
}

// New returns the sandbox that Probe found. It refuses when there is none.
func New(o Options, c Capability) (*Sandbox, error) {
	if !c.OK() {
		return nil, fmt.Errorf("make sandbox: %s", cmp.Or(strings.Join(c.Reasons, "; "), "this host was not probed"))
	}
	o = o.withDefaults()
	if o.Bwrap == "" {
		return nil, errors.New("make sandbox: bubblewrap is not installed")
	}
	s := &Sandbox{options: o, capability: c, root: os.Geteuid() == 0, stdlib: make(chan struct{}, 1)}
	s.shell = []string{"/bin/sh", "-c"}
	if _, err := os.Stat("/bin/bash"); err == nil {
		s.shell = []string{"/bin/bash", "-c"}
	}
	return s, nil
}

// Capability is what Probe found.
func (s *Sandbox) Capability() Capability {
	c := s.capability
	c.Reasons, c.Toolchains = slices.Clone(c.Reasons), slices.Clone(c.Toolchains)
	return c
}

// Has reports whether commands find a program.
func (s *Sandbox) Has(program string) bool { return findExecutable(s.Path(), program) != "" }

// CanFetch reports whether commands can be given hosts to fetch from.
func (s *Sandbox) CanFetch() bool { return len(s.options.Self) > 0 }
