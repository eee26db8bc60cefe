package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
)

// Server is a program that runs alongside a command, such as a database: on the sandbox's loopback, as the command's
// user, subject to the command's limits, and ended with it. It requires [Options].Self.
type Server struct {
	Name  string `json:"name"`  // name for users; resolves to the loopback if it is a valid host name
	Ports []int  `json:"ports"` // loopback ports without a [PortProblem], unique among the command's servers
	// Script is for /bin/sh. It starts the server and exits with 0 when that accepts connections at Socket. Its
	// environment is Env, PATH, HOME, LANG and TMPDIR.
	Script string   `json:"script"`
	Env    []string `json:"env"`    // NAME=value
	Socket string   `json:"socket"` // path inside the sandbox, of at most 107 bytes (unix(7))
	Log    string   `json:"log"`    // file inside the sandbox; its end is shown if the server does not start
	// Within limits the time until the server accepts connections; 0: two minutes.
	Within time.Duration `json:"within"`
}

// MinPort is the lowest port that a command's user may listen on.
const MinPort = 1024

// Limits of servers.
const (
	maxServerConns = 512
	serverTimeout  = 2 * time.Minute // from its start until it accepts connections
	serverLog      = 2 << 10         // bytes of its log shown if it did not start
)

// PortProblem returns why a server can't use a port of the sandbox's loopback, as the end of a sentence; empty: it can.
func PortProblem(port int) string {
	switch address := "127.0.0.1:" + strconv.Itoa(port); {
	case port < MinPort:
		return fmt.Sprintf(": the sandbox gives none below %d", MinPort)
	case port > 65535:
		return ": it is none"
	case address == proxyAddress || address == serviceAddress:
		return ": the sandbox has it itself"
	}
	return ""
}

// hostName matches names that are valid in /etc/hosts.
var hostName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)

// serverHosts returns the lines of /etc/hosts for the servers' names.
func serverHosts(servers []Server) string {
	var b strings.Builder
	for _, s := range servers {
		if hostName.MatchString(s.Name) {
			fmt.Fprintf(&b, "127.0.0.1 %s\n", s.Name)
		}
	}
	return b.String()
}

// starter starts programs as children of one thread, so that they inherit its restrictions.
type starter chan func()

// newStarter creates a starter with a thread that is restricted as by restrict.
func newStarter(writable []string) (starter, error) {
	s, failed := make(starter), make(chan error)
	go func() {
		failed <- restrict(writable)
		for start := range s { // none after an error
			start()
		}
	}()
	return s, <-failed
}

func (s starter) start(cmd *exec.Cmd) error {
	done := make(chan error)
	s <- func() { done <- cmd.Start() }
	return <-done
}

// runningServer is a server inside the sandbox, started on demand.
type runningServer struct {
	Server
	start func() error // called once; the error is why it accepts no connections
}

// listenFor listens on the ports of servers, and starts each at its first connection, or all of them now. If a server
// does not start, that is reported in the command's output, and its connections are closed.
func (p forwardPlan) listenFor(by starter) error {
	var wait sync.WaitGroup
	for _, s := range p.Servers {
		r := &runningServer{Server: s, start: sync.OnceValue(func() error {
			err := s.startBy(by)
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s did not start in the sandbox: %v\n", s.Name, err)
			}
			return err
		})}
		for _, port := range s.Ports {
			l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				return err
			}
			go serveConns(l, maxServerConns, r.serve)
			// localhost may resolve to this first; without IPv6 no client uses it.
			if l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp6", fmt.Sprintf("[::1]:%d", port)); err == nil {
				go serveConns(l, maxServerConns, r.serve)
			}
		}
		if p.First {
			wait.Go(func() { _ = r.start() })
		}
	}
	wait.Wait()
	return nil
}

// serve forwards a connection to the server, which is started by the first one.
func (r *runningServer) serve(conn net.Conn) {
	if r.start() != nil {
		conn.Close()
		return
	}
	forwardConn(conn, r.Socket)
}

// startBy runs the script and waits until the server accepts connections.
func (s Server) startBy(by starter) error {
	within := cmp.Or(s.Within, serverTimeout)
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", s.Script)
	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR"} {
		cmd.Env = append(cmd.Env, name+"="+os.Getenv(name))
	}
	cmd.Env = append(cmd.Env, s.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := by.start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("it was not ready within %s", within)
	}
	if err == nil {
		if err = awaitSocket(ctx, s.Socket); err == nil {
			return nil
		}
		_ = cmd.Cancel()
	}
	return fmt.Errorf("%w%s", err, s.logTail())
}

// awaitSocket waits until a socket accepts connections.
func awaitSocket(ctx context.Context, socket string) error {
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("it took no connection: %w", err)
		}
	}
}

// logTail returns the end of a server's log, as the end of an error.
func (s Server) logTail() string {
	f, err := os.Open(s.Log)
	if err != nil {
		return ""
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return ""
	} else if _, err := f.Seek(max(0, st.Size()-serverLog), io.SeekStart); err != nil {
		return ""
	}
	tail, err := io.ReadAll(io.LimitReader(f, serverLog))
	if err != nil {
		return ""
	}
	return ": " + strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(tail), "")))
}
