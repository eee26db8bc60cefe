package abuse

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/stage"
)

//go:embed repo.txtar
var repoFiles []byte

//go:embed model.txtar
var model []byte

// repo is the attacked repository, stranger an untrusted user, taskTimeout the time limit of a task.
const (
	owner       = "ada"
	name        = "prey"
	repo        = owner + "/" + name
	stranger    = "mallory"
	taskTimeout = 45 * time.Second
)

var silent = slog.New(slog.DiscardHandler)

// target is the program under attack: a simulated GitHub, malicious scripted models, and the production app with its
// sandbox. The first attack that needs it starts it.
type target struct {
	*stage.Stage // nil: not started yet
	set          Config
	dir          string
	plant        func(*stage.Stage) error
	issues       int // number of issues opened
	waiting      int // issue of a task that waits for a reviewer; 0: none yet
}

// attacks returns the attacks from findings of testers: first the numbered ones, then those that failed from the start.
func (p *target) attacks() []attack {
	staged := func(run func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error {
			if err := p.start(ctx, silent, ""); err != nil {
				return err
			}
			return run(ctx)
		}
	}
	all := []attack{
		{name: "1 a process that ends before its tests", limit: "what ran is the evidence", run: staged(p.endsEarly)},
		{name: "2 webhooks: silent and trickling bodies", limit: "what has arrived", run: staged(p.silentHooks)},
		{name: "3 sign-in: 300 callbacks of strangers", limit: "only those begun here", run: staged(p.signInLockout)},
		{name: "5 set-user-ID bits and folders 300 deep", limit: "tidied or discarded", run: p.setuidLeftovers},
		{name: "6 a token in a UTF-16 file", limit: "decoded, not pushed", run: staged(p.utf16Secret)},
		{name: "7 looks at the set-up link, and guesses", limit: "a look uses nothing up", run: p.setupLink},
		{name: "8 other names for the operator's pages", limit: "loopback and a port", run: staged(p.otherNames)},
		{name: "9 words in the place of GitHub's answers", limit: "required fields", run: staged(p.emptyAnswers)},
		{name: "10 60 comments and commands of a stranger", limit: "no event, no say", run: staged(p.strangersWords)},
		{name: "replay mine on a hostile repository", limit: "library git, sandbox", run: p.hostileReplay},
		{name: "ways around the set-up proxy", limit: "TLS to allowed hosts", run: p.setupProxy},
		{name: "hostile priors", limit: "trusted keys, one form", run: hostilePriors},
		{name: "what models write on GitHub", limit: "neutralised", run: staged(p.modelsWords)},
		{name: "guarded files", limit: "a person is asked", run: staged(p.guardedFiles)},
		{name: "a memory branch full of garbage", limit: "material, never run", run: staged(p.garbageMemory)},
		{name: "stops in the midst of a task: 4", limit: "each effect once", run: staged(p.stops)},
		{name: fullDisk, limit: "refused, then goes on", run: p.fullDisk},
		{name: "a database that is garbage, or cut short", limit: "a clear error", run: staged(p.damagedDatabase)},
	}
	for i := range all {
		all[i].within = taskTimeout
	}
	return all
}

// start starts the stage, once. An empty db is a database in the stage's folder.
func (p *target) start(ctx context.Context, log *slog.Logger, db string) (err error) {
	if p.Stage != nil {
		return nil
	}
	files := map[string]string{}
	for _, f := range txtar.Parse(repoFiles).Files {
		files[f.Name] = string(f.Data)
	}
	// The app outlives the attack for which it is started.
	if p.Stage, err = stage.Start(context.WithoutCancel(ctx), stage.Config{Owner: owner, Name: name,
		Spec: ghsim.RepoSpec{Files: files, Public: true}, Script: model, Logger: log, Forward: p.set.Forward,
		Stdlib: p.set.Stdlib, Private: "127.0.0.1:0", DB: db}); err != nil {
		return fmt.Errorf("set the stage: %w", err)
	}
	p.Sim.CreateUser(stranger)
	if p.plant != nil {
		return p.plant(p.Stage)
	}
	return nil
}

// close closes the stage if there is one.
func (p *target) close() error {
	if p.Stage == nil {
		return nil
	}
	return p.Close()
}

// quiet waits until neither GitHub nor the app has anything left to do now.
func (p *target) quiet(ctx context.Context) error {
	for range 3 { // each can cause work for the other
		if err := errors.Join(p.Sim.WaitIdle(ctx), p.App.Engine().Idle(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// open makes a new user open an issue and label it.
func (p *target) open(title string) (issue int, err error) {
	p.issues++
	return p.Ask(repo, fmt.Sprintf("dev-%d", p.issues), title, "Please.")
}

// until waits until a task satisfies a condition.
func (p *target) until(ctx context.Context, issue int, is func(sia.Task) bool) (sia.Task, error) {
	for {
		t, err := p.TaskOf(ctx, issue)
		if err != nil || is(t) {
			return t, err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return t, fmt.Errorf("the task of #%d is still %s", issue, t.State)
		}
	}
}

// decided plays an issue until it is labelled as passed or as in need of a person.
func (p *target) decided(ctx context.Context, title string) (issue int, label string, err error) {
	if issue, err = p.open(title); err != nil {
		return 0, "", err
	}
	e, err := p.Sim.WaitEntry(ctx, 0, func(e ghsim.Entry) bool {
		return e.Kind == "issues.labeled" && e.Number == issue &&
			(e.Detail == render.LabelPassed || e.Detail == render.LabelNeedsHuman)
	})
	if err != nil {
		t, _ := p.TaskOf(context.WithoutCancel(ctx), issue)
		return issue, "", fmt.Errorf("nothing was decided about #%d, which is %s", issue, t.State)
	}
	return issue, e.Detail, nil
}

// asks returns an error unless SIA asks a person about the issue.
func (p *target) asks(ctx context.Context, title string) (issue int, err error) {
	issue, label, err := p.decided(ctx, title)
	if err == nil && label != render.LabelNeedsHuman {
		err = fmt.Errorf("#%d passed, and nobody was asked", issue)
	}
	return issue, err
}

// written returns everything that the app wrote on an issue and its pull request.
func (p *target) written(ctx context.Context, issue int) (string, error) {
	t, err := p.TaskOf(ctx, issue)
	if err != nil {
		return "", err
	}
	v, err := p.Sim.Issue(repo, issue)
	if err != nil {
		return "", err
	}
	all, said := v.Comments, ""
	if t.Pull.Number != 0 {
		pull, err := p.Sim.Pull(repo, t.Pull.Number)
		if err != nil {
			return "", err
		}
		all, said = append(all, pull.Comments...), pull.Title+"\n"+pull.Body+"\n"
	}
	for _, c := range all {
		if strings.HasSuffix(c.Author, "[bot]") {
			said += c.Body + "\n"
		}
	}
	return said, nil
}

// branchesOfIssue returns the branches with an issue's attempts.
func (p *target) branchesOfIssue(issue int) ([]string, error) {
	all, err := p.Sim.Branches(repo)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool {
		return !strings.HasPrefix(name, fmt.Sprintf("sia/issue-%d-", issue))
	}), err
}
