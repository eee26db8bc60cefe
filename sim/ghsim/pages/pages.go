// Package pages are the web pages of a simulated GitHub: repositories, issues, pull requests, checks and logs, with
// forms for people's actions, and the pages on which an app is registered, installed and signed in to.
//
// The pages let anyone act as anyone, so they are for loopback.
package pages

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/access"
	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/people"
	"github.com/sia-bot/sia/sim/ghsim/world"
)

//go:embed templates/*.html style.css
var assets embed.FS

// site handles the pages: GET shows, POST acts as a person. They are for loopback: anyone may act as anyone.
type site struct {
	world   *world.World
	git     *git.Store
	people  *people.People
	issuer  *access.TokenIssuer
	journal *journal.Journal
	md      *markdown
	pages   map[string]*template.Template
}

// New is the handler of everything that is neither API nor git.
func New(
	w *world.World, store *git.Store, who *people.People, issuer *access.TokenIssuer, happened *journal.Journal,
) http.Handler {
	st := &site{world: w, git: store, people: who, issuer: issuer, journal: happened, md: newMarkdown(),
		pages: map[string]*template.Template{}}
	funcs := template.FuncMap{
		"md": st.md.render, "short": func(sha string) string { return sha[:min(7, len(sha))] },
		"time":  func(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04:05") },
		"rfc":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"words": func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "_", " "), ".", " ") },
	}
	base := template.Must(template.New("base.html").Funcs(funcs).ParseFS(assets, "templates/base.html",
		"templates/parts.html"))
	for _, name := range []string{"index", "repo", "list", "issue", "check", "file", "tree", "diff", "actions", "new",
		"signin", "register", "install", "problem"} {
		st.pages[name] = template.Must(template.Must(base.Clone()).ParseFS(assets, "templates/"+name+".html"))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_style.css", st.style)
	mux.HandleFunc("GET /_avatar/{id}", avatar)
	get := func(pattern string, build func(*http.Request) (string, any, error)) {
		mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) { st.show(w, r, build) })
	}
	of := func(pattern string, build func(*model.Repository, *http.Request) (string, any, error)) {
		get(pattern, func(r *http.Request) (string, any, error) {
			repo, err := st.repo(r)
			if err != nil {
				return "", nil, err
			}
			return build(repo, r)
		})
	}
	get("/{$}", st.index)
	get("/{owner}", st.index)
	of("/{owner}/{repo}", st.repoPage)
	of("/{owner}/{repo}/issues", st.issueList)
	of("/{owner}/{repo}/pulls", st.issueList)
	of("/{owner}/{repo}/issues/new", st.newIssue)
	of("/{owner}/{repo}/issues/{number}", st.issuePage)
	of("/{owner}/{repo}/pull/{number}", st.issuePage)
	of("/{owner}/{repo}/pull/{number}/checks", st.issuePage)
	of("/{owner}/{repo}/pull/{number}/files", st.pullDiff)
	of("/{owner}/{repo}/commit/{sha}", st.commitDiff)
	of("/{owner}/{repo}/compare/{range...}", st.compareDiff)
	of("/{owner}/{repo}/actions", st.actionsPage)
	of("/{owner}/{repo}/actions/runs/{run}", st.actionsPage)
	of("/{owner}/{repo}/actions/runs/{run}/job/{check}", st.checkPage)
	of("/{owner}/{repo}/runs/{check}", st.checkPage)
	of("/{owner}/{repo}/blob/{path...}", st.filePage)
	of("/{owner}/{repo}/tree/{path...}", st.treePage)
	mux.HandleFunc("GET /{owner}/{repo}/raw/{path...}", st.raw)
	mux.HandleFunc("POST /{owner}/{repo}/{verb...}", st.act)
	get("/login/oauth/authorize", st.signIn)
	mux.HandleFunc("POST /login/oauth/authorize", st.signedIn)
	mux.HandleFunc("POST /login/oauth/access_token", st.accessToken)
	register := func(w http.ResponseWriter, r *http.Request) { st.show(w, r, st.register) }
	mux.HandleFunc("POST /settings/apps/new", register)
	mux.HandleFunc("POST /organizations/{org}/settings/apps/new", register)
	mux.HandleFunc("POST /settings/apps/create", st.registered)
	get("/apps/{slug}/installations/new", st.install)
	mux.HandleFunc("POST /apps/{slug}/installations/new", st.installed)
	get("/{rest...}", func(r *http.Request) (string, any, error) {
		return "", nil, fmt.Errorf("%s: %w", r.URL.Path, errNoPage)
	})
	same := http.NewCrossOriginProtection()
	// These come from the application's page and only ask for confirmation.
	same.AddInsecureBypassPattern("POST /settings/apps/new")
	same.AddInsecureBypassPattern("POST /organizations/{org}/settings/apps/new")
	return same.Handler(mux)
}

// frame is the common content of every page.
type frame struct {
	Title string
	Repo  *repoCard // nil outside a repository
	Tab   string
	Users []string // people who may act here
	As    string   // the default person
	Body  any
}

type repoCard struct {
	Owner, Name, Default string
	Issues, Pulls        int
	Branches             []branchCard
}

type branchCard struct{ Name, SHA string }

func (r repoCard) Full() string { return r.Owner + "/" + r.Name }

// show builds a page under the simulator's lock and renders it without.
func (st *site) show(w http.ResponseWriter, r *http.Request, build func(*http.Request) (string, any, error)) {
	st.world.Lock()
	name, body, err := build(r)
	f := frame{Body: body, Tab: name}
	if repo := st.world.Repository(r.PathValue("owner") + "/" + r.PathValue("repo")); repo != nil {
		f.Repo = cardOf(repo)
		f.Users = st.actors(repo)
	}
	st.world.Unlock()
	code := http.StatusOK
	switch {
	case errors.Is(err, errNoPage):
		code = http.StatusNotFound
	case err != nil:
		code = http.StatusInternalServerError
	}
	if err != nil {
		f.Users = nil // there is nothing to do
		name, f.Body = "problem", problemPage{"Not found", err.Error()}
	}
	st.write(w, r, code, name, f)
}

// problemPage explains why a page is missing, or why a form failed.
type problemPage struct{ What, Why string }

func (p problemPage) title() string { return p.What }

// refuse answers a failed form.
func (st *site) refuse(w http.ResponseWriter, r *http.Request, code int, why string) {
	st.write(w, r, code, "problem", frame{Body: problemPage{"Not done", why}})
}

// write writes a page.
func (st *site) write(w http.ResponseWriter, r *http.Request, code int, name string, f frame) {
	if c, err := r.Cookie("as"); err == nil && slices.Contains(f.Users, c.Value) {
		f.As = c.Value
	} else if len(f.Users) > 0 {
		f.As = f.Users[0]
	}
	if t, is := f.Body.(interface{ title() string }); is {
		f.Title = t.title()
	}
	var b bytes.Buffer
	if err := st.pages[name].ExecuteTemplate(&b, "base.html", f); err != nil {
		http.Error(w, "rendering the page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	action := "'self'"
	if name == "signin" || name == "register" || name == "install" {
		action = "'self' http: https:" // their answer redirects to the application
	}
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; img-src 'self' https: data:; form-action "+action+"; base-uri 'none'; "+
			"frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	w.Write(b.Bytes())
}

// errNoPage is wrapped by the error for a missing page.
var errNoPage = errors.New("there is no such page")

// repo is the repository of a page.
func (st *site) repo(r *http.Request) (*model.Repository, error) {
	name := r.PathValue("owner") + "/" + r.PathValue("repo")
	if repo := st.world.Repository(name); repo != nil {
		return repo, nil
	}
	return nil, fmt.Errorf("%s: %w", name, errNoPage)
}

// actors are the logins of those who may act in a repository, collaborators before the owner.
func (st *site) actors(r *model.Repository) []string {
	var logins []string
	for _, u := range st.world.Users() {
		if u.Kind == "User" && model.AtLeast(r.Role(u.Login), "read") && u != r.Owner {
			logins = append(logins, u.Login)
		}
	}
	slices.Sort(logins)
	slices.SortStableFunc(logins, func(a, b string) int {
		return model.RoleRank(r.Role(b)) - model.RoleRank(r.Role(a))
	})
	if r.Owner.Kind == "User" {
		logins = append(logins, r.Owner.Login)
	}
	return logins
}

func cardOf(r *model.Repository) *repoCard {
	c := &repoCard{Owner: r.Owner.Login, Name: r.Name, Default: r.DefaultBranch}
	for _, i := range r.Issues {
		switch {
		case i.State != "open":
		case i.Pull != nil:
			c.Pulls++
		default:
			c.Issues++
		}
	}
	for _, b := range r.Branches() {
		c.Branches = append(c.Branches, branchCard{b, r.Head(b)})
	}
	return c
}

func (st *site) style(w http.ResponseWriter, _ *http.Request) {
	b, _ := assets.ReadFile("style.css")
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Write(b)
}

// avatar is a disc in an account's colour.
func avatar(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "image/svg+xml")
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><circle cx="20" cy="20" r="20" `+
		`fill="hsl(%d 45%% 55%%)"/></svg>`, number(r.PathValue("id"))*47%360)
}

// number parses a number in a path or a form; 0 matches nothing.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
