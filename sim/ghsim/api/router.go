package api

import (
	"net/url"
	"regexp"
	"strings"
)

// route is one operation of the REST API. In a pattern {name} is one path segment and {name...} is one or more, in any
// place.
type route struct {
	method  string
	pattern string
	auth    string // "app", "none", or the required permission and level of an installation's token: "issues:write"
	handle  func(*call) (answer, error)
	expr    *regexp.Regexp
	names   []string
}

var placeholder = regexp.MustCompile(`\{(\w+)(\.\.\.)?\}`)

func newRoute(method, pattern, auth string, handle func(*call) (answer, error)) route {
	rt := route{method: method, pattern: pattern, auth: auth, handle: handle}
	var b strings.Builder
	last := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(pattern, -1) {
		b.WriteString(regexp.QuoteMeta(pattern[last:m[0]]))
		rt.names = append(rt.names, pattern[m[2]:m[3]])
		if m[4] >= 0 {
			b.WriteString("(.+?)")
		} else {
			b.WriteString("([^/]+)")
		}
		last = m[1]
	}
	b.WriteString(regexp.QuoteMeta(pattern[last:]))
	rt.expr = regexp.MustCompile("^" + b.String() + "$")
	return rt
}

// match finds the route of an escaped path. known reports that the path exists with another method.
func match(routes []route, method, path string) (rt *route, params map[string]string, known bool) {
	for i := range routes {
		m := routes[i].expr.FindStringSubmatch(path)
		if m == nil {
			continue
		}
		if routes[i].method != method {
			known = true
			continue
		}
		params := map[string]string{}
		for n, name := range routes[i].names {
			v, err := url.PathUnescape(m[n+1])
			if err != nil {
				return nil, nil, true
			}
			params[name] = v
		}
		return &routes[i], params, true
	}
	return nil, nil, known
}
