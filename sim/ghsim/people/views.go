package people

import (
	"fmt"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/model"
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

// PullView is a pull request as it is now; its comments are in [People.Issue].
type PullView struct {
	IssueView
	Draft         bool
	Merged        bool
	HeadRef, Head string // branch and SHA
	BaseRef, Base string
	Commits       []string // SHAs, oldest first
	Files         []string // paths changed against the merge base
	Reviews       []ReviewView
	OnLines       []ReviewCommentView
}

// ReviewView is one submitted review; its comments on lines are in OnLines.
type ReviewView struct {
	ID           int64
	Author, Body string
	State        string // approved, changes_requested or commented
	SHA          string
}

// ReviewCommentView is one comment on a line of a pull request.
type ReviewCommentView struct {
	ID, ReplyTo  int64 // ReplyTo is 0 for the first comment of a thread
	Author, Body string
	Path         string
	Line         int
	Old          bool // the line is on the base's side
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
func (p *People) Issue(repo string, number int) (IssueView, error) {
	p.world.Lock()
	defer p.world.Unlock()
	_, i, err := p.find(repo, number)
	if err != nil {
		return IssueView{}, err
	}
	return viewIssue(i), nil
}

// Issues are snapshots of every issue and pull request of a repository, by number.
func (p *People) Issues(repo string) ([]IssueView, error) {
	return read(p, repo, func(r *model.Repository) ([]IssueView, error) {
		var vs []IssueView
		for _, i := range r.Issues {
			vs = append(vs, viewIssue(i))
		}
		return vs, nil
	})
}

// Pull is a snapshot of a pull request.
func (p *People) Pull(repo string, number int) (PullView, error) {
	p.world.Lock()
	defer p.world.Unlock()
	r, i, err := p.find(repo, number)
	if err != nil {
		return PullView{}, err
	}
	if i.Pull == nil {
		return PullView{}, fmt.Errorf("%s#%d is not a pull request", repo, number)
	}
	pull := i.Pull
	v := PullView{IssueView: viewIssue(i), Draft: pull.Draft, Merged: !pull.MergedAt.IsZero(),
		HeadRef: pull.Head, Head: pull.HeadSHA, BaseRef: pull.Base, Base: pull.BaseSHA}
	cmp := p.git.Compare(r.Dir, pull.BaseSHA, pull.HeadSHA)
	for _, c := range cmp.Commits {
		v.Commits = append(v.Commits, c.SHA)
	}
	for _, f := range cmp.Files {
		v.Files = append(v.Files, f.Path)
	}
	for _, x := range pull.Reviews {
		v.Reviews = append(v.Reviews, ReviewView{ID: x.ID, Author: x.By.Login, Body: x.Body, State: x.State, SHA: x.SHA})
	}
	for _, c := range pull.Threads {
		v.OnLines = append(v.OnLines, ReviewCommentView{ID: c.ID, ReplyTo: c.ReplyTo, Author: c.By.Login, Body: c.Body,
			Path: c.Path, Line: c.Line, Old: c.Old})
	}
	return v, nil
}

// CheckRuns are the check runs of a commit in order of creation, superseded
// ones included.
func (p *People) CheckRuns(repo, sha string) ([]CheckView, error) {
	return read(p, repo, func(r *model.Repository) ([]CheckView, error) {
		var vs []CheckView
		for _, c := range r.Checks {
			if c.SHA == sha {
				vs = append(vs, viewCheck(c))
			}
		}
		return vs, nil
	})
}

// Branches maps a repository's branch names to their heads.
func (p *People) Branches(repo string) (map[string]string, error) {
	return read(p, repo, func(r *model.Repository) (map[string]string, error) {
		m := map[string]string{}
		for _, b := range r.Branches() {
			m[b] = r.Head(b)
		}
		return m, nil
	})
}

// File is a file's content at a branch, tag or commit.
func (p *People) File(repo, ref, path string) (string, error) {
	return read(p, repo, func(r *model.Repository) (string, error) {
		sha, ok := p.world.CommitOf(r, ref)
		if !ok {
			return "", fmt.Errorf("%s has no %s", repo, ref)
		}
		b, err := p.git.BlobAt(r.Dir, sha, path)
		return string(b), err
	})
}

// Files are the paths of all files at a branch, tag or commit, sorted.
func (p *People) Files(repo, ref string) ([]string, error) {
	return read(p, repo, func(r *model.Repository) ([]string, error) {
		sha, ok := p.world.CommitOf(r, ref)
		if !ok {
			return nil, fmt.Errorf("%s has no %s", repo, ref)
		}
		return p.git.Paths(r.Dir, sha)
	})
}

func (p *People) find(repo string, number int) (*model.Repository, *model.Issue, error) {
	r, err := p.repository(repo)
	if err != nil {
		return nil, nil, err
	}
	i := r.Issue(number)
	if i == nil {
		return nil, nil, fmt.Errorf("%s has no issue %d", repo, number)
	}
	return r, i, nil
}

func viewIssue(i *model.Issue) IssueView {
	v := IssueView{Number: i.Number, Title: i.Title, Body: i.Body, Author: i.By.Login, State: i.State,
		CreatedAt: i.Made, UpdatedAt: i.Updated, IsPull: i.Pull != nil, Reactions: viewReactions(i.Reactions)}
	for _, l := range i.Labels {
		v.Labels = append(v.Labels, l.Name)
	}
	for _, u := range i.Assignees {
		v.Assignees = append(v.Assignees, u.Login)
	}
	for _, c := range i.Comments {
		v.Comments = append(v.Comments, CommentView{ID: c.ID, Author: c.By.Login, Body: c.Body, Edits: c.Edits,
			CreatedAt: c.Made, UpdatedAt: c.Updated, Reactions: viewReactions(c.Reactions)})
	}
	return v
}

func viewReactions(rs []*model.Reaction) []ReactionView {
	var vs []ReactionView
	for _, r := range rs {
		vs = append(vs, ReactionView{User: r.By.Login, Content: r.Content})
	}
	return vs
}

func viewCheck(c *model.CheckRun) CheckView {
	v := CheckView{ID: c.ID, Name: c.Name, App: c.Suite.App.Slug, SHA: c.SHA, Status: c.Status, Conclusion: c.Conclusion,
		ExternalID: c.ExternalID, Annotations: len(c.Annotations)}
	for dst, src := range map[*string]*string{&v.Title: c.Title, &v.Summary: c.Summary, &v.Text: c.Text} {
		if src != nil {
			*dst = *src
		}
	}
	for _, a := range c.Actions {
		v.Buttons = append(v.Buttons, fmt.Sprint(a["identifier"]))
	}
	if c.Job != nil {
		v.Log = string(c.Job.Log)
	}
	return v
}
