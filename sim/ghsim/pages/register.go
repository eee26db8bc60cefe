package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/access"
	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/world"
)

// manifest is the manifest of an app's registration.
// https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
type manifest struct {
	Name        string `json:"name"`
	URL         string `json:"url"`
	RedirectURL string `json:"redirect_url"`
	SetupURL    string `json:"setup_url"`
	Hook        struct {
		URL    string `json:"url"`
		Active *bool  `json:"active"`
	} `json:"hook_attributes"`
	CallbackURLs []string          `json:"callback_urls"`
	Permissions  map[string]string `json:"default_permissions"`
	Events       []string          `json:"default_events"`
}

// maxAppName bounds an app's name, in characters.
// https://docs.github.com/en/apps/creating-github-apps/registering-a-github-app/registering-a-github-app
const maxAppName = 34

type registerPage struct {
	Name, Owner, Manifest, State string // no owner: the person who registers it
	Permissions                  map[string]string
	Events                       []string
}

func (registerPage) title() string { return "Register an app" }

// register is POST /settings/apps/new, or that of an organization, sent by an application's page: it asks for
// confirmation.
func (st *site) register(r *http.Request) (string, any, error) {
	raw := r.PostFormValue("manifest")
	m, err := parseManifest(raw)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", err, errNoPage)
	}
	owner := r.PathValue("org")
	if u := st.world.User(owner); owner != "" && (u == nil || u.Kind != "Organization") {
		return "", nil, fmt.Errorf("organization %s: %w", owner, errNoPage)
	}
	return "register", registerPage{m.Name, owner, raw, r.URL.Query().Get("state"), m.Permissions, m.Events}, nil
}

func parseManifest(raw string) (*manifest, error) {
	var m manifest
	if err := json.Unmarshal([]byte(raw), &m); err != nil {
		return nil, fmt.Errorf("app manifest: %w", err)
	}
	if m.Name == "" || m.URL == "" || m.RedirectURL == "" {
		return nil, fmt.Errorf("app manifest: name, url and redirect_url are required")
	}
	if len(m.Name) > maxAppName {
		return nil, fmt.Errorf("app manifest: the name is longer than %d characters", maxAppName)
	}
	known := append(world.Events(), "workflow_job") // which is never sent
	for _, e := range m.Events {
		if !slices.Contains(known, e) {
			return nil, fmt.Errorf("app manifest: the simulator has no event %q", e)
		}
	}
	return &m, nil
}

// registered creates the app and redirects with the code for its keys.
func (st *site) registered(w http.ResponseWriter, r *http.Request) {
	m, err := parseManifest(r.PostFormValue("manifest"))
	if err != nil {
		st.refuse(w, r, http.StatusUnprocessableEntity, err.Error())
		return
	}
	key, err := st.issuer.NewKey()
	if err != nil {
		st.refuse(w, r, http.StatusInternalServerError, err.Error())
		return
	}
	st.world.Lock()
	defer st.world.Unlock()
	slug := strings.ToLower(strings.Join(strings.Fields(m.Name), "-"))
	if st.world.AppBySlug(slug) != nil {
		st.refuse(w, r, http.StatusUnprocessableEntity, "the name "+m.Name+" is taken")
		return
	}
	perms := map[string]string{"metadata": "read"}
	for p, level := range m.Permissions {
		perms[p] = level
	}
	owner := st.world.User(r.PostFormValue("owner"))
	if owner == nil || owner.Kind != "Organization" {
		owner = st.world.EnsureUser("app-owner", "User")
	}
	a := st.world.RegisterApp(slug, m.Name, owner, key, perms, m.Events)
	a.SetupURL, a.Callbacks = m.SetupURL, m.CallbackURLs
	if m.Hook.URL != "" && (m.Hook.Active == nil || *m.Hook.Active) {
		a.PendingHook = m.Hook.URL
	}
	st.journal.Note(journal.Entry{Kind: "app.created", Actor: a.Owner.Login, Ref: slug})
	redirectWith(w, r, m.RedirectURL, st.issuer.NewCode(access.Grant{App: a}), r.PostFormValue("state"))
}
