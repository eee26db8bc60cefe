package sandbox

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// AllowedHosts are the names of the hosts that a command may connect to.
//
// An entry is a name ("proxy.golang.org"), or a wildcard for all names below one ("*.npmjs.org", which excludes
// npmjs.org itself). Either may have a port ("registry.internal:8443"); the default is 443. IP addresses are not
// allowed. A name must resolve to a public address, unless its entry has a port: with a port, an operator allows a
// service in their own network.
type AllowedHosts []string

// Check returns an error for the first invalid entry.
func (a AllowedHosts) Check() error {
	for _, e := range a {
		host, port, err := splitEntry(e)
		switch {
		case err != nil:
			return fmt.Errorf("allowed host %q: %w", e, err)
		case port < 1 || port > 65535:
			return fmt.Errorf("allowed host %q: the port must be 1 to 65535", e)
		case strings.Contains(strings.TrimPrefix(host, "*."), "*"):
			return fmt.Errorf("allowed host %q: a star stands only at the beginning, as in *.example.org", e)
		case !isName(strings.TrimPrefix(host, "*.")):
			return fmt.Errorf("allowed host %q: want a name such as proxy.golang.org, without https://", e)
		}
	}
	return nil
}

// Allows reports whether a command may connect to a host by HTTPS at the default port.
func (a AllowedHosts) Allows(host string) bool {
	_, ok := a.findEntry(net.JoinHostPort(host, "443"))
	return ok
}

// findEntry returns the entry that allows a connection to an address, "host:port".
func (a AllowedHosts) findEntry(address string) (entry string, ok bool) {
	h, p, err := net.SplitHostPort(address)
	if err != nil {
		return "", false
	}
	h = strings.ToLower(strings.TrimSuffix(h, "."))
	if !isName(h) {
		return "", false
	}
	for _, e := range a {
		host, port, err := splitEntry(e)
		if err != nil || p != strconv.Itoa(port) {
			continue
		}
		host = strings.ToLower(host)
		if below, star := strings.CutPrefix(host, "*"); star && len(h) > len(below) && strings.HasSuffix(h, below) ||
			h == host {
			return e, true
		}
	}
	return "", false
}

// mayBePrivate reports whether an entry allows addresses that are not public.
func mayBePrivate(entry string) bool { return strings.Contains(entry, ":") }

func splitEntry(entry string) (host string, port int, err error) {
	host, p, has := strings.Cut(entry, ":")
	if !has {
		return host, 443, nil
	}
	port, err = strconv.Atoi(p)
	if err != nil {
		return "", 0, fmt.Errorf("the port %q is no number; write a host as name or name:port, without https://", p)
	}
	return host, port, nil
}

// isName reports whether h is a host name, as opposed to an IP address.
func isName(h string) bool {
	if h == "" || len(h) > 253 || strings.Trim(h, "0123456789.") == "" {
		return false // empty, or an address to some resolvers
	}
	for label := range strings.SplitSeq(h, ".") {
		if label == "" || len(label) > 63 ||
			strings.HasPrefix(label, "0x") && strings.Trim(label, "0123456789abcdefx") == "" {
			return false
		}
		for _, r := range label {
			if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_') {
				return false
			}
		}
	}
	return true
}

// isPublic reports whether an address is on the internet, as opposed to this host, its network, or a cloud's metadata
// service. RFC 6890 lists the other ranges.
func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap()
	if !ip.IsValid() || !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, p := range []string{"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16"} {
		if netip.MustParsePrefix(p).Contains(ip) {
			return false
		}
	}
	return true
}
