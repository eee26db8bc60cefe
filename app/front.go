package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sia-bot/sia/app/clientaddr"
)

// Timeouts of the servers. A delivery of 25 MiB over a slow connection fits.
const (
	readTimeout = time.Minute
	stopTimeout = 20 * time.Second
)

// Front is the pair of a process's listeners. Their addresses stay while their handlers change from set-up to the app.
// It is safe for concurrent use.
type Front struct {
	public, private *endpoint // nil: none

	serve  sync.Once
	failed chan error
}

// endpoint is one listener with its handler.
type endpoint struct {
	listener net.Listener
	proxies  clientaddr.Proxies // proxies with trusted X-Forwarded-For headers
	server   *http.Server
	handler  atomic.Pointer[http.Handler]
}

// Listen binds the addresses of a configuration. Nothing is served before Begin or Run. The caller closes the front.
func Listen(ctx context.Context, c Config) (_ *Front, err error) {
	f := &Front{failed: make(chan error, 2)}
	if c.Listen != "" {
		proxies, err := clientaddr.Parse(c.TrustedProxies)
		if err != nil {
			return nil, fmt.Errorf("--trusted-proxies: %w", err)
		}
		if f.public, err = newEndpoint(ctx, c.Listen, proxies); err != nil {
			return nil, fmt.Errorf("listen for webhooks: %w; choose another address with --listen", err)
		}
	}
	if c.Private != "" {
		if f.private, err = newEndpoint(ctx, c.Private, nil); err != nil {
			return nil, errors.Join(fmt.Errorf("listen privately: %w; choose another address with --private", err), f.Close())
		}
	}
	return f, nil
}

func newEndpoint(ctx context.Context, address string, proxies clientaddr.Proxies) (*endpoint, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	s := &endpoint{listener: l, proxies: proxies}
	s.answer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "SIA is starting; try again in a moment.", http.StatusServiceUnavailable)
	}))
	s.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(*s.handler.Load()).ServeHTTP(w, r)
	}), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: readTimeout, WriteTimeout: readTimeout,
		IdleTimeout: 2 * time.Minute}
	return s, nil
}

func (s *endpoint) answer(h http.Handler) {
	h = clientaddr.Behind(s.proxies, h)
	s.handler.Store(&h)
}

// endpoints returns the existing endpoints.
func (f *Front) endpoints() []*endpoint {
	return slices.DeleteFunc([]*endpoint{f.public, f.private}, func(s *endpoint) bool { return s == nil })
}

// Addr returns the public address, for webhooks; nil if there is none.
func (f *Front) Addr() net.Addr { return f.public.addr() }

// PrivateAddr returns the private address; nil if there is none.
func (f *Front) PrivateAddr() net.Addr { return f.private.addr() }

// PrivateURL returns the private address for a browser on this machine; empty if there is none. Where it is bound
// to every address of the machine, it is that of localhost, the only name for which the pages are served there.
func (f *Front) PrivateURL() string {
	at, ok := f.PrivateAddr().(*net.TCPAddr)
	switch {
	case !ok:
		return ""
	case at.IP.IsUnspecified():
		return fmt.Sprintf("http://localhost:%d", at.Port)
	}
	return "http://" + at.String()
}

func (s *endpoint) addr() net.Addr {
	if s == nil {
		return nil
	}
	return s.listener.Addr()
}

// Answer sets the handlers.
func (f *Front) Answer(public, private http.Handler) {
	if f.public != nil {
		f.public.answer(public)
	}
	if f.private != nil {
		f.private.answer(private)
	}
}

// Begin serves in the background until Run or Close stops it. Only the first call has an effect.
func (f *Front) Begin() {
	f.serve.Do(func() {
		for _, s := range f.endpoints() {
			go func() {
				if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
					f.failed <- err
				}
			}()
		}
	})
}

// Run serves until ctx ends, then lets running requests finish. It returns nil after ctx has ended.
func (f *Front) Run(ctx context.Context) (err error) {
	f.Begin()
	select {
	case <-ctx.Done():
	case err = <-f.failed:
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	all := make(chan error, len(f.endpoints()))
	for _, s := range f.endpoints() {
		go func() { all <- s.server.Shutdown(end) }()
	}
	for range f.endpoints() {
		err = errors.Join(err, <-all)
	}
	return err
}

// Close closes the listeners immediately.
func (f *Front) Close() error {
	var all []error
	for _, s := range f.endpoints() {
		all = append(all, s.server.Close())
		if err := s.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}
