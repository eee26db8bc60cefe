package web

import "net/http"

// Patterns lists every address as a pattern of the mux.
func Patterns() (all []string) {
	s := &site{live: &live{}}
	for _, r := range s.routes() {
		all = append(all, r.pattern)
	}
	return all
}

// PatternOf is the pattern that matches a request.
func PatternOf(r *http.Request) string {
	mux := http.NewServeMux()
	for _, p := range Patterns() {
		mux.HandleFunc(p, func(http.ResponseWriter, *http.Request) {})
	}
	_, pattern := mux.Handler(r)
	return pattern
}
