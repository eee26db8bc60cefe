package ghsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// manifest is what an app is registered from.
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

type registerPage struct {
	Name, Manifest, State string
	Permissions           map[string]string
	Events                []string
}

func (registerPage) title() string { return "Register an app" }

// register is POST /settings/apps/new, which an application's own page sends: it
// only asks whether to go on.
func (st *site) register(r *http.Request) (string, any, error) {
	raw := r.PostFormValue("manifest")
	m, err := parseManifest(raw)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", err, errNoPage)
	}
	return "register", registerPage{m.Name, raw, r.URL.Query().Get("state"), m.Permissions, m.Events}, nil
}

func parseManifest(raw string) (*manifest, error) {
	var m manifest
	if err := json.Unmarshal([]byte(raw), &m); err != nil {
		return nil, fmt.Errorf("app manifest: %w", err)
	}
	if m.Name == "" || m.URL == "" || m.RedirectURL == "" {
		return nil, fmt.Errorf("app manifest: name, url and redirect_url are required")
	}
	for _, e := range m.Events {
		if !slices.Contains(defaultEvents, e) && !slices.Contains([]string{"pull_request_review_thread", "workflow_job"}, e) {
			return nil, fmt.Errorf("app manifest: the simulator has no event %q", e)
		}
	}
	return &m, nil
}

// registered creates the app and goes back with the code that yields its keys.
func (st *site) registered(w http.ResponseWriter, r *http.Request) {
	m, err := parseManifest(r.PostFormValue("manifest"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	key, err := st.s.newAppKey()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s := st.s
	s.mu.Lock()
	defer s.mu.Unlock()
	slug := strings.ToLower(strings.Join(strings.Fields(m.Name), "-"))
	for _, a := range s.apps {
		if a.slug == slug {
			http.Error(w, "the name "+m.Name+" is taken", http.StatusUnprocessableEntity)
			return
		}
	}
	perms := map[string]string{"metadata": "read"}
	for p, level := range m.Permissions {
		perms[p] = level
	}
	a := s.addApp(slug, m.Name, s.ensureUser("app-owner", "User"), key, perms, m.Events)
	a.setupURL = m.SetupURL
	if len(m.CallbackURLs) > 0 {
		a.callback = m.CallbackURLs[0]
	}
	if m.Hook.URL != "" && (m.Hook.Active == nil || *m.Hook.Active) {
		a.pendingHook = m.Hook.URL
	}
	s.note(Entry{Kind: "app.created", Actor: a.owner.login, Ref: slug})
	redirectWith(w, r, m.RedirectURL, s.newGrant(a, nil), r.PostFormValue("state"))
}

// convertManifest is POST /app-manifests/{code}/conversions: the keys of the new
// app, once. Its webhook is switched on with the secret handed out here.
func (s *Server) convertManifest(c *call) (answer, error) {
	g, valid := s.takeGrant(c.params["code"])
	if !valid || g.user != nil {
		return answer{}, notFound()
	}
	secret := secretText("")
	if g.app.pendingHook != "" {
		s.setHook(g.app, g.app.pendingHook, secret)
	}
	o := s.integrationJSON(g.app)
	o["client_secret"], o["webhook_secret"], o["pem"] = g.app.clientSecret, secret, string(g.app.key.pem())
	return created(o), nil
}

type installPage struct {
	Slug, Name string
	Accounts   []string
	Repos      []string
}

func (installPage) title() string { return "Install an app" }

// install is GET /apps/{slug}/installations/new: where an app is installed.
func (st *site) install(r *http.Request) (string, any, error) {
	for _, a := range st.s.apps {
		if a.slug != r.PathValue("slug") {
			continue
		}
		p := installPage{Slug: a.slug, Name: a.name}
		for _, k := range sortedKeys(st.s.repos) {
			r := st.s.repos[k]
			p.Repos = append(p.Repos, r.fullName())
			if !slices.Contains(p.Accounts, r.owner.login) {
				p.Accounts = append(p.Accounts, r.owner.login)
			}
		}
		return "install", p, nil
	}
	return "", nil, fmt.Errorf("app %s: %w", r.PathValue("slug"), errNoPage)
}

// installed answers the install page; without repositories it is all of them.
func (st *site) installed(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	st.s.mu.Lock()
	var id int64
	setup := ""
	for _, a := range st.s.apps {
		if a.slug == r.PathValue("slug") {
			id, setup = a.id, a.setupURL
		}
	}
	st.s.mu.Unlock()
	inst, err := st.s.Install(id, r.PostForm.Get("account"), r.PostForm["repo"]...)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	if setup == "" {
		setup = "/apps/" + r.PathValue("slug") + "/installations/new"
	}
	http.Redirect(w, r, fmt.Sprintf("%s?installation_id=%d&setup_action=install", setup, inst), http.StatusSeeOther)
}
