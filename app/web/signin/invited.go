package signin

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/web/viewer"
)

// invitedCookie is the guest's, and guestFor how long the guest may stay.
const (
	invitedCookie = "sia-invited"
	guestFor      = 2 * time.Hour
)

// Invitation is a link that lets one browser in as the operator, once. It lives as long as the process. It is safe for
// concurrent use.
type Invitation struct {
	path   string
	secure bool
	now    func() time.Time
	tokens tokens
	guard  guard

	mu    sync.Mutex
	link  string // the token of the link; "" once it was used
	guest string // the guest's cookie
	until time.Time
}

// NewInvitation makes a link to a path, such as /setup. secure says that it is reached by https.
func NewInvitation(path string, secure bool, now func() time.Time) *Invitation {
	return &Invitation{path: path, secure: secure, now: now, tokens: newTokens(),
		guard: guard{same: http.NewCrossOriginProtection()}, link: rand.Text()}
}

// Link is the path with the token; it is for the operator's eyes alone.
func (i *Invitation) Link() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.path + "?token=" + i.link
}

// Invited is next for the browser that opens the link first, and nothing for everybody else.
func Invited(i *Invitation, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Path == i.path && r.URL.Query().Has("token") {
			i.take(w, r)
			return
		}
		c, err := r.Cookie(i.cookie())
		if err != nil || !i.knows(c.Value) {
			http.Error(w, "There is nothing here for you. If you set SIA up: open the link on its terminal; it lets one "+
				"browser in. Starting SIA again prints another.", http.StatusForbidden)
			return
		}
		token := i.tokens.of(c.Value)
		if i.guard.allows(w, r, token) {
			next.ServeHTTP(w, r.WithContext(viewer.With(r.Context(), viewer.Viewer{Operator: true, Token: token})))
		}
	})
}

// take lets in who has the link's token, and leads them away from the address that holds it.
func (i *Invitation) take(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if same(i.link, r.URL.Query().Get("token")) {
		i.link, i.guest, i.until = "", rand.Text(), i.now().Add(guestFor)
		http.SetCookie(w, &http.Cookie{Name: i.cookie(), Value: i.guest, Path: "/", HttpOnly: true, Secure: i.secure,
			MaxAge: int(guestFor.Seconds()), SameSite: http.SameSiteLaxMode})
	}
	see(w, r, i.path)
}

// knows reports whether a cookie is the guest's.
func (i *Invitation) knows(cookie string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return same(i.guest, cookie) && i.now().Before(i.until)
}

func (i *Invitation) cookie() string {
	if i.secure {
		return securePrefix + invitedCookie
	}
	return invitedCookie
}
