package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
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
	maxRefused  = 20               // refusals that are kept
)

// errPrivate refuses a name that leads elsewhere than to the internet.
var errPrivate = errors.New("it leads to an address that is not public")

// hostProxy connects the commands of one sandbox to the hosts that they may reach. They
// ask with HTTP's CONNECT (RFC 9110 §9.3.6) on a socket that is mounted inside. What
// they then say must begin with TLS for the very name that they asked for. The proxy sees
// names and amounts, and nothing of what is said.
type hostProxy struct {
	allowed AllowedHosts
	log     *slog.Logger
	listen  net.Listener
	stop    context.CancelFunc
	done    sync.WaitGroup

	mu      sync.Mutex
	refused []string // see [Result.Refused]
}

// startProxy starts a proxy on a listener, which it closes in the end.
func startProxy(ctx context.Context, l net.Listener, hosts AllowedHosts, log *slog.Logger) *hostProxy {
	p := &hostProxy{allowed: hosts, log: log, listen: bounded(l, maxTunnels)}
	ctx, p.stop = context.WithCancel(ctx)
	p.done.Go(func() { p.serve(ctx) })
	return p
}

func (p *hostProxy) close() {
	p.stop()
	p.listen.Close()
	p.done.Wait()
}

// noteRefused notes why a host was refused, for whoever reads how the command ended: programs often don't show what
// their proxy says.
func (p *hostProxy) noteRefused(host, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if said := host + ": " + why; len(p.refused) < maxRefused && !slices.Contains(p.refused, said) {
		p.refused = append(p.refused, said)
	}
}

func (p *hostProxy) serve(ctx context.Context) {
	for {
		conn, err := p.listen.Accept()
		if err != nil {
			return
		}
		p.done.Go(func() { p.tunnel(ctx, conn) })
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
	refuse := func(code int, why string, more ...any) {
		p.noteRefused(req.Host, why)
		p.log.InfoContext(ctx, "sandbox: connection refused", append([]any{"host", req.Host, "why", why}, more...)...)
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
			return errPrivate
		}
		return nil
	}}
	out, err := d.DialContext(ctx, "tcp", req.Host)
	if err != nil {
		code, why := http.StatusBadGateway, "the host can't be reached"
		if errors.Is(err, errPrivate) { // asking again, as npm does for minutes after a 5xx, does not help
			code, why = http.StatusForbidden, fmt.Sprintf(
				"%s; the operator of SIA can allow it with its port, as in --setup-hosts=%s", errPrivate, req.Host)
		}
		refuse(code, why, "error", err)
		return
	}
	defer out.Close()
	stopOut := context.AfterFunc(ctx, func() { out.Close() })
	defer stopOut()
	p.log.DebugContext(ctx, "sandbox: connected", "host", req.Host)
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	early, _ := in.Peek(in.Buffered()) // what came with the request
	rest := bytes.NewReader(early)
	hello, err := readHello(ctx, io.MultiReader(rest, conn), req.Host)
	if err != nil {
		p.log.InfoContext(ctx, "sandbox: connection closed", "host", req.Host, "why", err)
		return
	}
	if _, err := io.Copy(out, io.MultiReader(bytes.NewReader(hello), rest)); err != nil {
		return
	}
	copyBothWays(conn, out, idleAtMost)
}

// extensionECH is the extension with which a client hides the name that it asks for (RFC
// 9849).
const extensionECH = 0xfe0d

// readHello reads how a client begins with TLS, and everything that it read on the way.
// It is an error when the client begins otherwise, or asks for another name than that of
// the address: behind one address there can be many hosts.
func readHello(ctx context.Context, from io.Reader, address string) ([]byte, error) {
	var read bytes.Buffer
	var hello *tls.ClientHelloInfo
	server := tls.Server(readingConn{in: io.TeeReader(from, &read)}, &tls.Config{ // nothing is agreed on
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			hello = h
			return nil, errors.New("seen")
		}})
	err := server.HandshakeContext(ctx)
	host, _, _ := net.SplitHostPort(address) // it was looked up before
	switch {
	case hello == nil:
		return nil, fmt.Errorf("it does not begin with TLS: %w", err)
	case !strings.EqualFold(strings.TrimSuffix(hello.ServerName, "."), strings.TrimSuffix(host, ".")):
		return nil, fmt.Errorf("it asks for %.100q", hello.ServerName)
	case slices.Contains(hello.Extensions, extensionECH):
		return nil, errors.New("it hides whom it asks for")
	}
	return read.Bytes(), nil
}

// readingConn is a connection of which nothing but its beginning is read.
type readingConn struct {
	net.Conn
	in io.Reader
}

// Read reads what the client says.
func (c readingConn) Read(b []byte) (int, error) { return c.in.Read(b) }

// Write says nothing.
func (readingConn) Write(b []byte) (int, error) { return len(b), nil }

// Close leaves the connection open.
func (readingConn) Close() error { return nil }

// SetDeadline leaves the connection's.
func (readingConn) SetDeadline(time.Time) error { return nil }

// SetWriteDeadline leaves the connection's.
func (readingConn) SetWriteDeadline(time.Time) error { return nil }

// copyBothWays copies both ways until both are done, or until nothing comes for so long;
// idle 0: however long that is.
func copyBothWays(a, b net.Conn, idle time.Duration) {
	var both sync.WaitGroup
	pass := func(to, from net.Conn) {
		defer func() {
			if c, ok := to.(interface{ CloseWrite() error }); ok {
				_ = c.CloseWrite()
			}
		}()
		buf := make([]byte, 32<<10)
		for {
			if idle > 0 {
				until := time.Now().Add(idle)
				_ = a.SetDeadline(until)
				_ = b.SetDeadline(until)
			}
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
