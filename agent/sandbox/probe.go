package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// probeTimeout limits the duration of Probe.
const probeTimeout = 30 * time.Second

// cgroupRoot is the mount point of control groups if only version 2 is used.
const cgroupRoot = "/sys/fs/cgroup"

// Instructions for users.
const (
	fixInstall = "install bubblewrap 0.8 or newer (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install " +
		"bubblewrap; Alpine: apk add bubblewrap), then start SIA again"
	fixSetpriv = "install util-linux, which has setpriv, unshare and prlimit, or run SIA as an ordinary user"
	fixBusy    = "the trial did not end in time, so nothing is known: try again when the machine is less busy"
	fixUserns  = "let programs make user namespaces: on a host with AppArmor (Ubuntu 23.10 and newer) give bwrap a " +
		"profile or set sysctl kernel.apparmor_restrict_unprivileged_userns=0; " +
		"elsewhere set sysctl kernel.unprivileged_userns_clone=1 and user.max_user_namespaces above 0; in Docker run " +
		"with --security-opt seccomp=unconfined --security-opt apparmor=unconfined; see docs/sandbox.md"
	fixProc = "for /proc in the sandbox, run the container with --security-opt systempaths=unconfined; see " +
		"docs/sandbox.md"
	fixTemp = "give programs a folder for temporary files, with room: TMPDIR names it, else it is /tmp"
	fixRoot = "run SIA as an ordinary user: root can't give files to another user here, as in a container without " +
		"CAP_CHOWN or without that user"
	fixHostProc = "mount /proc where SIA runs, which bubblewrap reads"
	fixLinux    = "run SIA on Linux to let it build and test before it pushes"
	fixBroken   = "don't run SIA with a sandbox here; tell us what this system is"
)

// Probe determines the capabilities of this host, by running a command that tries to break out. It takes some tens of
// milliseconds.
func Probe(ctx context.Context, o Options) Capability {
	o = o.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	none := func(why, fix string) Capability {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			fix = fixBusy
		}
		return Capability{Kind: KindNone, Reasons: []string{why}, Fix: fix}
	}
	if runtime.GOOS != "linux" {
		return none("commands can be contained on Linux only", fixLinux)
	}
	if o.Bwrap == "" {
		return none("bubblewrap (bwrap) is not installed", fixInstall)
	}
	version, err := bwrapVersion(ctx, o.Bwrap)
	if err != nil {
		return none(err.Error(), fixInstall)
	}
	if os.Geteuid() == 0 && (o.setpriv == "" || o.unshare == "" || !inSystem(o.prlimit)) {
		return none("setpriv, unshare and prlimit are not all installed, with which root steps down", fixSetpriv)
	}
	c := Capability{Version: version, Memory: "watch", toolchains: findToolchains(o.Env)}
	for _, t := range c.toolchains {
		c.Toolchains = append(c.Toolchains, t.Name)
	}
	if c.cgroup = findCgroup(cgroupRoot); c.cgroup != "" {
		c.Memory = "cgroup"
	}
	if v := landlockVersion(); v >= minLandlock && len(o.Self) > 0 {
		c.Landlock = v
	}
	kinds := []Kind{KindFull, KindNoProc}
	if o.Kind != "" {
		kinds = []Kind{o.Kind}
	}
	var failed error
	for _, k := range kinds {
		c.Kind = k
		err := selfTest(ctx, o, c)
		if err != nil && c.cgroup != "" { // the delegated group may not be usable
			c.cgroup, c.Memory = "", "watch"
			err = selfTest(ctx, o, c)
		}
		if err != nil && c.Landlock > 0 { // the sandbox is safe without the second layer
			with := err
			c.Landlock = 0
			if err = selfTest(ctx, o, c); err == nil {
				c.Reasons = append(c.Reasons, "Landlock could not be set up: "+with.Error())
			}
		}
		if err == nil {
			if failed != nil {
				c.Reasons, c.Fix = append(c.Reasons, "there is no /proc in the sandbox: "+failed.Error()), fixProc
			}
			return c
		}
		if errors.Is(err, errBroken) {
			return none(err.Error(), fixBroken)
		}
		if failed == nil {
			failed = err
		}
	}
	return none(failed.Error(), fixFor(failed))
}

// fixFor returns the instruction for a self-test that failed.
func fixFor(failed error) string {
	file := (*fs.PathError)(nil)
	switch isFile := errors.As(failed, &file); {
	case isFile && file.Op == "lchown":
		return fixRoot
	case isFile && file.Op != "fork/exec":
		return fixTemp
	}
	if _, err := os.Stat("/proc/self"); err != nil {
		return fixHostProc
	}
	return fixUserns
}

// bwrapVersion returns the version of bubblewrap if it supports all options that are used. --size needs 0.7 and
// --disable-userns 0.8: https://github.com/containers/bubblewrap/releases
func bwrapVersion(ctx context.Context, bwrap string) (string, error) {
	out, err := exec.CommandContext(ctx, bwrap, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("bubblewrap does not tell its version: %w", err)
	}
	var major, minor int
	version := strings.TrimPrefix(strings.TrimSpace(string(out)), "bubblewrap ")
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return "", fmt.Errorf("bubblewrap tells an unknown version, %.40q", version)
	}
	if major == 0 && minor < 8 {
		return "", fmt.Errorf("bubblewrap %s is too old", version)
	}
	return version, nil
}

// errBroken means that the sandbox started but a command could break out of it.
var errBroken = errors.New("the sandbox does not hold")

// attackScript tries what a sandbox must prevent. Each line of its output is something that it could do.
const attackScript = `
cat "$1" 2>/dev/null
(exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null && echo "reached the network of this host"
touch /usr/.sia-probe 2>/dev/null && { rm -f /usr/.sia-probe; echo "wrote to /usr"; }
touch /.sia-probe 2>/dev/null && echo "wrote to the root folder"
kill -0 "$3" 2>/dev/null && echo "can signal processes of this host"
[ "$(id -u)" = 1000 ] || echo "runs as user $(id -u)"
[ -r /proc/self/status ] && grep -E '^Cap(Eff|Prm|Inh|Amb):' /proc/self/status | grep -vE '0000000000000000$'
[ -r /proc/self/status ] && grep -E '^(NoNewPrivs:.0|Seccomp:.[01])' /proc/self/status
[ "$4" = 0 ] || { (echo probe > /proc/self/comm) 2>/dev/null && echo "wrote to /proc"; }
env | grep -a SIA_PROBE
touch written && echo done
`

// selfTest runs the attack.
func selfTest(ctx context.Context, o Options, c Capability) (err error) {
	s, err := New(o, c)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "sia-probe-*")
	if err != nil {
		return fmt.Errorf("try the sandbox: %w", err)
	}
	defer os.RemoveAll(dir)
	tree, secret := filepath.Join(dir, "tree"), filepath.Join(dir, "secret")
	if err := errors.Join(os.Mkdir(tree, 0o700),
		os.WriteFile(secret, []byte("read a file outside of the work tree\n"), 0o644), os.Chmod(dir, 0o755)); err != nil {
		return fmt.Errorf("try the sandbox: %w", err)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("try the sandbox: %w", err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	argv := append(append([]string(nil), s.shell...), attackScript, "probe", secret, port, fmt.Sprint(os.Getpid()),
		fmt.Sprint(c.Landlock))
	r, err := s.Run(ctx, Command{Dir: tree, Argv: argv, Limits: Limits{Time: 10 * time.Second}})
	if err != nil {
		return err
	}
	var did []string
	done := false
	lines := bufio.NewScanner(bytes.NewReader(r.Output))
	for lines.Scan() {
		if lines.Text() == "done" {
			done = true
		} else {
			did = append(did, lines.Text())
		}
	}
	if len(did) > 0 {
		return fmt.Errorf("%w: a command %s", errBroken, strings.Join(did, "; "))
	}
	if _, err := os.Lstat(filepath.Join(tree, "written")); !done || err != nil {
		return fmt.Errorf("a command in the sandbox did not do its work: %s", r)
	}
	return nil
}
