package setup

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/web/viewer"
)

// manualPage lists each field of GitHub's form, and takes the resulting values. Secrets are not shown again, except the
// webhook's, which has to be copied to GitHub.
type manualPage struct {
	choice
	ID            string
	ClientID      string
	WebhookSecret string
	Homepage      string
	Callback      string // path
	Permissions   []Grant
	Events        []Grant
}

// manual is GET /setup/manual.
func (g *Registration) manual(w http.ResponseWriter, r *http.Request) {
	if g.registered() != nil {
		redirect(w, r, Path)
		return
	}
	g.fields(w, r, http.StatusOK,
		manualPage{WebhookSecret: g.secret, choice: choice{Name: g.conf.Name, GitHub: g.conf.GitHub,
			PublicURL: g.conf.PublicURL}}, nil)
}

func (g *Registration) fields(w http.ResponseWriter, r *http.Request, status int, p manualPage, err error) {
	p.Homepage, p.Callback, p.Permissions, p.Events = g.app.URL, g.conf.Callback, g.app.Permissions, g.app.Events
	p.PublicURL = strings.TrimRight(p.PublicURL, "/")
	g.site.show(w, status, "manual", "", frame{Title: "Register the app by hand", Token: viewer.From(r.Context()).Token,
		Error: words(err), Body: p})
}

// enter is POST /setup/manual: it stores an app registered by hand if GitHub accepts its id and key.
func (g *Registration) enter(w http.ResponseWriter, r *http.Request) {
	g.turn.Lock()
	defer g.turn.Unlock()
	if g.registered() != nil {
		redirect(w, r, Path)
		return
	}
	p := manualPage{ID: strings.TrimSpace(r.PostFormValue("id")),
		ClientID:      strings.TrimSpace(r.PostFormValue("client_id")),
		WebhookSecret: strings.TrimSpace(r.PostFormValue("webhook_secret")),
		choice:        choice{Name: g.conf.Name, GitHub: r.PostFormValue("github"), PublicURL: r.PostFormValue("public_url")}}
	secret := strings.TrimSpace(r.PostFormValue("client_secret"))
	checked, err := p.checked()
	id, idErr := strconv.ParseInt(p.ID, 10, 64)
	switch {
	case err != nil:
	case idErr != nil || id <= 0:
		err = errors.New("the app's id is a number; it stands on the app's page on GitHub under “App ID”")
	case p.WebhookSecret == "":
		err = errors.New("the webhook's secret is missing; it has to be the one that you entered on GitHub")
	case (p.ClientID == "") != (secret == ""):
		err = errors.New("client id and client secret belong together: give both, or neither, and then nobody signs in")
	default:
		err = g.checkStorage()
	}
	app := Registered{GitHub: checked.GitHub, PublicURL: checked.PublicURL, At: g.now(),
		Registration: github.Registration{ID: id, ClientID: p.ClientID, ClientSecret: secret,
			WebhookSecret: p.WebhookSecret, PrivateKey: r.PostFormValue("key")}}
	if err == nil {
		if app, err = g.verify(r.Context(), app); err != nil {
			err = fmt.Errorf("GitHub was asked with this id and key: %w", err)
		}
	}
	if err == nil {
		err = g.store(app)
	}
	if err != nil {
		g.fields(w, r, http.StatusUnprocessableEntity, p, err)
		return
	}
	redirect(w, r, Path)
}
