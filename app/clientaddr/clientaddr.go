// Package clientaddr identifies the clients of a server by address, also behind a reverse proxy.
//
// A proxy is trusted only if the operator named it, because anybody can send X-Forwarded-For. [Behind] replaces the
// proxy's address by the client's, [Of] returns the identity to count a client by, and [Limiter] is a rate limit by
// client.
//
// The package imports no other package of the project.
package clientaddr

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// forwardedFor is the header in which proxies add the address of their client at the end.
// https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/X-Forwarded-For
const forwardedFor = "X-Forwarded-For"

// clientPrefixBits is the number of leading bits of an IPv6 address that identify a client: a connection gets 64 or
// fewer, and its owner chooses the rest.
const clientPrefixBits = 64

// Proxies are the trusted reverse proxies.
type Proxies []netip.Prefix

// Parse reads addresses and ranges of addresses, such as 127.0.0.1 and 172.16.0.0/12. The single word none means no
// proxy.
func Parse(names []string) (Proxies, error) {
	if slices.Equal(names, []string{"none"}) {
		return nil, nil
	}
	var all Proxies
	for _, name := range names {
		if p, err := netip.ParsePrefix(name); err == nil {
			all = append(all, p.Masked())
			continue
		}
		a, err := netip.ParseAddr(name)
		if err != nil || a.Zone() != "" {
			return nil, fmt.Errorf("%q is neither an address nor a range of addresses such as 172.16.0.0/12", name)
		}
		a = a.Unmap()
		all = append(all, netip.PrefixFrom(a, a.BitLen()))
	}
	return all, nil
}

func (p Proxies) contains(a netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// Behind returns a handler that calls next with the client's address as RemoteAddr, also for requests through the
// proxies.
func Behind(p Proxies, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if client, ok := p.client(r); ok {
			forwarded := *r
			forwarded.RemoteAddr = netip.AddrPortFrom(client, 0).String()
			r = &forwarded
		}
		next.ServeHTTP(w, r)
	})
}

// client returns the client of a request through the proxies: the last forwarded address that is not one of theirs.
// It returns false if the request did not come through a proxy, or no address is readable.
func (p Proxies) client(r *http.Request) (client netip.Addr, ok bool) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !p.contains(peer.Addr().Unmap().WithZone("")) {
		return netip.Addr{}, false
	}
	rest := strings.Join(r.Header.Values(forwardedFor), ",")
	for rest != "" {
		at := strings.LastIndexByte(rest, ',')
		a, err := addressOf(strings.TrimSpace(rest[at+1:]))
		if err != nil {
			return client, ok
		}
		client, ok = a.Unmap().WithZone(""), true
		if !p.contains(client) {
			return client, true
		}
		rest = rest[:max(at, 0)]
	}
	return client, ok
}

// addressOf parses an address as proxies write it: some add a port, or brackets around an IPv6 address.
func addressOf(text string) (netip.Addr, error) {
	if p, err := netip.ParseAddrPort(text); err == nil {
		return p.Addr(), nil
	}
	return netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
}

// Of returns the identity of a request's client: its IPv4 address, or the network of its IPv6 address.
func Of(r *http.Request) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	a := peer.Addr().Unmap().WithZone("")
	if a.Is4() {
		return a.String()
	}
	network, err := a.Prefix(clientPrefixBits)
	if err != nil {
		return a.String()
	}
	return network.String()
}
