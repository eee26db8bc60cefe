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

// No process of a sandbox outlives this process, however and whenever that ends:
//
//   - Each process of the sandbox asks the kernel for a signal when its parent dies. Between its start and that request
//     it is not covered.
//   - So until all have asked, they are one process group, and a lifeline process kills that.
//   - A gate blocks the first of them until the lifeline exists, and another blocks the command until all have asked. A
//     gate does not open if its other end is closed.

// firstGate returns the start of the first process's command line.
func firstGate() []string {
	return []string{"/bin/sh", "-c", fmt.Sprintf(`read -r go <&%d && exec "$@"`, fdGo), "gate"}
}

// lastGate returns the start of the command's command line. It closes the gate's descriptors for the command.
func lastGate() []string {
	return []string{"/bin/sh", "-c", fmt.Sprintf(`echo >&%[1]d && read -r go <&%[2]d && exec "$@" %[1]d>&- %[2]d<&-`,
		fdReady, fdGo), "gate"}
}

// awaitGate waits until the last gate is reached.
func awaitGate(ctx context.Context, ready *os.File) error {
	if err := ready.SetReadDeadline(time.Now().Add(startTimeout)); err != nil {
		return fmt.Errorf("wait for the sandbox: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = ready.SetReadDeadline(time.Now()) })
	defer stop()
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		return errors.New("bubblewrap could not make the sandbox")
	}
	return nil
}

// openGate opens the next gate.
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

// release ends the lifeline without killing the group.
func (l *lifeline) release() error {
	if _, err := io.WriteString(l.end, "\n"); err != nil {
		return fmt.Errorf("release the lifeline: %w", err)
	}
	return nil
}

// Close kills the group, unless it was released.
func (l *lifeline) Close() {
	l.end.Close()
	_ = l.cmd.Wait() // fails if the group is empty, which is fine
}
