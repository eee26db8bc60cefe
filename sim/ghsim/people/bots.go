package people

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// BotPush is a bot's push, with its token.
type BotPush struct {
	Login   string // such as "github-actions[bot]" or "pre-commit-ci[bot]"
	Message string
	Files   map[string]string
	Token   model.Token
}

// PushAsBot commits files on top of a branch as a bot and pushes it, and returns the new head. A push sends its events
// whatever its token; the token decides whether workflows run for it.
func (p *People) PushAsBot(repo, branch string, push BotPush) (string, error) {
	return p.pushBy(repo, branch, func(r *model.Repository, a model.Actor) (string, error) {
		return p.world.CommitFiles(r, a, branch, push.Message, push.Files)
	}, func() (*model.Repository, model.Actor, error) {
		r, err := p.repository(repo)
		if err != nil {
			return nil, model.Actor{}, err
		}
		if !strings.HasSuffix(push.Login, "[bot]") {
			return nil, model.Actor{}, fmt.Errorf("%q is no bot: a bot's login ends in [bot]", push.Login)
		}
		return r, model.Actor{User: p.world.EnsureUser(push.Login, "Bot"), Token: push.Token}, nil
	})
}

// Check is a check run that an app makes through the API.
type Check struct {
	App        string // slug; github-actions: made with GITHUB_TOKEN
	Name       string
	Status     string // queued, in_progress or completed; empty: completed
	Conclusion string
	Title      string
	Summary    string
	DetailsURL string // empty: the check run's own page
}

// CreateCheck makes a check run of an app on a commit and returns its id. An existing one of the same name is kept.
//
// It belongs to the app's first suite of the commit. For GITHUB_TOKEN that is the suite of the first workflow run,
// whichever it is.
// https://github.com/bencherdev/bencher/issues/536
func (p *People) CreateCheck(repo, sha string, check Check) (int64, error) {
	var id int64
	err := p.onCommit(repo, sha, func(r *model.Repository, full string) {
		a := p.world.EnsureApp(check.App)
		k := p.world.NewCheck(r, a, full)
		k.Name = check.Name
		p.fill(k, check)
		p.world.AddCheck(r, model.Actor{User: a.Bot, App: a}, k)
		id = k.ID
	})
	return id, err
}

// UpdateCheck changes the status and the conclusion of a check run that an app made.
func (p *People) UpdateCheck(repo string, id int64, check Check) error {
	return p.inRepo(repo, func(r *model.Repository) error {
		k := r.Check(id)
		if k == nil || k.Job != nil {
			return fmt.Errorf("%s has no check run %d that an app made", repo, id)
		}
		a := k.Suite.App
		p.world.ChangeCheck(r, model.Actor{User: a.Bot, App: a}, k, func(k *model.CheckRun) { p.fill(k, check) })
		return nil
	})
}

func (p *People) fill(k *model.CheckRun, check Check) {
	k.Status, k.Conclusion = check.Status, check.Conclusion
	if k.Status == "" {
		k.Status = "completed"
	}
	if k.Status == "completed" {
		k.Completed = p.world.Now()
	}
	if check.Title != "" || check.Summary != "" {
		k.Title, k.Summary = &check.Title, &check.Summary
	}
	k.DetailsURL = check.DetailsURL
}

// onCommit changes something on the commit of a branch, tag or SHA.
func (p *People) onCommit(repo, ref string, do func(r *model.Repository, sha string)) error {
	p.world.Lock()
	defer p.world.Unlock()
	r, err := p.repository(repo)
	if err != nil {
		return err
	}
	sha, ok := p.world.CommitOf(r, ref)
	if !ok {
		return fmt.Errorf("%s has no commit %s", repo, ref)
	}
	do(r, sha)
	return nil
}
