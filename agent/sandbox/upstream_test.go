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
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
)

// Where SIA's host reaches others only through a proxy, commands reach the allowed hosts through it, with its password,
// and no others. Errors contain the proxy's answer, and not its password.
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
	host := "registry.example"
	fetchWith := func(variables ...string) sandbox.Result {
		return run(t, box(t, sandbox.Options{Env: append(os.Environ(), variables...)}), sandbox.Command{
			Hosts: []string{"registry.example"}, Dir: tree(t, map[string]string{"fetch.js": fetch}),
			Shell: "node fetch.js " + host + ":443 other.example:443"})
	}
	r := fetchWith("HTTPS_PROXY=http://user:horse-battery@" + at)
	if want := "registry.example:443 package\nother.example:443 403\n"; string(r.Output) != want {
		t.Errorf("%s\n%s\nwant\n%s", r, r.Output, want)
	}
	r = fetchWith("https_proxy=http://user:correct-staple@" + at)
	if want := "registry.example:443 502\nother.example:443 403\n"; string(r.Output) != want {
		t.Errorf("%s\n%s\nwant\n%s", r, r.Output, want)
	}
	const want = "registry.example:443: the host can't be reached: the proxy of SIA's host answers 407"
	if len(r.Refused) != 2 || r.Refused[0] != want {
		t.Errorf("refused %q, want %s", r.Refused, want)
	}
	if got := strings.Join(asked, ", "); got != "CONNECT registry.example:443, CONNECT registry.example:443" {
		t.Errorf("the proxy was asked: %s", got)
	}
	socks := socksProxy(t, srv.Listener.Addr().String())
	r = fetchWith("HTTPS_PROXY=socks5://" + socks)
	if want := "registry.example:443 package\nother.example:443 403\n"; string(r.Output) != want {
		t.Errorf("%s\n%s\nwant\n%s", r, r.Output, want)
	}
	// A dot at the end of the name does not lead around NO_PROXY.
	host = "registry.example."
	r = fetchWith("NO_PROXY=registry.example", "HTTPS_PROXY=http://user:horse-battery@"+at)
	if !strings.HasPrefix(string(r.Output), "registry.example.:443 502\n") || len(asked) != 2 {
		t.Errorf("%s\n%s\nthe proxy was asked: %q", r, r.Output, asked)
	}
}

// socksProxy starts a SOCKS 5 proxy that connects to one address, whichever it is asked for.
func socksProxy(t *testing.T, to string) (address string) {
	t.Helper()
	return serve(t, func(conn net.Conn) {
		io.ReadFull(conn, make([]byte, 3)) // version 5, one method: none
		conn.Write([]byte{5, 0})
		head := make([]byte, 5) // version, connect, 0, a name, its length
		io.ReadFull(conn, head)
		io.ReadFull(conn, make([]byte, int(head[4])+2))
		out, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer out.Close()
		conn.Write([]byte{5, 0, 0, 1, 127, 0, 0, 1, 0, 80})
		go io.Copy(out, conn)
		io.Copy(conn, out)
	})
}

// A proxy that does not answer holds up no command that is over.
func TestSilentProxy(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := box(t, sandbox.Options{Env: append(os.Environ(), "HTTPS_PROXY=http://"+l.Addr().String())})
	began := time.Now()
	r := run(t, s, sandbox.Command{Hosts: []string{"registry.example"}, Dir: tree(t, map[string]string{"fetch.js": fetch}),
		Shell: "node fetch.js registry.example:443 & sleep 1"})
	if late := time.Since(began) - r.Duration; late > 20*time.Second { // the proxy has 30 seconds to answer
		t.Errorf("it returned %s after the end of the command", late)
	}
}
