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

// Timeouts for starting and ending a command.
const (
	startTimeout = 20 * time.Second
	endTimeout   = 10 * time.Second
)

// commandNiceness is the niceness of commands, so that SIA itself has priority.
const commandNiceness = 10

// Run runs one command and returns when all of its processes have ended. Commands that share a work tree must run one
// after the other.
//
// When ctx ends, the command is ended, and the result has the reason. An error means that the command was not run, or
// that it could not be watched and was ended; with [ErrDiscarded], its writable folders were emptied.
func (s *Sandbox) Run(ctx context.Context, c Command) (res Result, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("run in sandbox: %w", err)
		}
	}()
	if err := c.check(); err != nil {
		return Result{}, err
	}
	setCloseOnExec()
	l := c.Limits.withDefaults(s.options.Limits)
	r := &runningCommand{sandbox: s, limits: l, out: newOutput(l.Output, l.Printed, c.Output),
		verdicts: make(chan endVerdict, 8)}
	defer r.close()
	if len(c.Hosts) > 0 || c.Service != nil {
		w, err := s.openEgress(ctx, c, r.requestEnd)
		if err != nil {
			return Result{}, err
		}
		defer func() {
			w.close()
			if w.proxy != nil {
				res.Refused = w.proxy.refused
			}
		}()
		c = w.mountEgress(c)
	}
	if s.capability.Landlock > 0 || len(c.Hosts) > 0 || c.Service != nil || len(c.Servers) > 0 {
		if c, err = s.wrapForward(c); err != nil {
			return Result{}, err
		}
	}
	if s.root {
		if err := chownWritable(ctx, c); err != nil && ctx.Err() == nil {
			return Result{}, err
		}
	}
	if ctx.Err() != nil {
		return cancelledResult(ctx), nil
	}
	p, err := s.plan(c, l)
	if err != nil {
		return Result{}, err
	}
	// The parent-death signal is sent when the parent *thread* exits, so the thread is locked.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r.started = time.Now()
	if err := r.start(ctx, c, p); err != nil {
		r.kill()
		r.finish()
		if ctx.Err() != nil {
			return cancelledResult(ctx), nil
		}
		return Result{}, fmt.Errorf("%w%s", err, r.bwrapMessage())
	}
	return r.wait(ctx, c)
}

// endVerdict is the reason to end a command. The zero endVerdict means none.
type endVerdict struct {
	by  EndReason
	why string
}

// runningCommand is a running command.
type runningCommand struct {
	sandbox  *Sandbox
	limits   Limits
	out      *boundedOutput
	started  time.Time
	verdicts chan endVerdict

	cmd    *exec.Cmd
	pid    int      // of the first process inside, in this host's namespace; ending it ends all
	handle *os.File // pidfd of pid
	group  *controlGroup
	status *json.Decoder

	copied chan struct{} // closed at the end of the output
	waited chan error
	open   []io.Closer
}

func (r *runningCommand) close() {
	for _, c := range r.open {
		c.Close()
	}
}

// start starts bubblewrap, sets the sandbox's limits while that waits, and lets it continue.
func (r *runningCommand) start(ctx context.Context, c Command, p *bwrapPlan) error {
	argv := c.Argv
	if c.Shell != "" {
		argv = append(append([]string(nil), r.sandbox.shell...), c.Shell)
	}
	line := append(append(firstGate(), p.outer...), r.sandbox.options.Bwrap, "--args", strconv.Itoa(fdArgs), "--")
	line = append(line, lastGate()...)
	if r.sandbox.root {
		line = append(line, prlimitLine(r.sandbox.options.prlimit, r.limits)...)
	}
	line = append(line, argv...)
	r.cmd = exec.Command(line[0], line[1:]...) //nolint:noctx // ended through its first process, see kill
	r.cmd.Env, r.cmd.Dir = []string{}, "/"     // readable inside as /proc/1/environ
	r.cmd.Stdin = c.Stdin
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	r.cmd.WaitDelay = endTimeout
	r.copied, r.waited = make(chan struct{}), make(chan error, 1)
	close(r.copied) // until copying starts

	var pipes [5]pipe
	for i := range pipes {
		a, b, err := os.Pipe()
		if err != nil {
			return fmt.Errorf("make a pipe: %w", err)
		}
		r.open = append(r.open, a, b)
		pipes[i] = pipe{a, b}
	}
	status, block, out, ready, gate := pipes[0], pipes[1], pipes[2], pipes[3], pipes[4]
	theirs := []*os.File{status.w, block.r, ready.w, gate.r}
	for i, text := range append([][]byte{[]byte(strings.Join(p.args, "\x00") + "\x00")}, p.files...) {
		f, err := anonymousFile(text)
		if err != nil {
			return fmt.Errorf("hand file %d to bubblewrap: %w", i, err)
		}
		r.open = append(r.open, f)
		theirs = append(theirs, f)
	}
	r.cmd.ExtraFiles, r.cmd.Stdout, r.cmd.Stderr = theirs, out.w, out.w
	if err := r.cmd.Start(); err != nil {
		return fmt.Errorf("start bubblewrap: %w", err)
	}
	for _, f := range append(theirs, out.w) {
		f.Close()
	}
	r.copied = make(chan struct{})
	go func() {
		defer close(r.copied)
		if _, err := io.Copy(r.out, out.r); errors.Is(err, errPrinted) {
			r.requestEnd(ByOutput, fmt.Sprintf("it printed more than %s", humanSize(r.limits.Printed)))
		} else if err != nil {
			r.requestEnd(ByOutput, err.Error())
		}
	}()
	go func() { r.waited <- r.cmd.Wait() }()

	life, err := newLifeline(r.cmd.Process.Pid)
	if err != nil {
		return err
	}
	defer life.Close()
	if err := openGate(gate.w); err != nil {
		return err
	}
	if err := r.awaitFirst(ctx, status.r); err != nil {
		return err
	}
	if err := r.applyLimits(); err != nil {
		return err
	}
	if _, err := block.w.Write([]byte{1}); err != nil {
		return fmt.Errorf("let the command begin: %w", err)
	}
	if err := awaitGate(ctx, ready.r); err != nil {
		return err
	}
	if err := life.release(); err != nil {
		return err
	}
	return openGate(gate.w)
}

// pipe has an end to read from and one to write to.
type pipe struct{ r, w *os.File }

// anonymousFile returns an anonymous file with the content text, at its start.
func anonymousFile(text []byte) (*os.File, error) {
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

// bwrapStatus is one status object from bubblewrap.
type bwrapStatus struct {
	PID  int    `json:"child-pid"`
	Net  uint64 `json:"net-namespace"`
	Mnt  uint64 `json:"mnt-namespace"`
	Proc uint64 `json:"pid-namespace"`
	IPC  uint64 `json:"ipc-namespace"`
	Exit *int   `json:"exit-code"`
}

// awaitFirst waits until the first process inside exists, and verifies that its namespaces are separate.
func (r *runningCommand) awaitFirst(ctx context.Context, from *os.File) error {
	if err := from.SetReadDeadline(time.Now().Add(startTimeout)); err != nil {
		return fmt.Errorf("wait for the sandbox: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = from.SetReadDeadline(time.Now()) })
	defer stop()
	r.status = json.NewDecoder(from)
	var st bwrapStatus
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

// applyLimits sets the limits of the waiting process.
func (r *runningCommand) applyLimits() error {
	if !r.sandbox.root {
		for _, limit := range limitsOf(r.limits) {
			if err := unix.Prlimit(r.pid, limit.resource, &limit.Rlimit, nil); err != nil {
				return fmt.Errorf("limit %s: %w", limit.name, err)
			}
		}
	}
	// These are not needed for protection, so errors are ignored.
	_ = unix.Setpriority(unix.PRIO_PROCESS, r.pid, commandNiceness)
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
	return g.addProcess(r.pid)
}

// requestEnd requests the end of the command. Only the first request has an effect.
func (r *runningCommand) requestEnd(by EndReason, why string) {
	select {
	case r.verdicts <- endVerdict{by, why}:
	default:
	}
}

// wait watches the command until it ends, and ends it if required.
func (r *runningCommand) wait(ctx context.Context, c Command) (Result, error) {
	stop, watched := make(chan struct{}), make(chan struct{})
	w := newWatch(r, c)
	go func() {
		defer close(watched)
		w.run(stop)
	}()
	clock := time.NewTimer(r.limits.Time)
	defer clock.Stop()
	var v endVerdict
	waited := false
	select {
	case <-r.waited:
		waited = true
	case v = <-r.verdicts:
	case <-clock.C:
		v = endVerdict{ByTime, fmt.Sprintf("it was not done within %s", r.limits.Time)}
	case <-ctx.Done():
		v = cancelVerdict(ctx)
	}
	r.kill()
	if !waited {
		<-r.waited
	}
	r.finish()
	close(stop)
	<-watched
	left, err := tidyUp(ctx, c)
	if err != nil {
		return Result{}, err
	}
	res := Result{ExitCode: -1, Duration: time.Since(r.started)}
	if v.by == "" {
		v = r.finalVerdict(w, left)
	}
	res.Output, res.Printed, res.Ended, res.Why = r.out.bytes(), r.out.total, v.by, v.why
	if v.by != "" {
		return res, nil
	}
	for {
		var st bwrapStatus
		if err := r.status.Decode(&st); err != nil && ctx.Err() != nil {
			return cancelledResult(ctx), nil
		} else if err != nil {
			return Result{}, fmt.Errorf("bubblewrap did not say how the command ended%s", r.bwrapMessage())
		}
		if st.Exit != nil {
			res.ExitCode = *st.Exit
			return res, nil
		}
	}
}

// cancelledResult returns the result of a command that was canceled before its start.
func cancelledResult(ctx context.Context) Result {
	v := cancelVerdict(ctx)
	return Result{ExitCode: -1, Ended: v.by, Why: v.why}
}

// cancelVerdict returns the verdict for a context that has ended.
func cancelVerdict(ctx context.Context) endVerdict {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return endVerdict{ByTime, "the time allowed is over"}
	}
	return endVerdict{ByCancel, "it was cancelled"}
}

// finalVerdict returns a verdict that was reached while the command was exiting; left is the size of its trees.
func (r *runningCommand) finalVerdict(w *limitWatch, left treeSize) endVerdict {
	select {
	case v := <-r.verdicts:
		return v
	default:
	}
	if r.group != nil && r.group.ranOutOfMemory() {
		return w.memoryVerdict()
	}
	if why := w.checkAtEnd(left); why != "" {
		return endVerdict{ByDisk, why}
	}
	return endVerdict{}
}

// kill kills all processes of the sandbox: when the first of a process namespace dies, the kernel kills the others. It
// is safe to call after they have ended.
func (r *runningCommand) kill() {
	if r.handle != nil {
		_ = unix.PidfdSendSignal(int(r.handle.Fd()), unix.SIGKILL, nil, 0)
	}
	if r.cmd.Process != nil {
		_ = r.cmd.Process.Kill()
	}
}

// finish waits until the first process, and with it all others, has been reaped, and the output was read. They are dead
// by now, but the kernel may need a moment.
func (r *runningCommand) finish() {
	if r.handle != nil {
		deadline := time.Now().Add(endTimeout)
		for left := endTimeout; left > 0; left = time.Until(deadline) {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(r.handle.Fd()), Events: unix.POLLIN}}, int(left/time.Millisecond)+1)
			if n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
				break
			}
		}
	}
	select {
	case <-r.copied:
	case <-time.After(endTimeout):
	}
}

// bwrapMessage returns bubblewrap's own error message, as the end of an error.
func (r *runningCommand) bwrapMessage() string {
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

// setCloseOnExec sets close-on-exec on all descriptors of this process, so that commands don't inherit them. Go does
// that for those that it opens, but not for those that SIA was started with.
func setCloseOnExec() {
	_ = unix.CloseRange(3, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC) // since Linux 5.11
}

// signalName returns the name of a signal.
func signalName(n int) string {
	if name := unix.SignalName(syscall.Signal(n)); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", n)
}
