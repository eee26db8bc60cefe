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
	"time"
)

// What leads out, as a command sees it: addresses of its own loopback, behind each
// of which Forward passes connections on to a socket.
const (
	proxyAddress   = "127.0.0.1:3128"
	serviceAddress = "127.0.0.1:3129"
	// ServiceURL is where a command reaches Command.Service.
	ServiceURL = "http://" + serviceAddress

	wayFolder     = "/run/proxy"
	forwarder     = wayFolder + "/forward"
	socketFolder  = wayFolder + "/out"
	proxySocket   = socketFolder + "/proxy"
	serviceSocket = socketFolder + "/service"
)

// way is everything that leads out of one sandbox. It lives as long as a command.
type way struct {
	dir     string // holds the sockets
	proxy   *proxy
	service *http.Server
}

// openWay opens what c may reach.
func (s *Sandbox) openWay(ctx context.Context, c Command) (_ *way, err error) {
	if !s.CanFetch() {
		return nil, errors.New("open the way out of the sandbox: this program was not told how to run itself")
	}
	if err := Allowed(c.Hosts).Check(); err != nil {
		return nil, err
	}
	w := &way{}
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
		w.service = &http.Server{Handler: c.Service, ReadHeaderTimeout: askWithin, IdleTimeout: idleAtMost,
			BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelDebug)}
		go w.service.Serve(l) //nolint:errcheck // it always ends with ErrServerClosed
	}
	if s.root {
		if err := os.Chown(w.dir, outsideUID, outsideUID); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// listen makes a socket through which another user, in the sandbox, can come; the
// folder around it lets nobody else in but root.
func (w *way) listen(ctx context.Context, inside string) (net.Listener, error) {
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

// through is c with the way: the program that listens inside, where nothing of
// ours can, and passes on to the sockets.
func (w *way) through(c Command, shell, self []string) Command {
	argv := c.Argv
	if c.Shell != "" {
		argv = append(append([]string(nil), shell...), c.Shell)
	}
	c.Argv, c.Shell = append(append([]string{forwarder}, self[1:]...), argv...), ""
	c.Mounts = append(append([]Mount(nil), c.Mounts...), Mount{From: self[0], To: forwarder}, Mount{From: w.dir, To: socketFolder})
	return c
}

// closeWithin bounds how long an answer of the service may still take.
const closeWithin = 2 * time.Second

// close ends every connection.
func (w *way) close() {
	if w.proxy != nil {
		w.proxy.close()
	}
	if w.service != nil {
		// What is being answered is nobody's any more; that handlers have ended is
		// worth a moment, since they may have something to settle.
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
