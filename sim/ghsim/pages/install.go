package pages

import (
	"fmt"
	"net/http"
	"slices"
)

type installPage struct {
	Slug, Name string
	Accounts   []string
	Repos      []string
	Done       bool // it was just installed
}

func (installPage) title() string { return "Install an app" }

// install is GET /apps/{slug}/installations/new: the page on which an app is installed.
func (st *site) install(r *http.Request) (string, any, error) {
	a := st.world.AppBySlug(r.PathValue("slug"))
	if a == nil {
		return "", nil, fmt.Errorf("app %s: %w", r.PathValue("slug"), errNoPage)
	}
	p := installPage{Slug: a.Slug, Name: a.Name, Done: r.URL.Query().Has("installation_id")}
	for _, repo := range st.world.Repositories() {
		p.Repos = append(p.Repos, repo.FullName())
		if !slices.Contains(p.Accounts, repo.Owner.Login) {
			p.Accounts = append(p.Accounts, repo.Owner.Login)
		}
	}
	return "install", p, nil
}

// installed handles the form of the install page; without repositories it installs on all.
func (st *site) installed(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		st.refuse(w, r, http.StatusBadRequest, err.Error())
		return
	}
	st.world.Lock()
	var id int64
	setup := ""
	if a := st.world.AppBySlug(r.PathValue("slug")); a != nil {
		id, setup = a.ID, a.SetupURL
	}
	st.world.Unlock()
	inst, err := st.people.Install(id, r.PostForm.Get("account"), r.PostForm["repo"]...)
	if err != nil {
		st.refuse(w, r, http.StatusUnprocessableEntity, err.Error())
		return
	}
	if setup == "" {
		setup = "/apps/" + r.PathValue("slug") + "/installations/new"
	}
	http.Redirect(w, r, fmt.Sprintf("%s?installation_id=%d&setup_action=install", setup, inst), http.StatusSeeOther)
}
