package testrun

import (
	"context"
	"net"
	"strings"
	"time"
)

// reachWithin bounds the question whether a registry can be reached.
const reachWithin = 5 * time.Second

// Unreached says which registries of a suite can't be reached; "": one can, or there are others. Each is asked once.
func (r *Runner) Unreached(ctx context.Context, s Suite) string {
	if len(r.hosts) > 0 || len(s.Hosts) == 0 {
		return ""
	}
	for _, host := range s.Hosts {
		if r.reaches(ctx, host) {
			return ""
		}
	}
	return strings.Join(s.Hosts, ", ") + " can't be reached from here"
}

func (r *Runner) reaches(ctx context.Context, host string) bool {
	r.asking.Lock()
	defer r.asking.Unlock()
	reached, asked := r.reached[host]
	if !asked {
		reached = r.box.CanFetch() && dials(ctx, host)
		if ctx.Err() == nil {
			r.reached[host] = reached
		}
	}
	return reached
}

// dials reports whether a host takes connections, as the sandbox's way out would make them.
func dials(ctx context.Context, host string) bool {
	d := net.Dialer{Timeout: reachWithin}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(host, "443"))
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
