package sandbox

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// errUpstream means that this host's own proxy is the reason.
var errUpstream = errors.New("through the proxy")

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

// dialThrough connects to an address, "host:port", through an HTTP proxy. Errors don't contain the proxy's password.
func dialThrough(ctx context.Context, proxy *url.URL, address string) (_ net.Conn, err error) {
	at := net.JoinHostPort(proxy.Hostname(), cmp.Or(proxy.Port(), proxyPorts[proxy.Scheme]))
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w %s: %w", errUpstream, at, err)
		}
	}()
	var d interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	} = &net.Dialer{}
	switch proxy.Scheme {
	case "http":
	case "https":
		d = &tls.Dialer{}
	default:
		return nil, fmt.Errorf("%q is no http proxy", proxy.Scheme)
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := d.DialContext(ctx, "tcp", at)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			conn.Close()
		}
	}()
	_ = conn.SetDeadline(time.Now().Add(connectTimeout))
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if u := proxy.User; u != nil {
		password, _ := u.Password()
		req.Header.Set("Proxy-Authorization",
			"Basic "+base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)))
	}
	if err := req.Write(conn); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), req) // after it the client speaks first
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		conn.Close() // first, so that the body is not read to its end
		return nil, fmt.Errorf("it answered %q", resp.Status)
	}
	return conn, nil
}
