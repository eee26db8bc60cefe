package ghsim

import (
	"fmt"
	"time"
)

// IssueView is an issue or pull request as it is now.
type IssueView struct {
	Number    int
	Title     string
	Body      string
	Author    string
	State     string // open or closed
	Labels    []string
	Assignees []string
	Reactions []ReactionView
	Comments  []CommentView // in order of creation
	CreatedAt time.Time
	UpdatedAt time.Time
	IsPull    bool
}

// CommentView is one comment.
type CommentView struct {
	ID        int64
	Author    string
	Body      string
	Edits     int // how often it was edited
	CreatedAt time.Time
	UpdatedAt time.Time
	Reactions []ReactionView
}

// ReactionView is one reaction.
type ReactionView struct{ User, Content string }

// PullView is a pull request as it is now; its comments are in [Server.Issue].
type PullView struct {
	IssueView
	Draft         bool
	Merged        bool
	HeadRef, Head string // branch and SHA
	BaseRef, Base string
	Commits       []string // SHAs, oldest first
	Files         []string // paths changed against the merge base
	OnLines       []ReviewCommentView
}

// CheckView is one check run.
type CheckView struct {
	ID          int64
	Name        string
	App         string // slug
	SHA         string
	Status      string
	Conclusion  string
	ExternalID  string
	Title       string
	Summary     string
	Text        string
	Annotations int
	Buttons     []string // identifiers
	Log         string   // of the check runner's jobs
}

// Issue is a snapshot of an issue or pull request.
func (s *Server) Issue(repo string, number int) (IssueView, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, i, err := s.find(repo, number)
	if err != nil {
		return IssueView{}, err
	}
	return i.view(), nil
}

// Issues are snapshots of every issue and pull request of a repository, by number.
func (s *Server) Issues(repo string) ([]IssueView, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.findRepo(repo)
	if err != nil {
		return nil, err
	}
	var vs []IssueView
	for _, i := range r.issues {
		vs = append(vs, i.view())
	}
	return vs, nil
}

// Pull is a snapshot of a pull request.
func (s *Server) Pull(repo string, number int) (PullView, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, i, err := s.find(repo, number)
	if err != nil {
		return PullView{}, err
	}
	if i.pull == nil {
		return PullView{}, fmt.Errorf("%s#%d is not a pull request", repo, number)
	}
	p := i.pull
	v := PullView{IssueView: i.view(), Draft: p.draft, Merged: !p.mergedAt.IsZero(),
		HeadRef: p.head, Head: p.headSHA, BaseRef: p.base, Base: p.baseSHA}
	cmp := s.git.compare(r.dir, p.baseSHA, p.headSHA)
	for _, c := range cmp.commits {
		v.Commits = append(v.Commits, c.sha)
	}
	for _, f := range cmp.files {
		v.Files = append(v.Files, f.path)
	}
	for _, c := range p.threads {
		v.OnLines = append(v.OnLines, ReviewCommentView{ID: c.id, ReplyTo: c.replyTo, Author: c.by.login, Body: c.body, Path: c.path, Line: c.line})
	}
	return v, nil
}

// CheckRuns are the check runs of a commit in order of creation, superseded
// ones included.
func (s *Server) CheckRuns(repo, sha string) ([]CheckView, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.findRepo(repo)
	if err != nil {
		return nil, err
	}
	var vs []CheckView
	for _, c := range r.checks {
		if c.sha == sha {
			vs = append(vs, c.view())
		}
	}
	return vs, nil
}

// Branches maps a repository's branch names to their heads.
func (s *Server) Branches(repo string) (map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.findRepo(repo)
	if err != nil {
		return nil, err
	}
	m := map[string]string{}
	for _, b := range r.branches() {
		m[b] = r.head(b)
	}
	return m, nil
}

// File is a file's content at a branch, tag or commit.
func (s *Server) File(repo, ref, path string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.findRepo(repo)
	if err != nil {
		return "", err
	}
	sha, ok := s.commitOf(r, ref)
	if !ok {
		return "", fmt.Errorf("%s has no %s", repo, ref)
	}
	b, err := s.git.blobAt(r.dir, sha, path)
	return string(b), err
}

// Files are the paths of all files at a branch, tag or commit, sorted.
func (s *Server) Files(repo, ref string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.findRepo(repo)
	if err != nil {
		return nil, err
	}
	sha, ok := s.commitOf(r, ref)
	if !ok {
		return nil, fmt.Errorf("%s has no %s", repo, ref)
	}
	return s.git.paths(r.dir, sha)
}

func (s *Server) find(repo string, number int) (*repository, *issue, error) {
	r, err := s.findRepo(repo)
	if err != nil {
		return nil, nil, err
	}
	i := r.issue(number)
	if i == nil {
		return nil, nil, fmt.Errorf("%s has no issue %d", repo, number)
	}
	return r, i, nil
}

func (i *issue) view() IssueView {
	v := IssueView{Number: i.number, Title: i.title, Body: i.body, Author: i.by.login, State: i.state,
		CreatedAt: i.made, UpdatedAt: i.updated, IsPull: i.pull != nil, Reactions: views(i.reactions)}
	for _, l := range i.labels {
		v.Labels = append(v.Labels, l.name)
	}
	for _, u := range i.assignees {
		v.Assignees = append(v.Assignees, u.login)
	}
	for _, c := range i.comments {
		v.Comments = append(v.Comments, CommentView{ID: c.id, Author: c.by.login, Body: c.body, Edits: c.edits,
			CreatedAt: c.made, UpdatedAt: c.updated, Reactions: views(c.reactions)})
	}
	return v
}

func views(rs []*reaction) []ReactionView {
	var vs []ReactionView
	for _, r := range rs {
		vs = append(vs, ReactionView{User: r.by.login, Content: r.content})
	}
	return vs
}

func (c *checkRun) view() CheckView {
	v := CheckView{ID: c.id, Name: c.name, App: c.suite.app.slug, SHA: c.sha, Status: c.status, Conclusion: c.conclusion,
		ExternalID: c.externalID, Annotations: len(c.annotations)}
	for dst, src := range map[*string]*string{&v.Title: c.title, &v.Summary: c.summary, &v.Text: c.text} {
		if src != nil {
			*dst = *src
		}
	}
	for _, a := range c.actions {
		v.Buttons = append(v.Buttons, fmt.Sprint(a["identifier"]))
	}
	if c.job != nil {
		v.Log = string(c.job.log)
	}
	return v
}
