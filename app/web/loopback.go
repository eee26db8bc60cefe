package web

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"

	"github.com/sia-bot/sia/app/web/viewer"
)

// Loopback lets whoever sits at this machine see and do everything, and nobody else anything: it
// answers this machine alone, and only who asks for a loopback name, so that a page from elsewhere
// can't have a browser read these (DNS rebinding). What a form sends has to carry the token of this
// process, so that no other site can send one.
//
// alone says that nothing in front of the pages passes on what others ask. Where something may, it is
// not known who asks, so nothing can be done there.
func Loopback(next http.Handler, alone bool) http.Handler {
	operator := viewer.Viewer{Operator: true, Token: rand.Text()}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback(r.Host) || !loopback(r.RemoteAddr) {
			http.Error(w, "SIA's pages show every repository, so they are served on this machine only: open http://localhost.",
				http.StatusForbidden)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			if !alone {
				http.Error(w, "Who you are is not known here, because something else passes on what you ask; say it in a "+
					"comment on GitHub instead.", http.StatusForbidden)
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, formLimit)
			if subtle.ConstantTimeCompare([]byte(r.FormValue("csrf")), []byte(operator.Token)) != 1 {
				http.Error(w, "The form is not from a page of this server, or from before it was started anew: load the page "+
					"again, and send it once more.", http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(w, r.WithContext(viewer.With(r.Context(), operator)))
	})
}

// loopback reports whether a name or address, with or without a port, is this
// machine's own.
func loopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}
