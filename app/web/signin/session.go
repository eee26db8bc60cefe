package signin

import (
	"crypto/cipher"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// MaxLifetime is the longest lifetime of a sign-in: that of GitHub's user access tokens.
const MaxLifetime = 8 * time.Hour

// beginFor is how long signing in may take.
const beginFor = 10 * time.Minute

// sealFor is the purpose of the cookies' key, which is derived from the app's client secret. All servers of an app have
// that, so each can open the others' cookies; a new secret signs everybody out.
const sealFor = "SIA: cookies of sign-ins, 1"

// The cookies' names. If the pages are reached by https, they have the prefix __Host-, with which a browser accepts
// them only from this host.
// https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Set-Cookie#cookie_prefixes
const (
	sessionCookie = "sia-session"
	beginCookie   = "sia-begin"
	securePrefix  = "__Host-"
)

// maxCookie bounds a cookie that is opened, in bytes; browsers keep 4,096.
const maxCookie = 4096

// session is one sign-in of a person. Each sign-in makes a new one, which is stored only in the person's cookie.
type session struct {
	ID     string    `json:"id"`
	Token  string    `json:"token"` // GitHub's user access token for the app
	CSRF   string    `json:"csrf"`  // returned by forms
	Login  string    `json:"login"`
	UserID int64     `json:"user"`
	Until  time.Time `json:"until"`
}

// beginning is a sign-in in progress.
type beginning struct {
	State    string    `json:"state"`
	Verifier string    `json:"verifier"` // of PKCE
	To       string    `json:"to"`       // the requested page
	Until    time.Time `json:"until"`
}

// cookieStore writes and reads sealed values in cookies.
type cookieStore struct {
	seal   cipher.AEAD
	secure bool // the pages are reached by https
	now    func() time.Time
}

// name is a cookie's full name.
func (j cookieStore) name(cookie string) string {
	if j.secure {
		return securePrefix + cookie
	}
	return cookie
}

// put sets a cookie with a sealed value and a lifetime.
func (j cookieStore) put(w http.ResponseWriter, cookie string, v any, life time.Duration) error {
	plain, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("seal a cookie: %w", err)
	}
	sealed := j.seal.Seal(nil, nil, plain, []byte(cookie))
	j.set(w, cookie, base64.RawURLEncoding.EncodeToString(sealed), int(life.Seconds()))
	return nil
}

// drop deletes a cookie.
func (j cookieStore) drop(w http.ResponseWriter, cookie string) { j.set(w, cookie, "", -1) }

func (j cookieStore) set(w http.ResponseWriter, cookie, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{Name: j.name(cookie), Value: value, Path: "/", MaxAge: seconds, HttpOnly: true,
		Secure: j.secure, SameSite: http.SameSiteLaxMode})
}

// open reads a value that put sealed under the same name; false for anything else.
func (j cookieStore) open(r *http.Request, cookie string, v any) bool {
	c, err := r.Cookie(j.name(cookie))
	if err != nil || len(c.Value) > maxCookie {
		return false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return false
	}
	plain, err := j.seal.Open(nil, nil, sealed, []byte(cookie))
	return err == nil && json.Unmarshal(plain, v) == nil
}

// session returns the request's session; false when there is none, or it has expired.
func (j cookieStore) session(r *http.Request) (s session, ok bool) {
	ok = j.open(r, sessionCookie, &s)
	return s, ok && j.now().Before(s.Until) && s.ID != "" && s.CSRF != ""
}

// beginning returns the request's sign-in in progress.
func (j cookieStore) beginning(r *http.Request) (b beginning, ok bool) {
	ok = j.open(r, beginCookie, &b)
	return b, ok && j.now().Before(b.Until)
}

// same compares in constant time. Empty strings are never equal.
func same(a, b string) bool { return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
