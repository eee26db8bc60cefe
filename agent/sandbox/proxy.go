package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// Bounds of the proxy.
const (
	maxTunnels  = 64
	askWithin   = 30 * time.Second // for the request and for connecting
	idleAtMost  = 2 * time.Minute  // without a byte in either direction
	maxProxyAsk = 16 << 10         // bytes of a request's head
)

// hostProxy connects the commands of one sandbox to the hosts that they may reach. They
// ask with HTTP's CONNECT (RFC 9110 §9.3.6) on a socket that is mounted inside. The
// proxy sees names and amounts, and nothing of what is said.
type hostProxy struct {
	allowed AllowedHosts
	log     *slog.Logger
	listen  net.Listener
	stop    context.CancelFunc
	done    sync.WaitGroup
	slots   chan struct{}
}

// startProxy starts a proxy on a listener, which it closes in the end.
func startProxy(ctx context.Context, l net.Listener, hosts AllowedHosts, log *slog.Logger) *hostProxy {
	p := &hostProxy{allowed: hosts, log: log, listen: l, slots: make(chan struct{}, maxTunnels)}
	ctx, p.stop = context.WithCancel(ctx)
	p.done.Go(func() { p.serve(ctx) })
	return p
}

func (p *hostProxy) close() {
	p.stop()
	p.listen.Close()
	p.done.Wait()
}

func (p *hostProxy) serve(ctx context.Context) {
	for {
		conn, err := p.listen.Accept()
		if err != nil {
			return
		}
		select {
		case p.slots <- struct{}{}:
			p.done.Go(func() {
				defer func() { <-p.slots }()
				p.tunnel(ctx, conn)
			})
		default:
			conn.Close()
		}
	}
}

// tunnel serves one connection.
func (p *hostProxy) tunnel(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	_ = conn.SetDeadline(time.Now().Add(askWithin))
	in := bufio.NewReader(io.LimitReader(conn, maxProxyAsk))
	req, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	refuse := func(code int, why string) {
		p.log.InfoContext(ctx, "sandbox: connection refused", "host", req.Host, "why", why)
		fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\n",
			code, http.StatusText(code), len(why)+1, why)
	}
	if req.Method != http.MethodConnect {
		refuse(http.StatusMethodNotAllowed, "only https is let through")
		return
	}
	entry, ok := p.allowed.findEntry(req.Host)
	if !ok {
		refuse(http.StatusForbidden, "this host is not allowed; the operator of SIA can allow it with --setup-hosts")
		return
	}
	d := net.Dialer{Timeout: askWithin, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !isPublic(at.Addr()) && !mayBePrivate(entry) {
			return errors.New("it leads to an address that is not public")
		}
		return nil
	}}
	out, err := d.DialContext(ctx, "tcp", req.Host)
	if err != nil {
		refuse(http.StatusBadGateway, "the host can't be reached")
		return
	}
	defer out.Close()
	stopOut := context.AfterFunc(ctx, func() { out.Close() })
	defer stopOut()
	p.log.InfoContext(ctx, "sandbox: connected", "host", req.Host)
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	early, _ := in.Peek(in.Buffered()) // what came with the request
	if _, err := out.Write(early); err != nil {
		return
	}
	copyBothWays(conn, out)
}

// copyBothWays copies both ways until both are done, or until nothing comes for
// idleAtMost.
func copyBothWays(a, b net.Conn) {
	var both sync.WaitGroup
	pass := func(to, from net.Conn) {
		defer func() {
			if c, ok := to.(interface{ CloseWrite() error }); ok {
				_ = c.CloseWrite()
			}
		}()
		buf := make([]byte, 32<<10)
		for {
			until := time.Now().Add(idleAtMost)
			_ = a.SetDeadline(until)
			_ = b.SetDeadline(until)
			n, err := from.Read(buf)
			if n > 0 {
				if _, werr := to.Write(buf[:n]); werr != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
	both.Go(func() { pass(a, b) })
	both.Go(func() { pass(b, a) })
	both.Wait()
}
