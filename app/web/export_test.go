package web

// Patterns lists every address that is served, as the mux knows it.
func Patterns() (all []string) {
	s := &site{live: &live{}}
	for _, r := range s.routes() {
		all = append(all, r.pattern)
	}
	return all
}
