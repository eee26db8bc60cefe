package pages

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/access"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

type signInPage struct {
	App, ClientID, Redirect, State, Challenge string
	People                                    []string
}

func (signInPage) title() string { return "Sign in" }

// signIn is GET /login/oauth/authorize: it asks for the account.
func (st *site) signIn(r *http.Request) (string, any, error) {
	q := r.URL.Query()
	a, back, err := st.signInTarget(q.Get("client_id"), q.Get("redirect_uri"))
	if err != nil {
		return "", nil, err
	}
	if q.Get("code_challenge") != "" && q.Get("code_challenge_method") != "S256" {
		return "", nil, fmt.Errorf("the code_challenge_method is not S256: %w", errNoPage)
	}
	p := signInPage{App: a.Name, ClientID: a.ClientID, Redirect: back, State: q.Get("state"),
		Challenge: q.Get("code_challenge")}
	for _, u := range st.world.Users() {
		if u.Kind == "User" {
			p.People = append(p.People, u.Login)
		}
	}
	return "signin", p, nil
}

func (st *site) signInTarget(clientID, redirect string) (*model.App, string, error) {
	for _, a := range st.world.Apps() {
		if a.ClientID != clientID {
			continue
		}
		if redirect == "" && len(a.Callbacks) > 0 {
			redirect = a.Callbacks[0]
		}
		u, err := url.Parse(redirect)
		if err != nil || u.Host == "" || len(a.Callbacks) > 0 && !slices.Contains(a.Callbacks, redirect) {
			return nil, "", fmt.Errorf("the redirect_uri is not associated with this application: %w", errNoPage)
		}
		return a, redirect, nil
	}
	return nil, "", fmt.Errorf("no application has the client id %q: %w", clientID, errNoPage)
}

// signedIn handles the form of the sign-in page.
func (st *site) signedIn(w http.ResponseWriter, r *http.Request) {
	st.world.Lock()
	defer st.world.Unlock()
	a, back, err := st.signInTarget(r.PostFormValue("client_id"), r.PostFormValue("redirect_uri"))
	u := st.world.User(r.PostFormValue("login"))
	if err != nil || u == nil {
		st.refuse(w, r, http.StatusNotFound, "sign-in: unknown application, address or person")
		return
	}
	code := st.issuer.NewCode(access.Grant{App: a, User: u, Redirect: back, Challenge: r.PostFormValue("code_challenge")})
	redirectWith(w, r, back, code, r.PostFormValue("state"))
}

// redirectWith redirects to an application with a code and its state.
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

// accessToken is POST /login/oauth/access_token. As on GitHub, a refusal is 200 with an error in the body.
func (st *site) accessToken(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	id, secret, _ := r.BasicAuth()
	if id == "" {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	out := st.exchange(r, id, secret)
	if !strings.Contains(r.Header.Get("Accept"), "json") {
		w.Header().Set("Content-Type", "application/x-www-form-urlencoded")
		fmt.Fprint(w, out.Encode())
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	flat := map[string]any{}
	for k := range out {
		flat[k] = out.Get(k)
		if k == "expires_in" {
			flat[k] = json.Number(out.Get(k))
		}
	}
	b, err := json.Marshal(flat)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Write(b)
}

// exchange returns a person's token to an app for a code.
func (st *site) exchange(r *http.Request, clientID, secret string) url.Values {
	st.world.Lock()
	defer st.world.Unlock()
	out := url.Values{}
	g, valid := st.issuer.Redeem(r.PostFormValue("code"))
	redirect := r.PostFormValue("redirect_uri")
	switch {
	case !valid || g.User == nil || g.App.ClientID != clientID || !g.Proves(r.PostFormValue("code_verifier")):
		out.Set("error", "bad_verification_code")
		out.Set("error_description", "The code passed is incorrect or expired.")
	case subtle.ConstantTimeCompare([]byte(secret), []byte(g.App.ClientSecret)) != 1:
		out.Set("error", "incorrect_client_credentials")
		out.Set("error_description", "The client_id and/or client_secret passed are incorrect.")
	case redirect != "" && redirect != g.Redirect:
		out.Set("error", "redirect_uri_mismatch")
		out.Set("error_description", "The redirect_uri MUST match the registered callback URL for this application.")
	default:
		out.Set("expires_in", strconv.Itoa(int(access.PersonTokenLife.Seconds())))
		out.Set("access_token", st.issuer.SignIn(g))
		out.Set("token_type", "bearer")
		out.Set("scope", "")
	}
	return out
}
