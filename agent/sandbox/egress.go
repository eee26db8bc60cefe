package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/net/netutil"
	"golang.org/x/sync/errgroup"
)

// Addresses on the sandbox's loopback that lead out of it. Forward passes on connections to them to sockets.
const (
	proxyHost      = "127.0.0.1"
	proxyPort      = "3128"
	proxyAddress   = proxyHost + ":" + proxyPort
	serviceAddress = "127.0.0.1:3129"
	// ServiceURL is the URL of Command.Service inside the sandbox.
	ServiceURL = "http://" + serviceAddress

	egressFolder  = "/run/proxy"
	forwarderPath = egressFolder + "/forward"
	socketFolder  = egressFolder + "/out"
	proxySocket   = socketFolder + "/proxy"
	serviceSocket = socketFolder + "/service"
)

// Limits of the connections to a service.
const (
	maxServiceConns      = 64
	maxServiceHeader     = 64 << 10 // bytes of a request's header
	serviceHeaderTimeout = 10 * time.Second
)

// serveConns serves the connections of a listener, at most limit at a time, and returns when the listener is closed and
// all have ended. Further connections wait.
func serveConns(l net.Listener, limit int, serve func(net.Conn)) {
	var conns errgroup.Group
	conns.SetLimit(limit)
	for {
		conn, err := l.Accept()
		if err != nil {
			break
		}
		conns.Go(func() error {
			serve(conn)
			return nil
		})
	}
	_ = conns.Wait() // no error
}

// egress holds the ways out of one sandbox. It lives as long as the command.
type egress struct {
	dir     string // folder of the sockets
	proxy   *hostProxy
	service *http.Server
}

// openEgress opens the sockets for c. end ends it.
func (s *Sandbox) openEgress(ctx context.Context, c Command, end func(EndReason, string)) (_ *egress, err error) {
	if !s.CanFetch() {
		return nil, errors.New("open the way out of the sandbox: this program was not told how to run itself")
	}
	if err := AllowedHosts(c.Hosts).Check(); err != nil {
		return nil, err
	}
	w := &egress{}
	defer func() {
		if err != nil {
			w.close()
			err = fmt.Errorf("open the way out of the sandbox: %w", err)
		}
	}()
	if w.dir, err = os.MkdirTemp("", "sia-net-*"); err != nil {
		return nil, err
	}
	if len(c.Hosts) > 0 {
		l, err := w.listen(ctx, proxySocket)
		if err != nil {
			return nil, err
		}
		w.proxy = startProxy(ctx, l, c.Hosts, end, s.options)
	}
	if c.Service != nil {
		l, err := w.listen(ctx, serviceSocket)
		if err != nil {
			return nil, err
		}
		w.service = &http.Server{Handler: c.Service, ReadHeaderTimeout: serviceHeaderTimeout, IdleTimeout: connectTimeout,
			MaxHeaderBytes: maxServiceHeader,
			BaseContext:    func(net.Listener) context.Context { return ctx },
			ErrorLog:       slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelDebug)}
		l = netutil.LimitListener(l, maxServiceConns)
		go w.service.Serve(l) //nolint:errcheck // it always ends with ErrServerClosed
	}
	if s.root {
		if err := os.Chown(w.dir, hostUID, hostUID); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// listen creates a socket that the sandbox's user can connect to. The folder around it is accessible only to that user
// and root. Its path goes through /proc, since a socket's is limited to 107 bytes, and TMPDIR may be longer.
func (w *egress) listen(ctx context.Context, inside string) (net.Listener, error) {
	dir, err := os.Open(w.dir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	name := filepath.Base(inside)
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), name))
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // the folder is removed
	if err := os.Chmod(filepath.Join(w.dir, name), 0o666); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// mountEgress returns c with the sockets mounted.
func (w *egress) mountEgress(c Command) Command {
	c.Mounts = append(append([]Mount(nil), c.Mounts...), Mount{From: w.dir, To: socketFolder})
	return c
}

// wrapForward returns c run by Forward: this program, inside the sandbox, restricts the command and passes on its
// connections to the sockets.
func (s *Sandbox) wrapForward(c Command) (Command, error) {
	if !s.CanFetch() {
		return c, errors.New("start servers in the sandbox: this program was not told how to run itself")
	}
	plan, err := json.Marshal(s.forwardPlan(c))
	if err != nil {
		return c, fmt.Errorf("start servers in the sandbox: %w", err)
	}
	argv := append(append([]string{forwarderPath}, s.options.Self[1:]...), string(plan))
	if c.Shell != "" {
		c.Argv = append(append([]string(nil), s.shell...), c.Shell)
	}
	c.Mounts = append(append([]Mount(nil), c.Mounts...), Mount{From: s.options.Self[0], To: forwarderPath})
	c.Argv, c.Shell = append(argv, c.Argv...), ""
	return c, nil
}

// closeTimeout limits the time for open requests of the service to finish.
const closeTimeout = 2 * time.Second

// close closes all connections.
func (w *egress) close() {
	if w.proxy != nil {
		w.proxy.close()
	}
	if w.service != nil {
		// No client reads the open responses, but handlers may need a moment to finish, for example to settle a
		// reservation.
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if w.service.Shutdown(ctx) != nil {
			w.service.Close()
		}
	}
	if w.dir != "" {
		os.RemoveAll(w.dir)
	}
}
