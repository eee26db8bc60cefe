package scale

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// startWithin is the time limit until a process of sia logs that it is ready.
const startWithin = 2 * time.Minute

// tailLines is the number of kept last lines of a process's log.
const tailLines = 40

// process is a process of sia, or the pooler, that can be killed and started again. If it
// ends by itself it is started again, as by a service manager.
type process struct {
	name    string
	program string
	env     []string
	args    []string
	ready   string          // text of the log line that reports readiness
	as      func(*exec.Cmd) // nil, or sets another user

	turn   sync.Mutex // held to start and to kill; it guards the fields below
	cmd    *exec.Cmd  // nil: killed
	ended  chan struct{}
	memory int64    // maximum of all its runs, in bytes
	ends   []string // the last line of each run that ended by itself

	mu   sync.Mutex
	last []string
}

// start starts it and waits until it is ready.
func (p *process) start(ctx context.Context) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	return p.launch(ctx)
}

func (p *process) launch(ctx context.Context) error {
	p.cmd = exec.Command(p.program, p.args...) //nolint:noctx // kill ends it, perhaps before ctx ends
	p.cmd.Env = p.environ()
	if p.as != nil {
		p.as(p.cmd)
	}
	out, err := p.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	ready := make(chan struct{})
	p.ended = make(chan struct{})
	go p.read(out, ready, p.ended)
	go p.watch(ctx, p.cmd, p.ended)
	timer := time.NewTimer(startWithin)
	defer timer.Stop()
	select {
	case <-ready:
		return nil
	case <-p.ended:
		return fmt.Errorf("%s ended before it was ready:\n%s", p.name, p.tail())
	case <-timer.C:
		return fmt.Errorf("%s was not ready after %s:\n%s", p.name, startWithin, p.tail())
	case <-ctx.Done():
		return ctx.Err()
	}
}

// watch starts the process again when it ends by itself.
func (p *process) watch(ctx context.Context, life *exec.Cmd, ended chan struct{}) {
	<-ended
	if wait(ctx, time.Second) != nil {
		return
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	if p.cmd != life {
		return
	}
	_ = life.Wait() // its log has the reason
	said := strings.TrimSpace(p.tail())
	p.ends = append(p.ends, p.name+": "+said[strings.LastIndexByte(said, '\n')+1:])
	_ = p.launch(ctx) // if it fails, the process ends and is started again
}

// run runs another command with the process's configuration, and returns its output.
func (p *process) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, p.program, args...)
	cmd.Env = p.environ()
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("sia %s: %w\n%s", strings.Join(args, " "), err, said.String())
	}
	return string(out), nil
}

func (p *process) environ() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}, p.env...)
}

// read keeps the end of the log, and detects when the process is ready.
func (p *process) read(out io.Reader, ready, ended chan struct{}) {
	defer close(ended)
	tellReady := sync.OnceFunc(func() { close(ready) })
	for in := bufio.NewReader(out); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return // it has ended
		}
		p.mu.Lock()
		if p.last = append(p.last, line); len(p.last) > tailLines {
			p.last = p.last[1:]
		}
		p.mu.Unlock()
		if strings.Contains(line, p.ready) {
			tellReady()
		}
	}
}

func (p *process) tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.last, "")
}

// kill ends it by SIGKILL.
func (p *process) kill() {
	p.turn.Lock()
	defer p.turn.Unlock()
	if p.cmd == nil || p.cmd.Process == nil {
		return
	}
	p.recordMemory()
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
	_ = p.cmd.Wait()
	p.cmd = nil
}

// most returns the maximum memory of the process in all its runs, in bytes.
func (p *process) most() int64 {
	p.turn.Lock()
	defer p.turn.Unlock()
	p.recordMemory()
	return p.memory
}

// ownEnds returns the last log lines of the runs that ended by themselves.
func (p *process) ownEnds() []string {
	p.turn.Lock()
	defer p.turn.Unlock()
	return p.ends
}

// recordMemory records the process's maximum memory, if the system reports it.
func (p *process) recordMemory() {
	if p.cmd == nil {
		return
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(b)) {
		var kB int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kB); n == 1 {
			p.memory = max(p.memory, kB<<10)
		}
	}
}
