package signin

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/look"
	"github.com/sia-bot/sia/app/web/viewer"
)

// invitedCookie is the guest's cookie. guestFor is its lifetime, and that of a link nobody used.
const (
	invitedCookie = "sia-invited"
	guestFor      = 2 * time.Hour
)

// Invitation is a link that lets one browser in as the operator, once. It is safe for concurrent use.
type Invitation struct {
	path   string
	secure bool
	now    func() time.Time
	tokens tokens
	guard  guard

	mu    sync.Mutex
	link  string    // the token of the link; "" once used
	guest string    // the guest's cookie; "": nobody has used the link
	until time.Time // the end of the link, or of the guest's stay
}

// NewInvitation makes a link to a path, such as /setup. secure means that it is reached by https.
func NewInvitation(path string, secure bool, now func() time.Time) *Invitation {
	i := &Invitation{path: path, secure: secure, now: now, tokens: newTokens(),
		guard: guard{same: http.NewCrossOriginProtection()}}
	i.Renew()
	return i
}

// Renew makes another link if the last one has expired, or the stay of the guest that used it. It reports whether it
// did.
func (i *Invitation) Renew() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.now().Before(i.until) {
		return false
	}
	i.link, i.guest, i.until = rand.Text(), "", i.now().Add(guestFor)
	return true
}

// Drop makes a link that nobody has used invalid. A guest stays.
func (i *Invitation) Drop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.link = ""
}

// Link is the path with the token; only the operator may see it.
func (i *Invitation) Link() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.path + "?" + tokenField + "=" + i.link
}

// enterPath, below the link's path, is the target of the form that lets a browser in.
const enterPath = "/enter"

// tokenField is the field of that form, and the link's parameter.
const tokenField = "token"

// Invited serves next to the first browser in which somebody opens the link and presses the button, and refuses all
// others. Opening the link alone does not use it up: chats and mail filters open links.
func Invited(i *Invitation, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie(i.cookie())
		guest := err == nil && i.knows(c.Value)
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		switch linked := r.URL.Path == i.path && r.URL.Query().Has(tokenField); {
		case reads && r.URL.Path == i.path+stylePath:
			look.Style(w, r)
			return
		case linked && reads && guest:
			redirect(w, r, i.path) // removes the token from the browser's address
			return
		case linked && reads && i.fits(r.URL.Query().Get(tokenField)):
			show(w, http.StatusOK, page{Title: "Set SIA up in this browser", Style: i.path + stylePath,
				Text: []string{"This link lets one browser in, once, for two hours. Is it this one?"},
				Form: form{Action: i.path + enterPath, Field: tokenField, Value: r.URL.Query().Get(tokenField),
					Text: "Go on in this browser"}})
			return
		case r.URL.Path == i.path+enterPath && r.Method == http.MethodPost && !guest:
			if i.enter(w, r) {
				return
			}
		}
		if !guest {
			show(w, http.StatusForbidden, page{Title: "There is nothing here for you", Style: i.path + stylePath,
				Text: []string{"If you set SIA up, open the last link on its terminal: it lets one browser in, and is valid for " +
					"two hours.", "Starting SIA again prints another."}})
			return
		}
		token := i.tokens.of(c.Value)
		if i.guard.allows(w, r, token) {
			next.ServeHTTP(w, r.WithContext(viewer.With(r.Context(), viewer.Viewer{Operator: true, Token: token})))
		}
	})
}

// fits reports whether a token is that of the unused link.
func (i *Invitation) fits(token string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return same(i.link, token) && i.now().Before(i.until)
}

// enter lets in a browser that sends the link's token with the form; it returns false for all others.
func (i *Invitation) enter(w http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if i.guard.same.Check(r) != nil || r.ParseForm() != nil {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if !same(i.link, r.PostForm.Get(tokenField)) || !i.now().Before(i.until) {
		return false
	}
	i.link, i.guest, i.until = "", rand.Text(), i.now().Add(guestFor)
	http.SetCookie(w, &http.Cookie{Name: i.cookie(), Value: i.guest, Path: "/", HttpOnly: true, Secure: i.secure,
		MaxAge: int(guestFor.Seconds()), SameSite: http.SameSiteLaxMode})
	redirect(w, r, i.path)
	return true
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
