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

// Kind is the kind of isolation on this host.
type Kind string

// The kinds of sandbox.
const (
	KindFull   Kind = "bubblewrap"
	KindNoProc Kind = "bubblewrap-no-proc" // without /proc, which can't be mounted in some containers
	KindNone   Kind = "none"
)

// Options configure a sandbox. The zero value uses the programs of this host.
type Options struct {
	Bwrap  string       // path of bubblewrap; "": looked up in PATH
	Kind   Kind         // the only kind to try; "": Full, then NoProc
	Limits Limits       // default limits of commands; zero fields: [DefaultLimits]
	Env    []string     // environment of this process, for finding toolchains; nil: os.Environ
	Self   []string     // command that runs this program as [Forward]; nil: no allowed hosts, and no Landlock
	Stdlib string       // folder for compiled standard libraries, see [Sandbox.Stdlib]; "": not kept
	Logger *slog.Logger // nil: no logging
	// Compiling is called before a standard library is compiled, which takes minutes; it may be nil.
	Compiling func()

	setpriv string // path of util-linux's setpriv, required by root; looked up in PATH
	unshare string // path of util-linux's unshare, as above
	prlimit string // path of util-linux's prlimit, as above; must be in /usr or /bin
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
			*path, _ = exec.LookPath(name) // Probe reports absent ones
		}
	}
	look(&o.Bwrap, "bwrap")
	look(&o.setpriv, "setpriv")
	look(&o.unshare, "unshare")
	look(&o.prlimit, "prlimit")
	o.Limits = o.Limits.withDefaults(DefaultLimits())
	return o
}

// Capability describes the sandbox on this host.
type Capability struct {
	Kind       Kind
	Version    string   // version of bubblewrap
	Memory     string   // what limits memory and processes: "cgroup" or "watch"
	Landlock   int      // version of Landlock in use; 0: none
	Reasons    []string // missing or weaker features, with the reason; empty: none
	Fix        string   // how to fix them; empty: nothing to fix
	Toolchains []string // names of the toolchains available to commands

	cgroup     string
	toolchains []Toolchain
}

// OK reports whether commands can be run.
func (c Capability) OK() bool { return c.Kind == KindFull || c.Kind == KindNoProc }

// String returns a one-line description.
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
	shell      []string      // shell for Command.Shell
	root       bool          // this process is root, so commands run as another user
	stdlib     chan struct{} // semaphore for compiling a standard library
}

// New returns the sandbox that Probe found. It fails if there is none.
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

// Capability returns the result of Probe.
func (s *Sandbox) Capability() Capability {
	c := s.capability
	c.Reasons, c.Toolchains = slices.Clone(c.Reasons), slices.Clone(c.Toolchains)
	return c
}

// Has reports whether a program is available to commands.
func (s *Sandbox) Has(program string) bool { return findExecutable(s.Path(), program) != "" }

// CanFetch reports whether commands can have allowed hosts.
func (s *Sandbox) CanFetch() bool { return len(s.options.Self) > 0 }
