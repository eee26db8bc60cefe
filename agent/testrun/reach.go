package testrun

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// reachWithin bounds the question whether a registry can be reached.
const reachWithin = 5 * time.Second

// Unreached says that the registry that a suite fetches from first can't be reached; "": it can, or there are others.
// It is asked once.
func (r *Runner) Unreached(ctx context.Context, s Suite) string {
	if len(r.hosts) > 0 || len(s.Hosts) == 0 || r.reaches(ctx, s.Hosts[0]) {
		return ""
	}
	return s.Hosts[0] + " can't be reached from here"
}

func (r *Runner) reaches(ctx context.Context, host string) bool {
	r.asking.Lock()
	defer r.asking.Unlock()
	reached, asked := r.reached[host]
	if !asked {
		reached = r.box.CanFetch() && answers(ctx, net.JoinHostPort(host, "443"))
		if ctx.Err() == nil {
			r.reached[host] = reached
		}
	}
	return reached
}

// answers reports whether a server speaks TLS. A firewall, or a mirror that hangs, may take connections and say
// nothing. Nothing is sent to it, and who it is shows when something is fetched.
func answers(ctx context.Context, address string) bool {
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: reachWithin},
		Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // nothing is sent
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
