package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
)

// Repository is a repository in the server's database, for separate commands.
type Repository struct {
	Repo     string // owner/name
	Settings sia.Settings

	deps *deps
	row  store.Repository
}

// Policies returns the policies that may be in force in the repository, from the database.
func (r *Repository) Policies(ctx context.Context) (*policies.Set, error) {
	return r.deps.settings.Policies(ctx, r.row.Installation, r.row.Repo)
}

// historyDepth is the number of a repository's commits that are fetched to find tasks.
const historyDepth = 3000

// OpenRepository returns the repository named owner/name from a server's database. The caller calls closing.
func OpenRepository(
	ctx context.Context, c Config, o Options, name string,
) (_ *Repository, closing func() error, err error) {
	c = c.WithDefaults()
	if err := c.validate(false); err != nil {
		return nil, nil, err
	}
	g, err := newDeps(ctx, c, o)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.store.Close())
		}
	}()
	all, err := g.store.Repositories(ctx, 0)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range all {
		if strings.EqualFold(r.String(), name) {
			set, err := g.settings.Settings(ctx, r.Installation, r.Repo)
			if err != nil {
				return nil, nil, err
			}
			return &Repository{Repo: r.String(), Settings: set, deps: g, row: r}, g.store.Close, nil
		}
	}
	return nil, nil, fmt.Errorf("this server knows no repository %q; name one on which the app is installed, or a folder "+
		"with a clone", name)
}

// History fetches the repository's history up to historyDepth commits. The caller closes it.
func (r *Repository) History(ctx context.Context) (*gitops.History, error) {
	remote := r.deps.github.Repo(r.row.Installation, r.row.Repo).Remote()
	remote.Key = historyKey(remote.Key)
	return r.deps.git.Repo(remote).FetchHistory(ctx, r.row.DefaultBranch, historyDepth)
}

// historyKey returns the key of the mirror with a repository's history. It is separate from the mirror for attempts,
// which has no history.
func historyKey(key string) string { return key + "/history" }

// Issue returns an issue's title and text.
func (r *Repository) Issue(ctx context.Context, number int) (title, text string, err error) {
	issue, err := r.deps.github.Repo(r.row.Installation, r.row.Repo).Issue(ctx, number)
	return issue.Title, issue.Body, err
}

// ReadMemory returns the files of a folder of the memory branch, by path.
func (r *Repository) ReadMemory(ctx context.Context, folder string) (map[string][]byte, error) {
	return r.deps.memory.ReadFolder(ctx, r.row, folder)
}

// WriteMemory commits files, by path, to the memory branch and returns its head.
func (r *Repository) WriteMemory(ctx context.Context, message string, files map[string][]byte) (sha string, err error) {
	return r.deps.memory.WriteFiles(ctx, r.row, message, files)
}

// A Coder is a configured coder for attempts outside of the server.
type Coder struct {
	Name  string
	Agent agent.Agent
	Tools []string // names of its tools
}

// Coders returns the coders of the configuration, in its order. They run commands in box.
func Coders(c Config, o Options, box *sandbox.Sandbox) (out []Coder, err error) {
	c = c.WithDefaults()
	if err := c.CheckPrices(); err != nil {
		return nil, err
	}
	g := &deps{log: o.Logger, now: o.Now, secrets: c.secrets()}
	commands, err := agent.NewCommands(box, sandboxCache(c), c.SetupHosts, g.now, g.log)
	if err != nil {
		return nil, err
	}
	coders, err := newCoders(g, c, commands)
	if err != nil {
		return nil, err
	}
	for _, one := range coders.All {
		out = append(out, Coder{Name: one.Name, Agent: one.Agent(sia.AgentSettings{}), Tools: coders.Tools})
	}
	return out, nil
}
