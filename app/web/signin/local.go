package signin

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/app/web/viewer"
)

// operatorCookie tells the browsers of this machine apart, so that each has a token of its own. It comes along when
// GitHub sends a browser back here in set-up, which a stricter one would not.
const operatorCookie = "sia-operator"

// tokens gives each browser a token that follows from its cookie and a key of this process. Another program of this
// machine that is looked at with the same browser is sent the cookie, too: it can't make the token from it.
type tokens struct{ key []byte }

func newTokens() tokens {
	key := make([]byte, keySize)
	rand.Read(key)
	return tokens{key}
}

func (t tokens) of(cookie string) string {
	mac := hmac.New(sha256.New, t.key)
	mac.Write([]byte(cookie))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// local lets this machine alone in.
type local struct {
	next   http.Handler
	tokens tokens
	guard  guard
}

// Local is next for whoever sits at this machine: they are the operator. It answers only this
// machine, and only who asked for a loopback name, so that a page from elsewhere can't have a
// browser read or do anything here (DNS rebinding).
func Local(next http.Handler) http.Handler {
	return &local{next: next, tokens: newTokens(), guard: guard{same: http.NewCrossOriginProtection()}}
}

// ServeHTTP implements http.Handler.
func (l *local) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !loopback(r.Host) || !loopback(r.RemoteAddr) {
		http.Error(w, "SIA's pages show every repository, so they are served on this machine only: open http://localhost, "+
			"or have people sign in with GitHub (docs/setup.md).", http.StatusForbidden)
		return
	}
	c, err := r.Cookie(operatorCookie)
	if err != nil || len(c.Value) != len(rand.Text()) {
		c = &http.Cookie{Name: operatorCookie, Value: rand.Text(), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
		http.SetCookie(w, c)
	}
	token := l.tokens.of(c.Value)
	if l.guard.allows(w, r, token) {
		l.next.ServeHTTP(w, r.WithContext(viewer.With(r.Context(), viewer.Viewer{Operator: true, Token: token})))
	}
}

// loopback reports whether a name or address, with or without a port, is this machine's own. A port is a number: what
// is none could be the rest of a name that is somebody else's, as in 127.0.0.1:9090.example.
func loopback(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port, err = net.SplitHostPort(host + ":0")
	}
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		return false
	}
	ip, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
