package ghsim

import "net/http"

func (s *Server) pages() http.Handler { return http.NotFoundHandler() }
