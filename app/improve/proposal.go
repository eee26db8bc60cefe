package improve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/improve"
	"github.com/sia-bot/sia/sia/technique"
)

const (
	maxDefinition  = 64 << 10 // bytes of a technique or policy
	maxDefinitions = 200      // per repository
)

// Proposals opens pull requests with kept versions. It is safe for concurrent use.
type Proposals struct {
	github *github.App
	git    *gitops.Cache
	mask   func(string) string
	now    func() time.Time
}

// NewProposals returns a Proposals for the repositories that the app can see. mask masks all of its output.
func NewProposals(gh *github.App, git *gitops.Cache, mask func(string) string, now func() time.Time) *Proposals {
	return &Proposals{gh, git, mask, now}
}

// Home is a repository with techniques and policies, at its default branch's head.
type Home struct {
	Repo  sia.Repo
	Files map[string][]byte // its techniques and policies, and the shipped ones at their usual paths

	own          map[string]bool // paths that are in the repository
	installation int64
	branch, head string
}

// Find reads the repository with a name, owner/name.
func (p *Proposals) Find(ctx context.Context, name string) (h Home, err error) {
	installations, err := p.github.Installations(ctx)
	if err != nil {
		return h, err
	}
	for _, in := range installations {
		owner, _, _ := strings.Cut(name, "/")
		if in.Suspended || !strings.EqualFold(in.Account, owner) {
			continue
		}
		repos, err := p.github.Repositories(ctx, in.ID)
		if err != nil {
			return h, err
		}
		for _, r := range repos {
			if strings.EqualFold(name, r.String()) {
				h = Home{Repo: r.Repo, installation: in.ID, branch: r.DefaultBranch}
				return h, p.read(ctx, &h)
			}
		}
	}
	return h, &sia.Error{Op: "find " + name, Permanent: true,
		Message: fmt.Sprintf("the app is not installed in %s; install it there, or check the name (owner/name)", name)}
}

// read reads the techniques and policies of the default branch.
func (p *Proposals) read(ctx context.Context, h *Home) (err error) {
	mirror := p.mirror(*h)
	if h.head, err = mirror.Fetch(ctx, h.branch); err != nil {
		return err
	}
	own := map[string][]byte{}
	h.own = map[string]bool{}
	for _, dir := range []string{technique.Dir, policies.Dir} {
		files, err := mirror.Files(ctx, h.head, dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			if !isDefinition(f.Path) || len(own) == maxDefinitions {
				continue
			}
			b, err := mirror.ReadFile(ctx, h.head, f.Path, maxDefinition)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, gitops.ErrTooLarge) {
				continue // a link, or not a file that SIA reads
			}
			if err != nil {
				return err
			}
			own[f.Path], h.own[f.Path] = b, true
		}
	}
	h.Files, err = withShipped(own)
	return err
}

func (p *Proposals) mirror(h Home) *gitops.Repo {
	return p.git.Repo(p.github.Repo(h.installation, h.Repo).Remote())
}

// Propose opens a pull request with the files that a run kept. It does not overwrite a file that somebody changed
// meanwhile.
func (p *Proposals) Propose(ctx context.Context, h Home, run string, changes []improve.Change, cycles []improve.Cycle) (
	out Promotion, err error,
) {
	out.Branch = "sia/improve-" + strings.ToLower(run)
	defer func() {
		if err != nil {
			out.Why = err.Error()
		}
	}()
	bot, err := p.github.Author(ctx, p.now())
	if err != nil {
		return out, err
	}
	title := p.mask(render.ImprovementTitle(cycles))
	sha, _, err := p.mirror(h).CommitFiles(ctx, gitops.FilesSpec{
		Branch: out.Branch, Base: h.head, Author: bot, Message: title,
		Update: func(read func(string) ([]byte, error)) (map[string][]byte, error) {
			files := map[string][]byte{}
			for _, c := range changes {
				if now, err := read(c.Name); err == nil && string(now) != c.Before.Text && string(now) != c.After.Text {
					return nil, fmt.Errorf("%s: %w", c.Name, ErrChanged)
				}
				files[c.Name] = []byte(c.After.Text)
			}
			return files, nil
		},
	})
	if err != nil {
		return out, err
	}
	out.Commit = sha
	pull, err := p.github.Repo(h.installation, h.Repo).EnsurePull(ctx, github.NewPull{
		Head: out.Branch, Base: h.branch, Title: title, Body: p.mask(render.ImprovementBody(cycles, h.shipped(changes))),
	})
	if err != nil {
		return out, err
	}
	out.Promoted, out.Pull = true, pull.URL
	return out, nil
}

// shipped returns the changed files that the repository does not have yet.
func (h Home) shipped(changes []improve.Change) (names []string) {
	for _, c := range changes {
		if !h.own[c.Name] {
			names = append(names, c.Name)
		}
	}
	return names
}
