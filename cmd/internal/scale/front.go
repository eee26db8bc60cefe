package scale

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"sync/atomic"
)

// maxBody is the most that a request through the front has.
const maxBody = 64 << 20

// front is a load balancer: requests go to servers in turn, and to the next where one does not take a connection.
type front struct {
	server *httptest.Server
	to     []string // host:port of servers
	turn   atomic.Int64
}

func newFront() (*front, error) {
	f := &front{}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Transport: f,
		Rewrite:      func(r *httputil.ProxyRequest) { r.Out.URL.Scheme = "http" },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }}
	f.server = httptest.NewServer(proxy)
	return f, nil
}

func (f *front) url() string { return f.server.URL }

// Close ends it; what is under way is cut.
func (f *front) Close() error {
	f.server.CloseClientConnections()
	f.server.Close()
	return nil
}

var direct = &http.Transport{MaxIdleConnsPerHost: 64}

// RoundTrip implements http.RoundTripper.
func (f *front) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(io.LimitReader(r.Body, maxBody)); err != nil {
			return nil, err
		}
	}
	first := int(f.turn.Add(1))
	for i := range f.to {
		out := r.Clone(r.Context())
		out.URL.Host = f.to[(first+i)%len(f.to)]
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		resp, err = direct.RoundTrip(out)
		var dial *net.OpError
		if err == nil || !errors.As(err, &dial) || dial.Op != "dial" {
			return resp, err // what a server may have begun is not sent to another
		}
	}
	return nil, err
}
