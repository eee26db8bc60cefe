package pages

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

type diffPage struct {
	Heading string
	Message string
	Commits []commitCard
	Files   []fileCard
}

func (p diffPage) title() string { return p.Heading }

type commitCard struct {
	SHA, Title, By string
	At             time.Time
}

type fileCard struct {
	Path, From, Status string
	Additions, Deleted int
	Lines              []logLine
}

func (st *site) pullDiff(repo *model.Repository, r *http.Request) (string, any, error) {
	i := repo.Issue(number(r.PathValue("number")))
	if i == nil || i.Pull == nil {
		return "", nil, fmt.Errorf("pull request %s: %w", r.PathValue("number"), errNoPage)
	}
	return "diff", diffOf(fmt.Sprintf("%s · #%d", i.Title, i.Number), "",
		st.git.Compare(repo.Dir, i.Pull.BaseSHA, i.Pull.HeadSHA)), nil
}

func (st *site) compareDiff(repo *model.Repository, r *http.Request) (string, any, error) {
	a, b, _ := strings.Cut(r.PathValue("range"), "...")
	base, okBase := st.world.CommitOf(repo, a)
	head, okHead := st.world.CommitOf(repo, b)
	if !okBase || !okHead {
		return "", nil, fmt.Errorf("%s: %w", r.PathValue("range"), errNoPage)
	}
	return "diff", diffOf(a+"…"+b, "", st.git.Compare(repo.Dir, base, head)), nil
}

func (st *site) commitDiff(repo *model.Repository, r *http.Request) (string, any, error) {
	sha, found := st.world.CommitOf(repo, r.PathValue("sha"))
	if !found {
		return "", nil, fmt.Errorf("commit %s: %w", r.PathValue("sha"), errNoPage)
	}
	f := st.git.Facts(repo.Dir, sha)
	files, err := st.git.Changes(repo.Dir, f)
	if err != nil {
		return "", nil, err
	}
	return "diff", diffOf(f.Subject(), f.Message, git.Comparison{Commits: []git.Commit{f}, Files: files}), nil
}

func diffOf(heading, message string, c git.Comparison) diffPage {
	p := diffPage{Heading: heading, Message: message}
	for _, x := range c.Commits {
		p.Commits = append(p.Commits, commitCard{x.SHA, x.Subject(), x.Author.Name, x.Committer.At})
	}
	for _, f := range c.Files {
		card := fileCard{Path: f.Path, From: f.From, Status: f.Status, Additions: f.Additions, Deleted: f.Deleted}
		for l := range strings.SplitSeq(f.Patch, "\n") {
			class := ""
			switch {
			case strings.HasPrefix(l, "@@"):
				class = "hunk"
			case strings.HasPrefix(l, "+"):
				class = "add"
			case strings.HasPrefix(l, "-"):
				class = "del"
			}
			card.Lines = append(card.Lines, logLine{class, l})
		}
		p.Files = append(p.Files, card)
	}
	return p
}
