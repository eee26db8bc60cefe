package scale

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"sync/atomic"
)

// maxBody is the maximum size of a request's body through the balancer, in bytes.
const maxBody = 64 << 20

// balancer forwards requests to servers in turn, and to the next if one does not accept a connection.
type balancer struct {
	*httptest.Server
	to   []string // host:port of servers; set before the first request
	turn atomic.Int64
}

func newBalancer() *balancer {
	b := &balancer{}
	b.Server = httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Transport: b,
		Rewrite:      func(r *httputil.ProxyRequest) { r.Out.URL.Scheme = "http" },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }})
	return b
}

// close ends it, and open requests.
func (b *balancer) close() {
	b.CloseClientConnections()
	b.Close()
}

var direct = &http.Transport{MaxIdleConnsPerHost: 64}

// RoundTrip implements [http.RoundTripper].
func (b *balancer) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(io.LimitReader(r.Body, maxBody+1)); err != nil {
			return nil, err
		}
		if len(body) > maxBody {
			return nil, fmt.Errorf("a request of more than %d MiB", maxBody>>20)
		}
	}
	first := int(b.turn.Add(1))
	for i := range b.to {
		out := r.Clone(r.Context())
		out.URL.Host = b.to[(first+i)%len(b.to)]
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		resp, err = direct.RoundTrip(out)
		var dial *net.OpError
		if err == nil || !errors.As(err, &dial) || dial.Op != "dial" {
			return resp, err // a request that a server may have begun is not sent to another
		}
	}
	return nil, err
}
