// Package signin authenticates viewers of SIA's pages. It has three handlers, and each puts a [viewer.Viewer] into the
// context of the requests that it lets through:
//
//   - [New]: people sign in with GitHub, by the app's OAuth, and see what GitHub lets them see;
//   - [Local]: everybody at this machine is the operator, and nobody else gets in;
//   - [Invited]: the browser that opens a link from the operator's terminal is the operator's, for set-up only.
//
// A person's rights are read from GitHub with the person's token, at most once a minute for each sign-in ([lookAgain]).
// While GitHub does not answer, the last rights are valid for [knownFor]. Nothing about a sign-in is stored on the
// server: it is in the person's cookie, sealed with a key derived from the app's client secret. A sign-in ends after
// [Config.Lifetime], when the person signs out, and when GitHub no longer accepts its token.
//
// In all handlers, a request that changes something needs the viewer's token (the form field [Field], or the header
// [Header]), and must not come from another site.
//
// The package may import app/web/viewer, app/look, app/clientaddr, app/github and sia. Start reading at [New].
//
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
package signin

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/sia-bot/sia/app/clientaddr"
	"github.com/sia-bot/sia/app/expiring"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/look"
	"github.com/sia-bot/sia/app/web/viewer"
)

// CallbackPath is where GitHub sends people back to. After the pages' public address, it must be a callback address of
// the app.
const CallbackPath = "/signin/callback"

// The other addresses of signing in, and the pages' style sheet, which needs no sign-in.
const (
	askPath   = "/signin"
	beginPath = "/signin/github"
	outPath   = "/signout"
	stylePath = "/style.css"
)

// runnersPath is the prefix of the runners' API, which this server does not have: a runner retries after 404.
const runnersPath = "/runner/"

// Config names the app with which people sign in, and addresses. All fields but Transport and Lifetime are required.
type Config struct {
	GitHub       string // GitHub's address for people, such as https://github.com
	API          string // its REST API, such as https://api.github.com/
	ClientID     string // of the app
	ClientSecret string
	PublicURL    string // the pages' address: scheme and host, no path
	Installed    Installed
	Logger       *slog.Logger
	Now          func() time.Time

	Transport http.RoundTripper // to GitHub; nil: http.DefaultTransport
	Lifetime  time.Duration     // lifetime of a sign-in; 0, or more than that, is [MaxLifetime]
}

// Installed knows the app's installations. [github.App] implements it.
type Installed interface {
	// RepositoryCount returns the number of an installation's repositories.
	RepositoryCount(ctx context.Context, installation int64) (int, error)
}

// burst is how many sign-ins a client address may finish at once, with one more each second: each costs two requests to
// GitHub. People of one company may share an address.
const burst = 30

// oauthHandler lets in people who signed in with GitHub.
type oauthHandler struct {
	next    http.Handler
	oauth   oauth2.Config
	forge   forge
	network *http.Client // to GitHub, for tokens
	cookies cookieStore
	known   *rightsCache
	guard   guard
	limit   *clientaddr.Limiter
	log     *slog.Logger
	now     func() time.Time
	lasts   time.Duration // of a sign-in
}

// New serves next to people who signed in with GitHub. It is safe for concurrent use.
func New(c Config, next http.Handler) (http.Handler, error) {
	public, err := url.Parse(strings.TrimRight(c.PublicURL, "/"))
	if err != nil || public.Host == "" || public.Path != "" || public.Scheme != "http" && public.Scheme != "https" {
		return nil, fmt.Errorf("sign-in: --public-url %q has to be scheme and host alone, such as https://sia.example.com",
			c.PublicURL)
	}
	seal, err := viewer.Seal(c.ClientSecret, sealFor)
	if err != nil {
		return nil, err
	}
	same := http.NewCrossOriginProtection()
	if err := same.AddTrustedOrigin(public.String()); err != nil {
		return nil, fmt.Errorf("sign-in: --public-url: %w", err)
	}
	people, err := github.NewPeople(c.API, c.Transport)
	if err != nil {
		return nil, fmt.Errorf("sign-in: %w", err)
	}
	lasts := MaxLifetime
	if c.Lifetime > 0 {
		lasts = min(c.Lifetime, MaxLifetime)
	}
	f := forge{people: people, installed: c.Installed, log: c.Logger,
		counts: expiring.New[int64, int](c.Now, lookAgain, maxKnown)}
	web := strings.TrimRight(c.GitHub, "/")
	return &oauthHandler{
		next: next, forge: f, network: &http.Client{Transport: c.Transport, Timeout: askFor},
		cookies: cookieStore{seal: seal, secure: public.Scheme == "https", now: c.Now},
		oauth: oauth2.Config{
			ClientID: c.ClientID, ClientSecret: c.ClientSecret, RedirectURL: public.String() + CallbackPath,
			Endpoint: oauth2.Endpoint{AuthURL: web + "/login/oauth/authorize", TokenURL: web + "/login/oauth/access_token",
				AuthStyle: oauth2.AuthStyleInParams},
		},
		known: newRightsCache(f.viewer, c.Now, lasts), guard: guard{same: same},
		limit: clientaddr.NewLimiter(burst, c.Now), log: c.Logger,
		now: c.Now, lasts: lasts,
	}, nil
}

// ServeHTTP implements http.Handler.
func (d *oauthHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == stylePath:
		look.Style(w, r)
	case path == askPath:
		d.get(w, r, d.ask)
	case path == beginPath:
		d.get(w, r, d.begin)
	case path == CallbackPath:
		d.get(w, r, d.callback)
	case strings.HasPrefix(path, runnersPath):
		http.NotFound(w, r)
	default:
		d.pages(w, r)
	}
}

// get serves a GET or HEAD request.
func (d *oauthHandler) get(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "This page is only read.", http.StatusMethodNotAllowed)
		return
	}
	serve(w, r)
}

// pages serves the pages of next.
func (d *oauthHandler) pages(w http.ResponseWriter, r *http.Request) {
	s, ok := d.cookies.session(r)
	if !ok || d.known.hasEnded(s.ID) {
		d.refuse(w, r)
		return
	}
	if !d.guard.allows(w, r, s.CSRF) {
		return
	}
	if r.URL.Path == outPath {
		d.out(w, r, s)
		return
	}
	v, err := d.known.of(r.Context(), s)
	switch {
	case isRevoked(err):
		d.known.end(s)
		d.cookies.drop(w, sessionCookie)
		d.refuse(w, r)
		return
	case err != nil:
		d.log.WarnContext(r.Context(), "what a person may see is not known", "login", s.Login, "error", err)
		w.Header().Set("Retry-After", "30")
		show(w, http.StatusServiceUnavailable, page{Title: "GitHub does not answer", Text: []string{
			"What you may see is GitHub's to say, and it does not answer at the moment.",
			"Try again in a minute; https://www.githubstatus.com says whether it is down. You are still signed in."}})
		return
	}
	v.Token = s.CSRF
	d.next.ServeHTTP(w, r.WithContext(viewer.With(r.Context(), v)))
}

// refuse sends people who are not signed in to the sign-in page, if they requested a page. If they sent a form, it
// shows the form's texts, which would otherwise be lost.
func (d *oauthHandler) refuse(w http.ResponseWriter, r *http.Request) {
	person := strings.Contains(r.Header.Get("Accept"), "text/html")
	switch reads := r.Method == http.MethodGet || r.Method == http.MethodHead; {
	case person && reads:
		redirect(w, r, askPath+"?"+url.Values{"to": {r.URL.RequestURI()}}.Encode())
	case person && r.Method == http.MethodPost:
		if !d.guard.reads(w, r) {
			return
		}
		p := page{Title: "You are not signed in any more", Text: []string{"Nothing was done."}, Written: writtenIn(r),
			Link: beginPath + "?" + url.Values{"to": {formPath(r)}}.Encode(), LinkText: "Sign in with GitHub"}
		if p.Written != nil {
			p.Text = append(p.Text, "Copy what you wrote, sign in, and send it again.")
		}
		show(w, http.StatusUnauthorized, p)
	default:
		http.Error(w, "You are not signed in, or not any more: sign in at "+askPath+".", http.StatusUnauthorized)
	}
}

// ask is GET /signin: it offers to sign in, and does not start by itself, so that people who signed out stay signed
// out.
func (d *oauthHandler) ask(w http.ResponseWriter, r *http.Request) {
	to := localPath(r.URL.Query().Get("to"))
	if s, ok := d.cookies.session(r); ok && !d.known.hasEnded(s.ID) {
		redirect(w, r, to)
		return
	}
	p := page{Title: "Sign in", Link: beginPath + "?" + url.Values{"to": {to}}.Encode(), LinkText: "Sign in with GitHub",
		Text: []string{"You see the tasks of exactly those repositories that GitHub lets you see and SIA is installed on."}}
	if r.URL.Query().Has("out") {
		p.Title = "You are signed out"
	}
	show(w, http.StatusOK, p)
}

// begin is GET /signin/github: it redirects to GitHub with a state and a PKCE challenge bound to this browser.
func (d *oauthHandler) begin(w http.ResponseWriter, r *http.Request) {
	b := beginning{State: rand.Text(), Verifier: oauth2.GenerateVerifier(), To: localPath(r.URL.Query().Get("to")),
		Until: d.now().Add(beginFor)}
	if err := d.cookies.put(w, beginCookie, b, beginFor); err != nil {
		d.fail(w, r, "begin a sign-in", err)
		return
	}
	redirect(w, r, d.oauth.AuthCodeURL(b.State, oauth2.S256ChallengeOption(b.Verifier)))
}

// callback is where GitHub sends a person back to, with a code for their token.
func (d *oauthHandler) callback(w http.ResponseWriter, r *http.Request) {
	b, ok := d.cookies.beginning(r)
	q := r.URL.Query()
	again := page{Title: "You are not signed in", Link: beginPath, LinkText: "Sign in with GitHub"}
	if !ok || !same(b.State, q.Get("state")) {
		again.Text = []string{"This sign-in did not begin in this browser, or took longer than ten minutes."}
		show(w, http.StatusBadRequest, again) // a sign-in in progress continues: anybody can lead a browser here
		return
	}
	d.cookies.drop(w, beginCookie)
	if q.Get("code") == "" || len(q.Get("code")) > maxCode {
		again.Text = []string{"GitHub did not let you in. If you chose Cancel there, nothing has happened."}
		show(w, http.StatusForbidden, again)
		return
	}
	if client := clientaddr.Of(r); !d.limit.Allow(client) { // only now: requests refused above cause no request to GitHub
		if d.limit.ShouldLog() {
			d.log.WarnContext(r.Context(), "too many sign-ins from one address were refused", "from", client, "fix",
				"if it is a proxy's in front of SIA, name it with --trusted-proxies, and each visitor is counted alone")
		}
		w.Header().Set("Retry-After", "60")
		again.Text = []string{"Too many people signed in from your address. Wait a minute."}
		show(w, http.StatusTooManyRequests, again)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), oauth2.HTTPClient, d.network), askFor)
	defer cancel()
	s, err := d.session(ctx, q.Get("code"), b.Verifier)
	if err == nil {
		err = d.cookies.put(w, sessionCookie, s, s.Until.Sub(d.now()))
	}
	if err != nil {
		d.log.WarnContext(ctx, "a person could not sign in", "error", redacted(err))
		again.Text = []string{"GitHub's answer was no, or did not come. Try again; if it goes on, the server's log says why."}
		show(w, http.StatusBadGateway, again)
		return
	}
	d.log.InfoContext(ctx, "signed in", "login", s.Login)
	redirect(w, r, b.To)
}

// maxCode bounds a code; GitHub's have 20 characters.
const maxCode = 200

// session exchanges a code for a new session.
func (d *oauthHandler) session(ctx context.Context, code, verifier string) (session, error) {
	token, err := d.oauth.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if err != nil {
		return session{}, err
	}
	who, err := d.forge.people.Who(ctx, token.AccessToken)
	if err != nil {
		return session{}, err
	}
	s := session{ID: rand.Text(), Token: token.AccessToken, CSRF: rand.Text(), Login: who.Login, UserID: who.ID,
		Until: d.now().Add(d.lasts)}
	if life := time.Until(token.Expiry); !token.Expiry.IsZero() && life < d.lasts {
		s.Until = d.now().Add(life)
	}
	return s, nil
}

// out is POST /signout: the token is revoked at GitHub, so that a copy of the cookie is useless.
func (d *oauthHandler) out(w http.ResponseWriter, r *http.Request, s session) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "Signing out is a form of the pages.", http.StatusMethodNotAllowed)
		return
	}
	d.known.end(s)
	d.cookies.drop(w, sessionCookie)
	ctx, cancel := context.WithTimeout(r.Context(), askFor)
	defer cancel()
	if err := d.forge.people.RevokeToken(ctx, d.oauth.ClientID, d.oauth.ClientSecret, s.Token); err != nil {
		d.log.WarnContext(ctx, "GitHub did not take a person's token back; it ends by itself within eight hours", "login",
			s.Login, "error", redacted(err))
	}
	redirect(w, r, askPath+"?out")
}

func (d *oauthHandler) fail(w http.ResponseWriter, r *http.Request, op string, err error) {
	d.log.ErrorContext(r.Context(), op, "error", err)
	show(w, http.StatusInternalServerError, page{Title: "Something went wrong here",
		Text: []string{"The server's log says what."}})
}

// redirect redirects a browser. Pages here are personal, so nothing on the way may cache them.
func redirect(w http.ResponseWriter, r *http.Request, to string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", referrer)
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// redacted is an OAuth error without the response body, which could contain a token.
func redacted(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		return fmt.Errorf("GitHub gives no token: %s", cmp.Or(refused.ErrorCode, "it answered "+refused.Response.Status))
	}
	return err
}
