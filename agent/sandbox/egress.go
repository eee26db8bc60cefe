package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// What leads out, as a command sees it: addresses of its own loopback. Forward passes
// connections to each of them on to a socket.
const (
	proxyHost      = "127.0.0.1"
	proxyPort      = "3128"
	proxyAddress   = proxyHost + ":" + proxyPort
	serviceAddress = "127.0.0.1:3129"
	// ServiceURL is where a command reaches Command.Service.
	ServiceURL = "http://" + serviceAddress

	egressFolder  = "/run/proxy"
	forwarderPath = egressFolder + "/forward"
	socketFolder  = egressFolder + "/out"
	proxySocket   = socketFolder + "/proxy"
	serviceSocket = socketFolder + "/service"
)

// Bounds of a service's connections.
const (
	maxServiceConns = 64
	maxServiceHead  = 64 << 10 // bytes of a request's head
	headWithin      = 10 * time.Second
)

// boundedListener has so many connections at a time as it has slots. One more is closed
// at once.
type boundedListener struct {
	net.Listener
	slots chan struct{}
}

// bounded is a listener with at most so many connections at a time.
func bounded(l net.Listener, most int) net.Listener {
	return &boundedListener{Listener: l, slots: make(chan struct{}, most)}
}

// Accept waits for a connection that there is a slot for.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.slots <- struct{}{}:
			return &boundedConn{Conn: conn, free: sync.OnceFunc(func() { <-l.slots })}, nil
		default:
			conn.Close()
		}
	}
}

// boundedConn frees its slot when it is closed.
type boundedConn struct {
	net.Conn
	free func()
}

// Close closes the connection.
func (c *boundedConn) Close() error {
	defer c.free()
	return c.Conn.Close()
}

// CloseWrite says that nothing more is sent.
func (c *boundedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// egress is everything that leads out of one sandbox. It lives as long as a command.
type egress struct {
	dir     string // holds the sockets
	proxy   *hostProxy
	service *http.Server
}

// openEgress opens the sockets to what c may reach.
func (s *Sandbox) openEgress(ctx context.Context, c Command) (_ *egress, err error) {
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
		w.proxy = startProxy(ctx, l, c.Hosts, s.options.Logger)
	}
	if c.Service != nil {
		l, err := w.listen(ctx, serviceSocket)
		if err != nil {
			return nil, err
		}
		w.service = &http.Server{Handler: c.Service, ReadHeaderTimeout: headWithin, IdleTimeout: askWithin,
			MaxHeaderBytes: maxServiceHead,
			BaseContext:    func(net.Listener) context.Context { return ctx },
			ErrorLog:       slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelDebug)}
		l = bounded(l, maxServiceConns)
		go w.service.Serve(l) //nolint:errcheck // it always ends with ErrServerClosed
	}
	if s.root {
		if err := os.Chown(w.dir, outsideUID, outsideUID); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// listen makes a socket that another user, in the sandbox, can connect to. The folder
// around it lets nobody else in but root.
func (w *egress) listen(ctx context.Context, inside string) (net.Listener, error) {
	socket := filepath.Join(w.dir, filepath.Base(inside))
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(socket, 0o666); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// throughEgress is c with the sockets in it.
func (w *egress) throughEgress(c Command) Command {
	c.Mounts = append(append([]Mount(nil), c.Mounts...), Mount{From: w.dir, To: socketFolder})
	return c
}

// throughForward is c, started by Forward: a program of ours that restricts it, and passes
// connections on to the sockets.
func (s *Sandbox) throughForward(c Command) (Command, error) {
	if !s.CanFetch() {
		return c, errors.New("start servers in the sandbox: this program was not told how to run itself")
	}
	argv := append([]string{forwarderPath}, s.options.Self[1:]...)
	if s.capability.Landlock > 0 {
		argv = append(argv, landlockOption(c))
	}
	if len(c.Servers) > 0 {
		argv = append(argv, serversOption(c))
	}
	if c.Shell != "" {
		c.Argv = append(append([]string(nil), s.shell...), c.Shell)
	}
	c.Mounts = append(append([]Mount(nil), c.Mounts...), Mount{From: s.options.Self[0], To: forwarderPath})
	c.Argv, c.Shell = append(argv, c.Argv...), ""
	return c, nil
}

// closeWithin bounds how long an answer of the service may still take.
const closeWithin = 2 * time.Second

// close ends every connection.
func (w *egress) close() {
	if w.proxy != nil {
		w.proxy.close()
	}
	if w.service != nil {
		// Nobody reads the answers under way any more. But handlers may have something to
		// settle, so they get a moment to end.
		ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
		defer cancel()
		if w.service.Shutdown(ctx) != nil {
			w.service.Close()
		}
	}
	if w.dir != "" {
		os.RemoveAll(w.dir)
	}
}
