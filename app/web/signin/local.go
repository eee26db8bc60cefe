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

// operatorCookie identifies browsers of this machine, so that each has its own token. Its SameSite mode lets it through
// when GitHub sends a browser back during set-up.
const operatorCookie = "sia-operator"

// tokens derives each browser's token from its cookie and a key of this process. Another program on this machine gets
// the cookie, too, if the same browser opens it: it can't derive the token.
type tokens struct{ key []byte }

func newTokens() tokens {
	key := make([]byte, 32)
	rand.Read(key)
	return tokens{key}
}

func (t tokens) of(cookie string) string {
	mac := hmac.New(sha256.New, t.key)
	mac.Write([]byte(cookie))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// local serves only this machine.
type local struct {
	next   http.Handler
	tokens tokens
	guard  guard
}

// Local serves next to the operator, who is everybody at this machine. It answers only this machine, and only requests
// for a loopback name, so that a foreign page can't use a browser to read or do anything here (DNS rebinding).
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

// loopback reports whether a name or address, with or without a port, is this machine's. A port must be a number:
// anything else could be part of a foreign name, as in 127.0.0.1:9090.example.
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
