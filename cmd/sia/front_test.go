package main

import (
	"encoding/pem"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// fronted starts a TLS server in front of $SIA_GITHUB_URL, with a certificate that only ca.pem signs, and a proxy in
// front of that: $PROXY forwards https://example.com and nothing else. Afterwards $SIA_GITHUB_URL is the TLS server.
func fronted(ts *testscript.TestScript, _ bool, _ []string) {
	behind, err := url.Parse(ts.Getenv("SIA_GITHUB_URL"))
	ts.Check(err)
	front := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(behind))
	// the test is that it is not trusted
	front.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	front.StartTLS()
	ts.Defer(front.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	ts.Check(os.WriteFile(ts.MkAbs("ca.pem"), ca, 0o600))
	proxy := httptest.NewServer(tunnel("example.com:443", front.Listener.Addr().String()))
	ts.Defer(proxy.Close)
	ts.Setenv("SIA_GITHUB_URL", front.URL)
	ts.Setenv("PROXY", proxy.URL)
}

// tunnel is a proxy that connects requests for one host to an address, and refuses all others.
func tunnel(host, address string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != host {
			http.Error(w, "not allowed", http.StatusForbidden)
			return
		}
		there, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", address)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer there.Close()
		here, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer here.Close()
		if _, err := io.WriteString(here, "HTTP/1.1 200 Connected\r\n\r\n"); err != nil {
			return
		}
		var both sync.WaitGroup
		both.Go(func() { _, _ = io.Copy(there, buffered); _ = there.Close() })
		both.Go(func() { _, _ = io.Copy(here, there); _ = here.Close() })
		both.Wait()
	})
}
