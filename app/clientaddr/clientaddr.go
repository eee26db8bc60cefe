// Package clientaddr tells clients of a server apart by their addresses, also where a reverse proxy stands between.
//
// A proxy is believed only if the operator named it: anybody can send X-Forwarded-For. [Behind] puts the client's
// address where the proxy's was, [Of] is what a bound for each client counts by, and [Limiter] is such a bound.
//
// The package imports nothing of ours.
package clientaddr

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// forwardedFor is where proxies write whom they pass on: the last entry is the last proxy's client.
// https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/X-Forwarded-For
const forwardedFor = "X-Forwarded-For"

// ofOneClient is how many leading bits of an IPv6 address make a client: a line is given 64 or fewer, and its owner
// chooses the rest.
const ofOneClient = 64

// Proxies are the reverse proxies that are believed.
type Proxies []netip.Prefix

// Parse reads addresses and ranges of addresses, such as 127.0.0.1 and 172.16.0.0/12. The word
// none stands for no proxy.
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

func (p Proxies) have(a netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// Behind is next, for which RemoteAddr is the client's even where one of the proxies passed the request on.
func Behind(p Proxies, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if client, ok := p.client(r); ok {
			passedOn := *r
			passedOn.RemoteAddr = netip.AddrPortFrom(client, 0).String()
			r = &passedOn
		}
		next.ServeHTTP(w, r)
	})
}

// client is whom the proxies say a request is from: the last address that is none of theirs. False where no proxy
// passed it on, or says nothing that can be read.
func (p Proxies) client(r *http.Request) (client netip.Addr, ok bool) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !p.have(peer.Addr().Unmap().WithZone("")) {
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
		if !p.have(client) {
			return client, true
		}
		rest = rest[:max(at, 0)]
	}
	return client, ok
}

// addressOf reads an address as proxies write them: some add the port, or put an IPv6 address into brackets.
func addressOf(text string) (netip.Addr, error) {
	if p, err := netip.ParseAddrPort(text); err == nil {
		return p.Addr(), nil
	}
	return netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
}

// Of names the client of a request: its IPv4 address, or the network of its IPv6 address.
func Of(r *http.Request) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	a := peer.Addr().Unmap().WithZone("")
	if a.Is4() {
		return a.String()
	}
	network, err := a.Prefix(ofOneClient)
	if err != nil {
		return a.String()
	}
	return network.String()
}
