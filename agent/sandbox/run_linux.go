package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// How long the parts of starting and ending a command may take.
const (
	startWithin = 20 * time.Second
	endWithin   = 10 * time.Second
)

// niceness of commands: SIA itself goes first.
const niceness = 10

// Run runs one command and returns when nothing of it is left. Commands that
// share a work tree must be run one after the other.
//
// When ctx ends, the command is ended too, and the result says so. An error means
// that the command was not run, or that it could not be watched and was ended.
func (s *Sandbox) Run(ctx context.Context, c Command) (_ Result, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("run in sandbox: %w", err)
		}
	}()
	if err := c.check(); err != nil {
		return Result{}, err
	}
	keepDescriptors()
	l := c.Limits.or(s.options.Limits)
	if len(c.Hosts) > 0 || c.Service != nil {
		w, err := s.openWay(ctx, c)
		if err != nil {
			return Result{}, err
		}
		defer w.close()
		c = w.through(c, s.shell, s.options.Self)
	}
	if s.root {
		if err := handOver(c); err != nil {
			return Result{}, err
		}
	}
	p, err := s.plan(c, l)
	if err != nil {
		return Result{}, err
	}
	// The kernel ends a child with the *thread* that started it, so this one must
	// live as long: a locked thread is nobody else's to end.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := &running{sandbox: s, limits: l, out: newOutput(l.Output, l.Printed, c.Output), began: time.Now(), ended: make(chan verdict, 8)}
	defer r.close()
	if err := r.start(c, p); err != nil {
		r.kill()
		r.finish()
		return Result{}, fmt.Errorf("%w%s", err, r.said())
	}
	return r.wait(ctx, c)
}

// verdict is why a command is to be ended.
type verdict struct {
	by  Ended
	why string
}

// running is a command under way.
type running struct {
	sandbox *Sandbox
	limits  Limits
	out     *output
	began   time.Time
	ended   chan verdict

	cmd    *exec.Cmd
	pid    int      // of the first process inside, as this host counts; ending it ends all
	handle *os.File // pidfd of pid
	group  *cgroup
	status *json.Decoder

	copied chan struct{} // closed when the output was read to its end
	waited chan error
	open   []io.Closer
}

func (r *running) close() {
	for _, c := range r.open {
		c.Close()
	}
}

// start starts bubblewrap, bounds what it has made while that is still waiting,
// and lets it go.
func (r *running) start(c Command, p *plan) error {
	argv := c.Argv
	if c.Shell != "" {
		argv = append(append([]string(nil), r.sandbox.shell...), c.Shell)
	}
	line := append(append([]string(nil), p.outer...), r.sandbox.options.Bwrap, "--args", strconv.Itoa(fdArgs), "--")
	if r.sandbox.root {
		line = append(line, prlimit(r.sandbox.options.Prlimit, r.limits)...)
	}
	line = append(line, argv...)
	r.cmd = exec.Command(line[0], line[1:]...) //nolint:noctx // ended through its first process, see kill
	r.cmd.Env, r.cmd.Dir = []string{}, "/"     // what is here could be read inside as /proc/1/environ
	r.cmd.Stdin = c.Stdin
	r.cmd.WaitDelay = endWithin
	r.copied, r.waited = make(chan struct{}), make(chan error, 1)
	close(r.copied) // until there is something to copy

	statusR, statusW, err := r.pipe()
	if err != nil {
		return err
	}
	blockR, blockW, err := r.pipe()
	if err != nil {
		return err
	}
	outR, outW, err := r.pipe()
	if err != nil {
		return err
	}
	theirs := []*os.File{statusW, blockR}
	for i, text := range append([][]byte{[]byte(strings.Join(p.args, "\x00") + "\x00")}, p.files...) {
		f, err := sheet(text)
		if err != nil {
			return fmt.Errorf("hand file %d to bubblewrap: %w", i, err)
		}
		r.open = append(r.open, f)
		theirs = append(theirs, f)
	}
	r.cmd.ExtraFiles, r.cmd.Stdout, r.cmd.Stderr = theirs, outW, outW
	if err := r.cmd.Start(); err != nil {
		return fmt.Errorf("start bubblewrap: %w", err)
	}
	for _, f := range append(theirs, outW) {
		f.Close()
	}
	r.copied = make(chan struct{})
	go func() {
		defer close(r.copied)
		if _, err := io.Copy(r.out, outR); errors.Is(err, errPrinted) {
			r.end(ByOutput, fmt.Sprintf("it printed more than %s", size(r.limits.Printed)))
		} else if err != nil {
			r.end(ByOutput, err.Error())
		}
	}()
	go func() { r.waited <- r.cmd.Wait() }()

	if err := r.meet(statusR); err != nil {
		return err
	}
	if err := r.bound(); err != nil {
		return err
	}
	if _, err := blockW.Write([]byte{1}); err != nil {
		return fmt.Errorf("let the command begin: %w", err)
	}
	return nil
}

func (r *running) pipe() (*os.File, *os.File, error) {
	a, b, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	r.open = append(r.open, a, b)
	return a, b, nil
}

// sheet is an anonymous file to be read from its beginning.
func sheet(text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("sandbox", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "memfd")
	if _, err = f.Write(text); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// status is one object of what bubblewrap tells.
type status struct {
	PID  int    `json:"child-pid"`
	Net  uint64 `json:"net-namespace"`
	Mnt  uint64 `json:"mnt-namespace"`
	Proc uint64 `json:"pid-namespace"`
	IPC  uint64 `json:"ipc-namespace"`
	Exit *int   `json:"exit-code"`
}

// meet waits until the first process inside exists, and makes sure that it is
// where it should be.
func (r *running) meet(from *os.File) error {
	if err := from.SetReadDeadline(time.Now().Add(startWithin)); err != nil {
		return fmt.Errorf("wait for the sandbox: %w", err)
	}
	r.status = json.NewDecoder(from)
	var st status
	if err := r.status.Decode(&st); err != nil || st.PID <= 0 {
		return errors.New("bubblewrap could not make the sandbox")
	}
	if err := from.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("wait for the sandbox: %w", err)
	}
	r.pid = st.PID
	fd, err := unix.PidfdOpen(st.PID, 0)
	if err != nil {
		return fmt.Errorf("hold on to the sandbox: %w", err)
	}
	r.handle = os.NewFile(uintptr(fd), "pidfd")
	r.open = append(r.open, r.handle)
	for name, inode := range map[string]uint64{"net": st.Net, "mnt": st.Mnt, "pid": st.Proc, "ipc": st.IPC} {
		own, err := os.Readlink("/proc/self/ns/" + name)
		if err != nil {
			return fmt.Errorf("compare namespaces: %w", err)
		}
		if inode == 0 || own == fmt.Sprintf("%s:[%d]", name, inode) {
			return fmt.Errorf("bubblewrap did not separate the %s namespace", name)
		}
	}
	return nil
}

// bound sets the limits of the waiting process, before it is let go.
func (r *running) bound() error {
	if !r.sandbox.root {
		for _, limit := range rlimits(r.limits) {
			if err := unix.Prlimit(r.pid, limit.resource, &limit.Rlimit, nil); err != nil {
				return fmt.Errorf("limit %s: %w", limit.name, err)
			}
		}
	}
	// Politeness, not protection: where they can't be had, the rest holds.
	_ = unix.Setpriority(unix.PRIO_PROCESS, r.pid, niceness)
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", r.pid), []byte("1000"), 0)
	dir := r.sandbox.capability.cgroup
	if dir == "" {
		return nil
	}
	g, err := newCgroup(dir, r.limits)
	if err != nil {
		return err
	}
	r.group = g
	r.open = append(r.open, g)
	return g.add(r.pid)
}

// end asks for the command to be ended; the first to ask is heard.
func (r *running) end(by Ended, why string) {
	select {
	case r.ended <- verdict{by, why}:
	default:
	}
}

// wait watches the command until it ends, and ends it when it has to.
func (r *running) wait(ctx context.Context, c Command) (Result, error) {
	stop, watched := make(chan struct{}), make(chan struct{})
	w := newWatch(r, c)
	go func() {
		defer close(watched)
		w.run(stop)
	}()
	clock := time.NewTimer(r.limits.Time)
	defer clock.Stop()
	var v verdict
	waited := false
	select {
	case <-r.waited:
		waited = true
	case v = <-r.ended:
	case <-clock.C:
		v = verdict{ByTime, fmt.Sprintf("it was not done within %s", r.limits.Time)}
	case <-ctx.Done():
		v = verdict{ByCancel, "it was cancelled"}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			v = verdict{ByTime, "the time allowed is over"}
		}
	}
	r.kill()
	if !waited {
		<-r.waited
	}
	r.finish()
	close(stop)
	<-watched
	if !r.sandbox.root {
		_ = openUp(c) // what stays closed counts as hidden
	}
	res := Result{ExitCode: -1, Duration: time.Since(r.began)}
	if v.by == "" {
		v = r.late(w)
	}
	res.Output, res.Printed, res.Ended, res.Why = r.out.bytes(), r.out.total, v.by, v.why
	if v.by != "" {
		return res, nil
	}
	for {
		var st status
		if err := r.status.Decode(&st); err != nil {
			return Result{}, fmt.Errorf("bubblewrap did not say how the command ended%s", r.said())
		}
		if st.Exit != nil {
			res.ExitCode = *st.Exit
			return res, nil
		}
	}
}

// late is a verdict that was reached while the command ended by itself.
func (r *running) late(w *watch) verdict {
	select {
	case v := <-r.ended:
		return v
	default:
	}
	if r.group != nil && r.group.ranOut() {
		return w.memory()
	}
	if why := w.disk(true); why != "" {
		return verdict{ByDisk, why}
	}
	return verdict{}
}

// kill ends every process of the sandbox: with the first of a process namespace
// all others die. It does no harm when they are gone.
func (r *running) kill() {
	if r.handle != nil {
		_ = unix.PidfdSendSignal(int(r.handle.Fd()), unix.SIGKILL, nil, 0)
	}
	if r.cmd.Process != nil {
		_ = r.cmd.Process.Kill()
	}
}

// finish waits until the first process is gone, and with it all others, and the
// output was read. They are dead by now; the wait is for the kernel to say so.
func (r *running) finish() {
	if r.handle != nil {
		deadline := time.Now().Add(endWithin)
		for left := endWithin; left > 0; left = time.Until(deadline) {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(r.handle.Fd()), Events: unix.POLLIN}}, int(left/time.Millisecond)+1)
			if n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
				break
			}
		}
	}
	select {
	case <-r.copied:
	case <-time.After(endWithin):
	}
}

// said is what bubblewrap had to say, as part of an error.
func (r *running) said() string {
	text := strings.TrimSpace(string(r.out.bytes()))
	if i := strings.LastIndex(text, "bwrap: "); i >= 0 {
		text = text[i+len("bwrap: "):]
	}
	line, _, _ := strings.Cut(text, "\n")
	if line == "" {
		return ""
	}
	return ": " + string(bytes.ToValidUTF8([]byte(line[:min(len(line), 300)]), nil))
}

// keepDescriptors marks every descriptor of this process, so that what it was
// started with does not reach commands either. Go marks its own.
func keepDescriptors() {
	_ = unix.CloseRange(3, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC) // since Linux 5.11
}

// signalName is what people call a signal.
func signalName(n int) string {
	if name := unix.SignalName(syscall.Signal(n)); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", n)
}
