package apptest

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"

	"github.com/sia-bot/sia/sim/ghsim"
)

// signIn lets people sign in with GitHub at an address of the stage's, which forwards to the application.
func (s *Stage) signIn(a ghsim.App) {
	front := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		s.mu.Lock()
		defer s.mu.Unlock()
		r.SetURL(&url.URL{Scheme: "http", Host: s.address})
		r.Out.Host = r.In.Host
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}})
	s.t.Cleanup(front.Close)
	s.Public, s.config.PublicURL = front.URL, front.URL
	s.config.GitHub.ClientID, s.config.GitHub.ClientSecret = a.ClientID, a.ClientSecret
}

// InstallFor installs the app on repositories of an owner, and returns the installation.
func (s *Stage) InstallFor(owner string, names ...string) int64 {
	s.t.Helper()
	id, err := s.Sim.Install(s.config.GitHub.AppID, owner, names...)
	s.must(err)
	s.Quiet()
	return id
}

// Folder is the application's data folder.
func (s *Stage) Folder() string { return s.config.Dir }
