package github

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// CallCount says how often one kind of request went out.
type CallCount struct {
	Installation int64  // 0: as the app itself, or not signed in
	Method       string // GET, POST, …
	Route        string // such as /repos/{owner}/{repo}/issues/{id}
	Calls        int64  // requests sent, retries included
	NotModified  int64  // of those, answered 304
	Failed       int64  // of those, answered 4xx or 5xx or not at all
}

// Calls returns the requests sent since the app was made, ordered by
// installation, route and method.
func (a *App) Calls() []CallCount { return a.calls.snapshot() }

type routeKey struct {
	installation  int64
	method, route string
}

type routeCount struct{ calls, notModified, failed atomic.Int64 }

type counter struct{ byRoute sync.Map } // routeKey → *routeCount

func newCounter() *counter { return &counter{} }

func (c *counter) of(k routeKey) *routeCount {
	if v, ok := c.byRoute.Load(k); ok {
		return v.(*routeCount)
	}
	v, _ := c.byRoute.LoadOrStore(k, &routeCount{})
	return v.(*routeCount)
}

func (c *counter) snapshot() []CallCount {
	var out []CallCount
	c.byRoute.Range(func(k, v any) bool {
		key, n := k.(routeKey), v.(*routeCount)
		out = append(out, CallCount{
			Installation: key.installation, Method: key.method, Route: key.route,
			Calls: n.calls.Load(), NotModified: n.notModified.Load(), Failed: n.failed.Load(),
		})
		return true
	})
	slices.SortFunc(out, func(x, y CallCount) int {
		return cmp.Or(cmp.Compare(x.Installation, y.Installation), cmp.Compare(x.Route, y.Route), cmp.Compare(x.Method, y.Method))
	})
	return out
}

// counting is the innermost round tripper: what passes it goes to the network.
type counting struct {
	next         http.RoundTripper
	counter      *counter
	installation int64
	prefix, host string // of the REST API
}

func (c *counting) RoundTrip(req *http.Request) (*http.Response, error) {
	n := c.counter.of(routeKey{c.installation, req.Method, c.route(req)})
	n.calls.Add(1)
	resp, err := c.next.RoundTrip(req)
	switch {
	case err != nil || resp.StatusCode >= 400:
		n.failed.Add(1)
	case resp.StatusCode == http.StatusNotModified:
		n.notModified.Add(1)
	}
	return resp, err
}

// route is a request's path with everything taken out that names one thing, so
// that there are few of them and none tells a secret.
func (c *counting) route(req *http.Request) string {
	if req.URL.Host != c.host {
		return "(storage)"
	}
	path := strings.TrimPrefix(req.URL.EscapedPath(), strings.TrimSuffix(c.prefix, "/"))
	return routeOf(path)
}

func routeOf(path string) string {
	segs := strings.Split(strings.Trim(path, "/"), "/")
	if len(segs) >= 3 && segs[0] == "repos" {
		segs[1], segs[2] = "{owner}", "{repo}"
	}
	for i := 1; i < len(segs); i++ {
		switch before := segs[i-1]; {
		case before == "heads": // a branch's name may hold slashes
			segs = append(segs[:i], "{name}")
		case before == "branches" || before == "labels" || before == "collaborators" || before == "users":
			segs[i] = "{name}"
		case before == "commits":
			segs[i] = "{sha}"
		case strings.Trim(segs[i], "0123456789") == "" && segs[i] != "":
			segs[i] = "{id}"
		}
	}
	return "/" + strings.Join(segs, "/")
}
