package ghsim

// getMeta is GET /meta; installed_version marks GitHub Enterprise Server.
func (s *Server) getMeta(*call) (answer, error) {
	return ok(object{"verifiable_password_authentication": false, "installed_version": "3.19.0",
		"hooks": []string{"127.0.0.0/8"}, "web": []string{}, "api": []string{}, "git": []string{}}), nil
}

// getRateLimit answers without counting against the limit.
func (s *Server) getRateLimit(c *call) (answer, error) {
	w := c.window()
	core := object{"limit": s.rateMax, "used": w.used, "remaining": max(0, s.rateMax-w.used), "reset": w.reset.Unix()}
	return ok(object{"rate": core, "resources": object{"core": core, "search": core, "graphql": core, "integration_manifest": core}}), nil
}
