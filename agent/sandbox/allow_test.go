package sandbox

import (
	"net/netip"
	"testing"
)

func TestAllowed(t *testing.T) {
	a := AllowedHosts{"proxy.golang.org", "*.npmjs.org", "registry.internal:8443"}
	if err := a.Check(); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"proxy.golang.org:443":       "proxy.golang.org",
		"PROXY.golang.ORG.:443":      "proxy.golang.org",
		"proxy.golang.org:80":        "",
		"registry.npmjs.org:443":     "*.npmjs.org",
		"a.b.npmjs.org:443":          "*.npmjs.org",
		"npmjs.org:443":              "",
		"evilnpmjs.org:443":          "",
		"proxy.golang.org.evil:443":  "",
		"registry.internal:8443":     "registry.internal:8443",
		"registry.internal:443":      "",
		"127.0.0.1:443":              "",
		"[::1]:443":                  "",
		"2130706433:443":             "",
		"0x7f000001:443":             "",
		"proxy.golang.org@evil:443":  "",
		"proxy.golang.org:443.evil":  "",
		"proxy.golang.org:443:443":   "",
		"proxy.golang.org\x00.a:443": "",
		"proxy.golang.org":           "",
		":443":                       "",
		"":                           "",
	} {
		if got, ok := a.findEntry(address); got != want || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", address, got, ok, want)
		}
	}
	for _, bad := range []string{"", "*", "a.*.b", "127.0.0.1", "::1", "x:y", "x:0", "x:70000", "https://x", "a b", "*.",
		"1.2", "a..b"} {
		if (AllowedHosts{bad}).Check() == nil {
			t.Errorf("%q is taken for a host", bad)
		}
	}
}

func TestPublic(t *testing.T) {
	for ip, want := range map[string]bool{
		"1.1.1.1": true, "2606:4700::1111": true, "127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false,
		"192.168.1.1": false, "169.254.169.254": false,
		"100.64.0.1": false, "0.0.0.0": false, "224.0.0.1": false, "255.255.255.255": false, "::1": false, "::": false,
		"fe80::1": false, "fd00::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "64:ff9b::a00:1": false, "2002:7f00:1::": false,
		"ff02::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(ip)); got != want {
			t.Errorf("%s: %v", ip, got)
		}
	}
}

// FuzzAllowed tests that only hosts matching an entry are found.
func FuzzAllowed(f *testing.F) {
	for _, s := range []string{"proxy.golang.org:443", "a.example.org:443", "[::1]:443", "x", "example.org:443:443",
		"a.example.org.:443"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		entry, ok := AllowedHosts{"proxy.golang.org", "*.example.org"}.findEntry(address)
		if ok && entry == "" {
			t.Errorf("%q is allowed by nothing", address)
		}
		if ok && len(address) > 260 {
			t.Errorf("%q is no name", address)
		}
	})
}
