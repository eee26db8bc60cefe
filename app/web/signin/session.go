package signin

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// MostFor is how long a sign-in lasts at most, which is how long GitHub's tokens of people last.
const MostFor = 8 * time.Hour

// beginFor is how long signing in may take.
const beginFor = 10 * time.Minute

// The cookies' names. Where the pages are reached by https they carry the prefix __Host-, with which a browser takes
// them from this very host alone.
// https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Set-Cookie#cookie_prefixes
const (
	sessionCookie = "sia-session"
	beginCookie   = "sia-begin"
	securePrefix  = "__Host-"
)

// maxCookie bounds what is opened, in bytes; browsers keep 4,096.
const maxCookie = 4096

// session is one sign-in of a person. It is made anew by each sign-in, and lives in the person's cookie alone.
type session struct {
	ID     string    `json:"id"`
	Token  string    `json:"token"` // GitHub's, of the person for the app
	CSRF   string    `json:"csrf"`  // that forms carry back
	Login  string    `json:"login"`
	UserID int64     `json:"user"`
	Until  time.Time `json:"until"`
}

// beginning is a sign-in that is under way.
type beginning struct {
	State    string    `json:"state"`
	Verifier string    `json:"verifier"` // of PKCE
	To       string    `json:"to"`       // the page that was asked for
	Until    time.Time `json:"until"`
}

// cookieStore puts sealed values into cookies and takes them out.
type cookieStore struct {
	seal   cipher.AEAD
	secure bool // the pages are reached by https
	now    func() time.Time
}

// name is a cookie's whole name.
func (j cookieStore) name(cookie string) string {
	if j.secure {
		return securePrefix + cookie
	}
	return cookie
}

// put gives a browser a value for a time.
func (j cookieStore) put(w http.ResponseWriter, cookie string, v any, life time.Duration) error {
	plain, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("seal a cookie: %w", err)
	}
	sealed := j.seal.Seal(nil, nil, plain, []byte(cookie))
	j.set(w, cookie, base64.RawURLEncoding.EncodeToString(sealed), int(life.Seconds()))
	return nil
}

// drop takes a value away from a browser.
func (j cookieStore) drop(w http.ResponseWriter, cookie string) { j.set(w, cookie, "", -1) }

func (j cookieStore) set(w http.ResponseWriter, cookie, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{Name: j.name(cookie), Value: value, Path: "/", MaxAge: seconds, HttpOnly: true,
		Secure: j.secure, SameSite: http.SameSiteLaxMode})
}

// open reads what put has sealed under the same name; false for anything else.
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

// session is the sign-in that a request comes with; false when there is none, or it is over.
func (j cookieStore) session(r *http.Request) (s session, ok bool) {
	ok = j.open(r, sessionCookie, &s)
	return s, ok && j.now().Before(s.Until) && s.ID != "" && s.CSRF != ""
}

// beginning is the sign-in under way that a request comes with.
func (j cookieStore) beginning(r *http.Request) (b beginning, ok bool) {
	ok = j.open(r, beginCookie, &b)
	return b, ok && j.now().Before(b.Until)
}

// newSeal seals with a key of 32 bytes, each value with a nonce of its own.
func newSeal(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// same compares in a time that does not depend on where they differ. Nothing is like nothing.
func same(a, b string) bool { return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
