package app

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// X-Forwarded-For is trusted at the public address from the named proxies, and never at the private one, which serves
// only this machine.
func TestProxiesAreBelievedInPublicOnly(t *testing.T) {
	for name, c := range map[string]struct {
		proxies []string
		want    string // the client's address at the public endpoint
	}{
		"named":     {[]string{"127.0.0.0/8"}, "203.0.113.7"},
		"not named": {[]string{"none"}, "127.0.0.1"},
		"another":   {[]string{"10.0.0.0/8"}, "127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Listen(t.Context(), Config{Listen: "127.0.0.1:0", Private: "127.0.0.1:0", TrustedProxies: c.proxies})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			who := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RemoteAddr) })
			f.Answer(who, who)
			f.Begin()
			for _, side := range []struct {
				at   net.Addr
				want string
			}{{f.Addr(), c.want}, {f.PrivateAddr(), "127.0.0.1"}} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+side.at.String(), nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("X-Forwarded-For", "203.0.113.7")
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || !strings.HasPrefix(string(got), side.want+":") {
					t.Errorf("at %s the client is %s (%v), want %s", side.at, got, err, side.want)
				}
			}
		})
	}
	if _, err := Listen(t.Context(), Config{Listen: "127.0.0.1:0", TrustedProxies: []string{"caddy"}}); err == nil {
		t.Error("a name is taken for an address")
	}
}

// A server that is bound to every address names the one at which a browser on this machine is let in.
func TestPrivateURL(t *testing.T) {
	for private, want := range map[string]string{"127.0.0.1:0": "http://127.0.0.1:", ":0": "http://localhost:",
		"0.0.0.0:0": "http://localhost:", "": ""} {
		f, err := Listen(t.Context(), Config{Private: private})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.PrivateURL(); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%q: %q, want %q", private, got, want)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
