package people

import (
	"fmt"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/oracle"
	"github.com/sia-bot/sia/sim/ghsim/world"
)

// Oracle reports whether a pull request's present head is green.
func (p *People) Oracle(q oracle.Question) (oracle.Answer, error) {
	p.world.Lock()
	defer p.world.Unlock()
	r, i, err := p.find(q.Repo, q.Pull)
	if err != nil {
		return oracle.Answer{}, err
	}
	if i.Pull == nil {
		return oracle.Answer{}, fmt.Errorf("%s#%d is not a pull request", q.Repo, q.Pull)
	}
	return oracle.Ask(r, q, p.world.Now(), source{p.world, p.git}), nil
}

// source reads git and the other repositories for the oracle.
type source struct {
	world *world.World
	git   *git.Store
}

// File is a file of a repository at a commit.
func (s source) File(r *model.Repository, sha, path string) (string, bool) {
	text, err := s.git.BlobAt(r.Dir, sha, path)
	return string(text), err == nil
}

// Log are up to n commits, each the first parent of the one before.
func (s source) Log(r *model.Repository, sha string, n int) []string {
	var all []string
	for sha != "" && len(all) < n {
		all = append(all, sha)
		parents := s.git.Facts(r.Dir, sha).Parents
		if len(parents) == 0 {
			break
		}
		sha = parents[0]
	}
	return all
}

// Bot is the account of an app.
func (s source) Bot(app int64) *model.User {
	if a := s.world.App(app); a != nil {
		return a.Bot
	}
	return nil
}
