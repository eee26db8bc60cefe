package sandbox

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/proxy"
)

// upstreamError means that this host's own proxy is the reason; its text is for users, and has neither addresses nor
// passwords.
type upstreamError struct {
	said string
	err  error // nil: the proxy answered
}

// Error implements error.
func (e *upstreamError) Error() string { return e.said }

// Unwrap returns the cause.
func (e *upstreamError) Unwrap() error { return e.err }

// upstreamOf returns a function for the proxy by which this host reaches a URL, from an environment's HTTPS_PROXY and
// NO_PROXY; nil: none.
func upstreamOf(env []string) func(*url.URL) (*url.URL, error) {
	variable := func(name, other string) string {
		value, _ := LookupEnv(env, name)
		second, _ := LookupEnv(env, other)
		return cmp.Or(value, second)
	}
	c := httpproxy.Config{HTTPSProxy: variable("HTTPS_PROXY", "https_proxy"), NoProxy: variable("NO_PROXY", "no_proxy")}
	return c.ProxyFunc()
}

// proxyPorts are the default ports of proxies.
var proxyPorts = map[string]string{"http": "80", "https": "443"}

// dialThrough connects to an address, "host:port", through a proxy.
func dialThrough(ctx context.Context, via *url.URL, address string) (_ net.Conn, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	at := net.JoinHostPort(via.Hostname(), cmp.Or(via.Port(), proxyPorts[via.Scheme]))
	var conn net.Conn
	switch via.Scheme {
	case "http":
		conn, err = new(net.Dialer).DialContext(ctx, "tcp", at)
	case "https":
		conn, err = new(tls.Dialer).DialContext(ctx, "tcp", at)
	default: // SOCKS
		var d proxy.Dialer
		if d, err = proxy.FromURL(via, new(net.Dialer)); err == nil {
			if conn, err = d.(proxy.ContextDialer).DialContext(ctx, "tcp", address); err == nil {
				return conn, nil
			}
		}
	}
	if err != nil {
		return nil, &upstreamError{"through the proxy of SIA's host", err}
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer func() {
		if !stop() && err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			conn.Close()
		}
	}()
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if u := via.User; u != nil {
		password, _ := u.Password()
		req.Header.Set("Proxy-Authorization",
			"Basic "+base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)))
	}
	if err := req.Write(conn); err != nil {
		return nil, &upstreamError{"through the proxy of SIA's host", err}
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), req) // after it the client speaks first
	if err != nil {
		return nil, &upstreamError{"through the proxy of SIA's host", err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		conn.Close() // first, so that the body is not read to its end
		return nil, &upstreamError{said: fmt.Sprintf("the proxy of SIA's host answers %d", resp.StatusCode)}
	}
	return conn, nil
}
