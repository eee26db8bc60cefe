package clientaddr_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sia-bot/sia/app/clientaddr"
)

// Only named proxies are trusted. An address that the client adds to the header itself is left of the proxy's.
func TestOnlyNamedProxiesAreBelieved(t *testing.T) {
	proxies, err := clientaddr.Parse([]string{"127.0.0.1", "::1", "172.16.0.0/12", "fd00::/8"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, peer string
		forwarded  []string
		want       string
	}{
		{"no proxy", "203.0.113.7:1234", nil, "203.0.113.7"},
		{"a client that calls itself another", "203.0.113.7:1234", []string{"198.51.100.1"}, "203.0.113.7"},
		{"a proxy", "127.0.0.1:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"a proxy in a range", "172.18.0.3:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"a mapped proxy", "[::ffff:127.0.0.1]:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"a proxy that appends", "127.0.0.1:1234", []string{"10.9.8.7, 198.51.100.1"}, "198.51.100.1"},
		{"a proxy that adds a line", "127.0.0.1:1234", []string{"10.9.8.7", "198.51.100.1"}, "198.51.100.1"},
		{"a chain of proxies", "127.0.0.1:1234", []string{"198.51.100.1, 172.18.0.3,127.0.0.1"}, "198.51.100.1"},
		{"a client that poses as a proxy", "127.0.0.1:1234", []string{"9.9.9.9, 127.0.0.1, 198.51.100.1"}, "198.51.100.1"},
		{"a client at the proxy itself", "127.0.0.1:1234", []string{"127.0.0.1"}, "127.0.0.1"},
		{"a proxy that says nothing", "127.0.0.1:1234", nil, "127.0.0.1"},
		{"a proxy that says nonsense", "127.0.0.1:1234", []string{"unknown"}, "127.0.0.1"},
		{"nonsense before a proxy", "127.0.0.1:1234", []string{"unknown, 172.18.0.3"}, "172.18.0.3"},
		{"a line of its own", "[2001:db8:1:2:3:4:5:6]:1234", nil, "2001:db8:1:2::/64"},
		{"the same line", "[2001:db8:1:2::1]:1234", nil, "2001:db8:1:2::/64"},
		{"a line behind a proxy", "[::1]:1234", []string{"2001:db8:1:2:3:4:5:6"}, "2001:db8:1:2::/64"},
		{"a mapped client", "127.0.0.1:1234", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"a proxy that adds the port", "127.0.0.1:1234", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		{"a proxy with brackets", "127.0.0.1:1234", []string{"[2001:db8:1:2::1]"}, "2001:db8:1:2::/64"},
		{"both", "127.0.0.1:1234", []string{"9.9.9.9, [2001:db8:1:2::1]:4711"}, "2001:db8:1:2::/64"},
		{"a pipe", "@", nil, "@"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.RemoteAddr = c.peer
			for _, v := range c.forwarded {
				r.Header.Add("X-Forwarded-For", v)
			}
			got := ""
			clientaddr.Behind(proxies, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got = clientaddr.Of(r)
			})).ServeHTTP(httptest.NewRecorder(), r)
			if got != c.want {
				t.Errorf("counted as %s, want %s", got, c.want)
			}
			if r.RemoteAddr != c.peer {
				t.Errorf("the request became %s's", r.RemoteAddr)
			}
		})
	}
	for _, bad := range []string{"", "localhost", "127.0.0.1:80", "10.0.0.0/40", "fe80::1%eth0"} {
		if _, err := clientaddr.Parse([]string{bad}); err == nil {
			t.Errorf("%q is taken for a proxy's address", bad)
		}
	}
}
