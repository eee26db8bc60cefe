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
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Limits of the proxy.
const (
	maxTunnels        = 64
	connectTimeout    = 30 * time.Second // for the request and for connecting
	tunnelIdleTimeout = 2 * time.Minute  // without a byte in either direction
	maxProxyHeader    = 16 << 10         // bytes of a request's header
	maxRefused        = 20               // recorded refusals
	maxRetries        = 1000             // refused connections in a row; see [ByRefusals]
)

// Unreachable begins the reason for a host that is allowed, and that this machine can't reach.
const Unreachable = "the host can't be reached"

// errPrivate refuses a name that does not resolve to a public address.
var errPrivate = errors.New("it leads to an address that is not public")

// hostProxy connects the commands of one sandbox to the allowed hosts. Clients send HTTP CONNECT requests (RFC 9110
// §9.3.6) to a socket that is mounted inside. The tunnel must start with TLS for the same name as requested. The proxy
// sees names and sizes, but no content.
type hostProxy struct {
	allowed  AllowedHosts
	log      *slog.Logger
	listen   net.Listener
	upstream func(*url.URL) (*url.URL, error) // this host's own proxy for an address; nil: none
	end      func(by EndReason, why string)   // ends the command
	stop     context.CancelFunc
	done     sync.WaitGroup

	mu      sync.Mutex
	refused []string // see [Result.Refused]
	count   int      // of refused connections since one was not
}

// startProxy starts a proxy on a listener and takes over closing it. end ends the command.
func startProxy(
	ctx context.Context, l net.Listener, hosts AllowedHosts, end func(EndReason, string), o Options,
) *hostProxy {
	p := &hostProxy{allowed: hosts, log: o.Logger, listen: l, upstream: upstreamOf(o.Env), end: end}
	ctx, p.stop = context.WithCancel(ctx)
	p.done.Go(func() { serveConns(l, maxTunnels, func(conn net.Conn) { p.tunnel(ctx, conn) }) })
	return p
}

func (p *hostProxy) close() {
	p.stop()
	p.listen.Close()
	p.done.Wait()
}

// noteRefused records why a host was refused, for the command's result: many programs don't show their proxy's message.
// It ends a command that retries without a pause, as npm 11 does after any answer but 200.
func (p *hostProxy) noteRefused(host, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count++; p.count == maxRetries {
		p.end(ByRefusals, fmt.Sprintf("it was refused %d connections in a row, the last to %.100q", maxRetries, host))
	}
	if refusal := host + ": " + why; len(p.refused) < maxRefused && !slices.Contains(p.refused, refusal) {
		p.refused = append(p.refused, refusal)
	}
}

// noteConnected records that a host was reached: the command does not retry in vain.
func (p *hostProxy) noteConnected() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count = 0
}

// tunnel serves one connection.
func (p *hostProxy) tunnel(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	_ = conn.SetDeadline(time.Now().Add(connectTimeout))
	in := bufio.NewReader(io.LimitReader(conn, maxProxyHeader))
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
	out, err := p.connect(ctx, req.Host, entry)
	if err != nil {
		code, why := http.StatusBadGateway, Unreachable
		var through *upstreamError
		switch {
		case errors.Is(err, errPrivate): // no 5xx, since npm retries those for minutes
			code, why = http.StatusForbidden, fmt.Sprintf(
				"%s; the operator of SIA can allow it with its port, as in --setup-hosts=%s", errPrivate, req.Host)
		case errors.As(err, &through):
			why += ": " + through.said
		}
		refuse(code, why, "error", err)
		return
	}
	p.noteConnected()
	defer out.Close()
	stopOut := context.AfterFunc(ctx, func() { out.Close() })
	defer stopOut()
	p.log.DebugContext(ctx, "sandbox: connected", "host", req.Host)
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	early, _ := in.Peek(in.Buffered()) // data received with the request
	rest := bytes.NewReader(early)
	hello, err := readHello(ctx, io.MultiReader(rest, conn), req.Host)
	if err != nil {
		p.log.InfoContext(ctx, "sandbox: connection closed", "host", req.Host, "why", err)
		return
	}
	if _, err := io.Copy(out, io.MultiReader(bytes.NewReader(hello), rest)); err != nil {
		return
	}
	copyBothWays(conn, out, tunnelIdleTimeout)
}

// connect connects to the address of an allowed entry, through this host's own proxy if it has one.
func (p *hostProxy) connect(ctx context.Context, address, entry string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	address = net.JoinHostPort(strings.TrimSuffix(host, "."), port) // as NO_PROXY has it
	proxy, err := p.upstream(&url.URL{Scheme: "https", Host: address})
	switch {
	case err != nil:
		return nil, err
	case proxy != nil:
		return dialThrough(ctx, proxy, address)
	}
	d := net.Dialer{Timeout: connectTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !isPublic(at.Addr()) && !mayBePrivate(entry) {
			return errPrivate
		}
		return nil
	}}
	return d.DialContext(ctx, "tcp", address)
}

// extensionECH is the TLS extension by which a client encrypts the requested name (RFC 9849).
const extensionECH = 0xfe0d

// readHello reads the TLS ClientHello, and returns all bytes that it read. It fails if the client does not start with
// TLS, or requests a name other than that of the address: many hosts may share an address.
func readHello(ctx context.Context, from io.Reader, address string) ([]byte, error) {
	var read bytes.Buffer
	var hello *tls.ClientHelloInfo
	server := tls.Server(readingConn{in: io.TeeReader(from, &read)}, &tls.Config{ // the handshake is never completed
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			hello = h
			return nil, errors.New("seen")
		}})
	err := server.HandshakeContext(ctx)
	host, _, _ := net.SplitHostPort(address) // parsed before
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

// readingConn is a connection for reading a ClientHello.
type readingConn struct {
	net.Conn
	in io.Reader
}

// Read reads from the client.
func (c readingConn) Read(b []byte) (int, error) { return c.in.Read(b) }

// Write discards b.
func (readingConn) Write(b []byte) (int, error) { return len(b), nil }

// Close does not close the connection.
func (readingConn) Close() error { return nil }

// SetDeadline does nothing.
func (readingConn) SetDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing.
func (readingConn) SetWriteDeadline(time.Time) error { return nil }

// copyBothWays copies in both directions until both have ended, or until there is no data for idle; 0: no limit.
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
