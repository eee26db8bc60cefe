package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// Nothing of a sandbox outlives this process, however it ends and at whatever moment:
//
//   - Each process of it asks the kernel to be killed with the one that started it. Between its start and that request
//     nothing holds it.
//   - So until all have asked, they are one process group, and a lifeline kills that.
//   - A gate stands before the first of them until there is the lifeline, and another before the command until all have
//     asked. A gate does not open when its other end is gone.

// firstGate is what the command line of the first process begins with.
func firstGate() []string {
	return []string{"/bin/sh", "-c", fmt.Sprintf(`read -r go <&%d && exec "$@"`, fdGo), "gate"}
}

// lastGate is what the command's begins with. The command gets nothing that is the gate's.
func lastGate() []string {
	return []string{"/bin/sh", "-c", fmt.Sprintf(`echo >&%[1]d && read -r go <&%[2]d && exec "$@" %[1]d>&- %[2]d<&-`,
		fdReady, fdGo), "gate"}
}

// awaitGate waits until the last gate is reached.
func awaitGate(ctx context.Context, ready *os.File) error {
	if err := ready.SetReadDeadline(time.Now().Add(startWithin)); err != nil {
		return fmt.Errorf("wait for the sandbox: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = ready.SetReadDeadline(time.Now()) })
	defer stop()
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		return errors.New("bubblewrap could not make the sandbox")
	}
	return nil
}

// openGate lets what waits at the next gate begin.
func openGate(by io.Writer) error {
	if _, err := io.WriteString(by, "\n"); err != nil {
		return fmt.Errorf("let the command begin: %w", err)
	}
	return nil
}

// lifeline is a process that kills a process group when this process dies.
type lifeline struct {
	cmd *exec.Cmd
	end io.WriteCloser
}

func newLifeline(group int) (*lifeline, error) {
	cmd := exec.Command("/bin/sh", "-c", //nolint:noctx // it ends with its input
		`read -r stands || kill -s KILL -- "-$1"`, "lifeline", strconv.Itoa(group))
	cmd.Env, cmd.Dir, cmd.SysProcAttr = []string{}, "/", &syscall.SysProcAttr{Setpgid: true}
	end, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make a lifeline: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("make a lifeline: %w", err)
	}
	return &lifeline{cmd, end}, nil
}

// release leaves the group alive.
func (l *lifeline) release() error {
	if _, err := io.WriteString(l.end, "\n"); err != nil {
		return fmt.Errorf("release the lifeline: %w", err)
	}
	return nil
}

// Close kills the group, unless it was released.
func (l *lifeline) Close() {
	l.end.Close()
	_ = l.cmd.Wait() // that nobody is left in the group is no fault
}
