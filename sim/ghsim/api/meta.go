package api

// getMeta is GET /meta; installed_version marks GitHub Enterprise Server.
func getMeta(*call) (answer, error) {
	return ok(object{"verifiable_password_authentication": false, "installed_version": "3.19.0",
		"hooks": []string{"127.0.0.0/8"}, "web": []string{}, "api": []string{}, "git": []string{}}), nil
}
