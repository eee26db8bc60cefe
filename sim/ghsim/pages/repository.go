package pages

import (
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

type indexPage struct{ Repos []*repoCard }

func (indexPage) title() string { return "Repositories" }

func (st *site) index(r *http.Request) (string, any, error) {
	var p indexPage
	for _, repo := range st.world.Repositories() {
		if o := r.PathValue("owner"); o == "" || strings.EqualFold(o, repo.Owner.Login) {
			p.Repos = append(p.Repos, cardOf(repo))
		}
	}
	return "index", p, nil
}

type repoPage struct {
	name   string
	Files  []git.Entry
	Ref    string
	Readme string
}

func (p repoPage) title() string { return p.name }

func (st *site) repoPage(repo *model.Repository, r *http.Request) (string, any, error) {
	p := repoPage{name: repo.FullName(), Ref: repo.DefaultBranch}
	head := repo.Head(repo.DefaultBranch)
	if head == "" {
		return "repo", p, nil
	}
	files, err := st.git.List(repo.Dir, head, "", false)
	if err != nil {
		return "", nil, err
	}
	p.Files = files
	if b, err := st.git.BlobAt(repo.Dir, head, "README.md"); err == nil {
		p.Readme = string(b)
	}
	return "repo", p, nil
}

type listPage struct {
	Kind   string // issues or pulls
	Closed bool
	Issues []issueCard
}

func (p listPage) title() string {
	return map[bool]string{true: "Pull requests", false: "Issues"}[p.Kind == "pulls"]
}

type issueCard struct {
	Number      int
	Kind, Title string
	State, By   string
	Draft       bool
	Merged      bool
	At          time.Time
	Labels      []labelCard
	Comments    int
	Assignees   []string
}

type labelCard struct{ Name, Color string }

func (st *site) issueList(repo *model.Repository, r *http.Request) (string, any, error) {
	p := listPage{Kind: path.Base(r.URL.Path), Closed: r.URL.Query().Get("state") == "closed"}
	for _, i := range slices.Backward(repo.Issues) {
		if (i.Pull != nil) == (p.Kind == "pulls") && (i.State == "closed") == p.Closed {
			p.Issues = append(p.Issues, cardOfIssue(i))
		}
	}
	return "list", p, nil
}

func cardOfIssue(i *model.Issue) issueCard {
	c := issueCard{Number: i.Number, Kind: "issues", Title: i.Title, State: i.State, By: i.By.Login, At: i.Made,
		Comments: len(i.Comments)}
	if i.Pull != nil {
		c.Kind, c.Draft, c.Merged = "pull", i.Pull.Draft, !i.Pull.MergedAt.IsZero()
	}
	for _, l := range i.Labels {
		c.Labels = append(c.Labels, labelCard{l.Name, l.Color})
	}
	for _, u := range i.Assignees {
		c.Assignees = append(c.Assignees, u.Login)
	}
	return c
}

type newPage struct{ Labels []string }

func (newPage) title() string { return "New issue" }

func (st *site) newIssue(repo *model.Repository, r *http.Request) (string, any, error) {
	var p newPage
	for _, l := range repo.Labels {
		p.Labels = append(p.Labels, l.Name)
	}
	return "new", p, nil
}
