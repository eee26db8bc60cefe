package ghsim

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// grant is a one-time code of the web application flow or of the manifest flow.
type grant struct {
	app     *app
	user    *user // nil in the manifest flow
	expires time.Time
}

// userToken is what a person's sign-in gives an app: the person's rights, where
// the app is installed, and no more than the app's.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
type userToken struct {
	app     *app
	user    *user
	expires time.Time
}

const (
	grantLife     = 10 * time.Minute
	userTokenLife = 8 * time.Hour
)

// SetCallbackURL is where sign-in may send people back to: an address must begin
// with it. Without one, any address is taken.
func (s *Server) SetCallbackURL(appID int64, prefix string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.apps[appID]
	if a == nil {
		return fmt.Errorf("no app %d", appID)
	}
	a.callback = prefix
	return nil
}

func secretText(prefix string) string {
	var b [20]byte
	rand.Read(b[:])
	return prefix + hex.EncodeToString(b[:])
}

// newGrant is a code for an app, once; the mutex is held.
func (s *Server) newGrant(a *app, u *user) string {
	code := secretText("")
	s.grants[code] = grant{a, u, s.now().Add(grantLife)}
	return code
}

// takeGrant redeems a code.
func (s *Server) takeGrant(code string) (grant, bool) {
	g, known := s.grants[code]
	delete(s.grants, code)
	return g, known && s.now().Before(g.expires)
}

type signInPage struct {
	App, ClientID, Redirect, State string
	People                         []string
}

func (signInPage) title() string { return "Sign in" }

// signIn is GET /login/oauth/authorize: it asks as whom to sign in.
func (st *site) signIn(r *http.Request) (string, any, error) {
	q := r.URL.Query()
	a, back, err := st.s.signInTarget(q.Get("client_id"), q.Get("redirect_uri"))
	if err != nil {
		return "", nil, err
	}
	p := signInPage{App: a.name, ClientID: a.clientID, Redirect: back, State: q.Get("state")}
	for _, k := range sortedKeys(st.s.users) {
		if st.s.users[k].kind == "User" {
			p.People = append(p.People, st.s.users[k].login)
		}
	}
	return "signin", p, nil
}

func (s *Server) signInTarget(clientID, redirect string) (*app, string, error) {
	for _, a := range s.apps {
		if a.clientID != clientID {
			continue
		}
		if redirect == "" {
			redirect = a.callback
		}
		u, err := url.Parse(redirect)
		if err != nil || u.Host == "" || !strings.HasPrefix(redirect, a.callback) {
			return nil, "", fmt.Errorf("the redirect_uri is not associated with this application: %w", errNoPage)
		}
		return a, redirect, nil
	}
	return nil, "", fmt.Errorf("no application has the client id %q: %w", clientID, errNoPage)
}

// signedIn is the answer of the sign-in page.
func (st *site) signedIn(w http.ResponseWriter, r *http.Request) {
	st.s.mu.Lock()
	defer st.s.mu.Unlock()
	a, back, err := st.s.signInTarget(r.PostFormValue("client_id"), r.PostFormValue("redirect_uri"))
	u := st.s.users[lower(r.PostFormValue("login"))]
	if err != nil || u == nil {
		http.Error(w, "sign-in: unknown application, address or person", http.StatusNotFound)
		return
	}
	redirectWith(w, r, back, st.s.newGrant(a, u), r.PostFormValue("state"))
}

// redirectWith goes back to an application with a code and its state.
func redirectWith(w http.ResponseWriter, r *http.Request, back, code, state string) {
	u, err := url.Parse(back)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	q := u.Query()
	q.Set("code", code)
	if state != "" {
		q.Set("state", state)
	}
	u.RawQuery = q.Encode()
	http.Redirect(w, r, u.String(), http.StatusFound)
}

// accessToken is POST /login/oauth/access_token. As on GitHub a refusal is 200
// with an error in the body.
func (st *site) accessToken(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	s := st.s
	s.mu.Lock()
	id, given, _ := r.BasicAuth()
	if id == "" {
		id, given = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	g, valid := s.takeGrant(r.PostFormValue("code"))
	out := url.Values{}
	switch {
	case !valid || g.user == nil || g.app.clientID != id:
		out.Set("error", "bad_verification_code")
		out.Set("error_description", "The code passed is incorrect or expired.")
	case subtle.ConstantTimeCompare([]byte(given), []byte(g.app.clientSecret)) != 1:
		out.Set("error", "incorrect_client_credentials")
		out.Set("error_description", "The client_id and/or client_secret passed are incorrect.")
	default:
		raw := secretText("ghu_")
		s.userTokens[raw] = &userToken{g.app, g.user, s.now().Add(userTokenLife)}
		out.Set("access_token", raw)
		out.Set("token_type", "bearer")
		out.Set("scope", "")
	}
	s.mu.Unlock()
	if !strings.Contains(r.Header.Get("Accept"), "json") {
		w.Header().Set("Content-Type", "application/x-www-form-urlencoded")
		fmt.Fprint(w, out.Encode())
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	flat := map[string]string{}
	for k := range out {
		flat[k] = out.Get(k)
	}
	b, err := json.Marshal(flat)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Write(b)
}

// narrow is a user token's rights in a repository: what the app was granted
// there, down to the person's role.
func (s *Server) narrow(t *userToken, r *repository) *token {
	role := r.role(t.user.login)
	if !atLeast(role, "read") {
		return nil
	}
	for _, i := range s.installed(r) {
		if i.app != t.app {
			continue
		}
		perms := maps.Clone(i.permissions)
		for p, level := range perms {
			if level != "read" && !atLeast(role, "write") && !(atLeast(role, "triage") && (p == "issues" || p == "pull_requests")) {
				perms[p] = "read"
			}
		}
		return &token{inst: i, permissions: perms, repos: []*repository{r}, expires: t.expires, user: t.user}
	}
	return nil
}

func (s *Server) getSelf(c *call) (answer, error) { return ok(s.profileJSON(c.user.user)), nil }

// listSelfInstallations lists where the person meets the app.
func (s *Server) listSelfInstallations(c *call) (answer, error) {
	var is []*installation
	for _, id := range slices.Sorted(maps.Keys(s.insts)) {
		if i := s.insts[id]; i.app == c.user.app && !i.removed && len(s.visible(c.user, i)) > 0 {
			is = append(is, i)
		}
	}
	return page(c, is, "installations", s.installationJSON)
}

// visible are the repositories of an installation that a person can read.
func (s *Server) visible(t *userToken, i *installation) []*repository {
	return slices.DeleteFunc(slices.Clone(i.repos), func(r *repository) bool { return !atLeast(r.role(t.user.login), "read") })
}

func (s *Server) listSelfRepos(c *call) (answer, error) {
	i := s.insts[c.id("id")]
	if i == nil || i.removed || i.app != c.user.app || len(s.visible(c.user, i)) == 0 {
		return answer{}, notFound()
	}
	a, err := page(c, s.visible(c.user, i), "repositories", func(r *repository) object {
		return s.repoFullJSON(r, &token{inst: i, permissions: i.permissions, user: c.user.user})
	})
	a.value.(object)["repository_selection"] = i.selection()
	return a, err
}
