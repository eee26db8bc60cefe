//go:build linux

package sandbox_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/sia-bot/sia/agent/sandbox"
)

// Where SIA's host reaches others only through a proxy, commands reach the allowed hosts through it, with its password,
// and no others. What the proxy answers is told, and its password is not.
func TestFetchThroughTheHostsProxy(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "package")
	}))
	t.Cleanup(srv.Close)
	var mu sync.Mutex
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.Host)
		mu.Unlock()
		if r.Header.Get("Proxy-Authorization") != "Basic dXNlcjpob3JzZS1iYXR0ZXJ5" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		out, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer out.Close()
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		go io.Copy(out, conn)
		io.Copy(conn, out)
	}))
	t.Cleanup(proxy.Close)
	at := strings.TrimPrefix(proxy.URL, "http://")
	fetchWith := func(variable string) sandbox.Result {
		return run(t, box(t, sandbox.Options{Env: append(os.Environ(), variable)}), sandbox.Command{
			Hosts: []string{"registry.example"}, Dir: tree(t, map[string]string{"fetch.js": fetch}),
			Shell: "node fetch.js registry.example:443 other.example:443"})
	}
	r := fetchWith("HTTPS_PROXY=http://user:horse-battery@" + at)
	if want := "registry.example:443 package\nother.example:443 403\n"; string(r.Output) != want {
		t.Errorf("%s\n%s\nwant\n%s", r, r.Output, want)
	}
	r = fetchWith("https_proxy=http://user:correct-staple@" + at)
	if want := "registry.example:443 502\nother.example:443 403\n"; string(r.Output) != want {
		t.Errorf("%s\n%s\nwant\n%s", r, r.Output, want)
	}
	want := `registry.example:443: the host can't be reached through the proxy ` + at +
		`: it answered "407 Proxy Authentication Required"`
	if len(r.Refused) != 2 || r.Refused[0] != want {
		t.Errorf("refused %q, want %s", r.Refused, want)
	}
	if got := strings.Join(asked, ", "); got != "CONNECT registry.example:443, CONNECT registry.example:443" {
		t.Errorf("the proxy was asked: %s", got)
	}
	if r = fetchWith("HTTPS_PROXY=socks5://" + at); !strings.Contains(strings.Join(r.Refused, "\n"), "socks5") {
		t.Errorf("refused %q", r.Refused)
	}
}
