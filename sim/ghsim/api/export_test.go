//test:plain
//test:thorough
package api

// Placeholder matches a parameter in a route's pattern.
var Placeholder = placeholder

// RouteView is a route for external tests.
type RouteView struct{ Method, Pattern, Auth string }

// Routes are all routes.
func Routes() []RouteView {
	var vs []RouteView
	for _, rt := range routeTable() {
		vs = append(vs, RouteView{rt.method, rt.pattern, rt.auth})
	}
	return vs
}
