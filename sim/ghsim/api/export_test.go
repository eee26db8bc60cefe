//test:plain
//test:thorough
package api

// Placeholder is what stands for a part of a path in a route's pattern.
var Placeholder = placeholder

// RouteView is what tests from outside see of a route.
type RouteView struct{ Method, Pattern, Auth string }

// Routes are all routes.
func Routes() []RouteView {
	var vs []RouteView
	for _, rt := range routeTable() {
		vs = append(vs, RouteView{rt.method, rt.pattern, rt.auth})
	}
	return vs
}
