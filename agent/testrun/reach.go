package testrun

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// reachTimeout limits the check whether a registry can be reached.
const reachTimeout = 5 * time.Second

// Unreached returns why the registry that a suite contacts first can't be reached; "": it can, or there are other
// hosts. The check is made only once.
func (r *Runner) Unreached(ctx context.Context, s Suite) string {
	if len(r.hosts) > 0 || len(s.Hosts) == 0 || r.reaches(ctx, s.Hosts[0]) {
		return ""
	}
	return s.Hosts[0] + " can't be reached from here"
}

func (r *Runner) reaches(ctx context.Context, host string) bool {
	r.reachMu.Lock()
	defer r.reachMu.Unlock()
	reached, checked := r.reached[host]
	if !checked {
		reached = r.box.CanFetch() && answers(ctx, net.JoinHostPort(host, "443"))
		if ctx.Err() == nil {
			r.reached[host] = reached
		}
	}
	return reached
}

// answers reports whether a server speaks TLS. A firewall, or a mirror that hangs, may accept connections without a
// response. No data is sent, and the server is authenticated later, when fetching.
func answers(ctx context.Context, address string) bool {
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: reachTimeout},
		Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // nothing is sent
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
