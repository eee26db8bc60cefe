package ghsim

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

type indexPage struct{ Repos []*repoCard }

func (indexPage) title() string { return "Repositories" }

func (st *site) index(r *http.Request) (string, any, error) {
	var p indexPage
	for _, name := range sortedKeys(st.s.repos) {
		if o := r.PathValue("owner"); o == "" || strings.EqualFold(o, st.s.repos[name].owner.login) {
			p.Repos = append(p.Repos, cardOf(st.s.repos[name]))
		}
	}
	return "index", p, nil
}

type repoPage struct {
	name   string
	Files  []treeEntry
	Ref    string
	Readme string
}

func (p repoPage) title() string { return p.name }

func (st *site) repoPage(r *http.Request) (string, any, error) {
	repo, err := st.repo(r)
	if err != nil {
		return "", nil, err
	}
	p := repoPage{name: repo.fullName(), Ref: repo.defaultBranch}
	head := repo.head(repo.defaultBranch)
	if head == "" {
		return "repo", p, nil
	}
	if p.Files, err = st.s.git.ls(repo.dir, head, "", false); err != nil {
		return "", nil, err
	}
	if b, err := st.s.git.blobAt(repo.dir, head, "README.md"); err == nil {
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

func (st *site) issueList(r *http.Request) (string, any, error) {
	repo, err := st.repo(r)
	if err != nil {
		return "", nil, err
	}
	p := listPage{Kind: path.Base(r.URL.Path), Closed: r.URL.Query().Get("state") == "closed"}
	for _, i := range slices.Backward(repo.issues) {
		if (i.pull != nil) == (p.Kind == "pulls") && (i.state == "closed") == p.Closed {
			p.Issues = append(p.Issues, cardOfIssue(i))
		}
	}
	return "list", p, nil
}

func cardOfIssue(i *issue) issueCard {
	c := issueCard{Number: i.number, Kind: "issues", Title: i.title, State: i.state, By: i.by.login, At: i.made, Comments: len(i.comments)}
	if i.pull != nil {
		c.Kind, c.Draft, c.Merged = "pull", i.pull.draft, !i.pull.mergedAt.IsZero()
	}
	for _, l := range i.labels {
		c.Labels = append(c.Labels, labelCard{l.name, l.color})
	}
	for _, u := range i.assignees {
		c.Assignees = append(c.Assignees, u.login)
	}
	return c
}

type newPage struct{ Labels []string }

func (newPage) title() string { return "New issue" }

func (st *site) newIssue(r *http.Request) (string, any, error) {
	repo, err := st.repo(r)
	if err != nil {
		return "", nil, err
	}
	var p newPage
	for _, l := range repo.labels {
		p.Labels = append(p.Labels, l.name)
	}
	return "new", p, nil
}

// splitRef takes a branch, tag or commit off the beginning of a path.
func (st *site) splitRef(repo *repository, p string) (ref, sha, rest string, err error) {
	parts := strings.Split(strings.Trim(p, "/"), "/")
	for n := len(parts); n > 0; n-- {
		ref = strings.Join(parts[:n], "/")
		if sha = repo.head(ref); sha != "" {
			return ref, sha, strings.Join(parts[n:], "/"), nil
		}
	}
	if sha, found := st.s.commitOf(repo, parts[0]); found {
		return parts[0], sha, strings.Join(parts[1:], "/"), nil
	}
	return "", "", "", fmt.Errorf("%s: %w", p, errNoPage)
}

type filePage struct {
	Ref, Path string
	Markdown  string
	Lines     []string
	Binary    bool
}

func (p filePage) title() string { return p.Path + " at " + p.Ref }

func (st *site) filePage(r *http.Request) (string, any, error) {
	repo, err := st.repo(r)
	if err != nil {
		return "", nil, err
	}
	ref, sha, name, err := st.splitRef(repo, r.PathValue("path"))
	if err != nil {
		return "", nil, err
	}
	b, err := st.s.git.blobAt(repo.dir, sha, name)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", err, errNoPage)
	}
	p := filePage{Ref: ref, Path: name}
	switch text := string(b); {
	case strings.ContainsRune(text[:min(len(text), 8000)], 0):
		p.Binary = true
	case strings.HasSuffix(name, ".md") && r.URL.Query().Get("plain") == "":
		p.Markdown = text
	default:
		p.Lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	return "file", p, nil
}

type treePage struct {
	Ref, Path string
	Files     []treeEntry
}

func (p treePage) title() string { return p.Path + " at " + p.Ref }

func (st *site) treePage(r *http.Request) (string, any, error) {
	repo, err := st.repo(r)
	if err != nil {
		return "", nil, err
	}
	ref, sha, dir, err := st.splitRef(repo, r.PathValue("path"))
	if err != nil {
		return "", nil, err
	}
	es, err := st.s.git.ls(repo.dir, sha, dir, r.URL.Query().Get("all") != "")
	if err != nil || len(es) == 0 {
		return "", nil, fmt.Errorf("%s: %w", dir, errNoPage)
	}
	return "tree", treePage{ref, dir, es}, nil
}

// raw serves a file as plain text.
func (st *site) raw(w http.ResponseWriter, r *http.Request) {
	st.s.mu.Lock()
	defer st.s.mu.Unlock()
	repo, err := st.repo(r)
	var b []byte
	if err == nil {
		var sha, name string
		if _, sha, name, err = st.splitRef(repo, r.PathValue("path")); err == nil {
			b, err = st.s.git.blobAt(repo.dir, sha, name)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Write(b)
}

// Path is an entry's path.
func (e treeEntry) Path() string { return e.path }

// Dir reports whether an entry is a directory.
func (e treeEntry) Dir() bool { return e.kind == "tree" }
