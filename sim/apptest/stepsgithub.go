package apptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/sim/ghsim"
)

// lookEvery is how often SIA polls GitHub while a story's time passes, if polling is on.
const lookEvery = 2 * time.Minute

// wait advances the time, with the polls that are due meanwhile.
func (p *player) wait(d time.Duration) {
	p.t.Helper()
	until := p.Clock.Now().Add(d)
	for !p.looks.IsZero() && !p.looks.After(until) {
		if ahead := p.looks.Sub(p.Clock.Now()); ahead > 0 {
			p.Wait(ahead)
		}
		p.looks = p.looks.Add(lookEvery)
		if p.App != nil {
			p.Periodic("look")
			p.Quiet()
		}
	}
	if rest := until.Sub(p.Clock.Now()); rest > 0 {
		p.Wait(rest)
	}
}

// github plays the steps of GitHub, its settings, its apps and its bots.
func (p *player) github(verb string, arg func(int) string, rest string) (done bool, err error) {
	switch verb {
	case "bot":
		err = p.bot(arg(0), p.branch(arg(1)), arg(2), arg(3))
	case "check":
		err = p.check(arg(0), arg(1), arg(2), arg(3))
	case "finish":
		err = p.finish(arg(0), arg(1), arg(2))
	case "status":
		err = p.status(arg(0), arg(1), arg(2), arg(3))
	case "require":
		err = p.Sim.SetRuleset(Repo, "main", strings.Fields(rest)...)
	case "rule":
		err = p.rule(rest)
	case "protect":
		err = p.Sim.ProtectBranch(Repo, "main", ghsim.Classic{LinearHistory: strings.Contains(rest, "linear-history"),
			Conversations: strings.Contains(rest, "conversations")})
	case "rules":
		err = p.rules(arg(0))
	case "up-to-date":
		err = p.Sim.RequireUpToDate(Repo, "main")
	case "hooks":
		err = p.Sim.SetHooks(Repo, arg(0) == "on")
	case "workflows":
		_, words, _ := strings.Cut(rest, " ")
		err = p.workflows(arg(0), words)
	case "approve":
		err = p.Sim.ApproveWorkflows(Repo, arg(0))
	case "retarget", "queue", "unqueue":
		err = p.onPull(verb, arg(0), arg(1))
	case "transfer":
		_, err = p.Sim.TransferIssue(Repo, p.issue, arg(0), OwnersRepo)
	case "rename":
		err = p.Sim.RenameRepo(Repo, arg(0))
	case "no-drafts":
		err = p.Sim.SetDrafts(Repo, false)
	case "archive":
		err = p.Sim.Archive(Repo)
	case "graphql":
		err = p.graphql(arg(0), arg(1))
	case "git":
		p.Sim.RefuseRestrictedGit(arg(0) == "narrowed")
	case "looks":
		if p.looks = (time.Time{}); arg(0) == "on" {
			p.looks = p.Clock.Now().Add(lookEvery)
		}
	default:
		return false, nil
	}
	return true, err
}

// bot pushes files as a bot.
func (p *player) bot(login, branch, name, how string) error {
	files := p.story.sectionsIn("push/" + name)
	if len(files) == 0 {
		return fmt.Errorf("the story has no files push/%s/…", name)
	}
	push := ghsim.BotPush{Login: login, Message: "Push " + name, Files: files}
	switch how {
	case "":
	case "skip-ci":
		push.Message += " [skip ci]"
	case "token":
		push.Token = ghsim.GitHubToken
	case "silent":
		push.Token = ghsim.SilentToken
	default:
		return fmt.Errorf("a bot can't push %q", how)
	}
	_, err := p.Sim.PushAsBot(Repo, branch, push)
	return err
}

// check makes a check run as an app.
func (p *player) check(app, name, state, at string) error {
	sha, err := p.commit(at)
	if err == nil {
		_, err = p.Sim.CreateCheck(Repo, sha, appCheck(app, name, state))
	}
	return err
}

// finish changes the newest check run of a name by an app on the head.
func (p *player) finish(app, name, state string) error {
	runs, err := p.Sim.CheckRuns(Repo, string(p.Task(p.issue).Head))
	if err != nil {
		return err
	}
	for _, r := range slices.Backward(runs) {
		if r.App == app && r.Name == name {
			return p.Sim.UpdateCheck(Repo, r.ID, appCheck(app, name, state))
		}
	}
	return fmt.Errorf("the head has no check %s of %s", name, app)
}

// appCheck is a check run in a state: a status, or a conclusion.
func appCheck(app, name, state string) ghsim.AppCheck {
	c := ghsim.AppCheck{App: app, Name: name, Status: state}
	if state != "queued" && state != "in_progress" {
		c.Status, c.Conclusion = "completed", state
	}
	return c
}

// status sets a commit status.
func (p *player) status(who, name, state, at string) error {
	sha, err := p.commit(at)
	if err != nil {
		return err
	}
	return p.Sim.CreateStatus(Repo, sha, who, name, state, "")
}

// commit is the head of the task, the commit of an attempt, the test merge, or the head of the base branch.
func (p *player) commit(at string) (string, error) {
	t := p.Task(p.issue)
	switch at {
	case "merge":
		return p.Sim.TestMerge(Repo, t.Pull.Number)
	case "base":
		branches, err := p.Sim.Branches(Repo)
		return branches[t.BaseBranch], err
	}
	sha := t.Head
	for _, a := range t.Attempts {
		if at == strconv.Itoa(a.Number) {
			sha = a.Head
		}
	}
	return string(sha), nil
}

// rule adds a rule of main.
func (p *player) rule(text string) error {
	if text == "none" {
		return p.Sim.SetRules(Repo, "main")
	}
	own, err := p.Sim.Repo(Repo)
	if err != nil {
		return err
	}
	names := []string{"{repo}", fmt.Sprint(own.ID), "{app}", fmt.Sprint(p.config.GitHub.AppID)}
	if owners, err := p.Sim.Repo(OwnersRepo); err == nil {
		names = append(names, "{owner}", fmt.Sprint(owners.ID))
	}
	var rule ghsim.Rule
	if err := json.Unmarshal([]byte(strings.NewReplacer(names...).Replace(text)), &rule); err != nil {
		return fmt.Errorf("reading the rule: %w", err)
	}
	return p.Sim.AddRule(Repo, "main", rule)
}

// rules sets whether the API returns the rules of branches.
func (p *player) rules(how string) error {
	status, known := map[string]int{
		"readable": 0, "unreadable": http.StatusNotFound, "forbidden": http.StatusForbidden,
	}[how]
	if !known {
		return fmt.Errorf("rules can't be %q", how)
	}
	return p.Sim.HideRules(Repo, status)
}

// onPull plays a step on the task's pull request.
func (p *player) onPull(verb, who, what string) error {
	n, err := p.pull()
	if err != nil {
		return err
	}
	switch verb {
	case "retarget":
		return p.Sim.Retarget(Repo, n, who, what)
	case "queue":
		_, err = p.Sim.Enqueue(Repo, n, who)
		return err
	}
	return p.Sim.Dequeue(Repo, n, who, what == "merged")
}

// graphql makes requests fail.
func (p *player) graphql(how, times string) error {
	n, err := strconv.Atoi(times)
	if how != "fails" || err != nil || n < 1 {
		return errors.New("write for example: graphql fails 2")
	}
	p.Sim.FailRequests(ghsim.Once(ghsim.Fault{Status: http.StatusBadGateway, Times: n}, func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/graphql")
	}))
	return nil
}

// workflows sets what keeps workflows from running.
func (p *player) workflows(how, words string) error {
	to, known := map[string]ghsim.Actions{
		"on": {}, "approval": {Approval: true}, "no-runner": {NoRunner: true}, "refused": {Refusal: words},
		"startup-failure": {Startup: true}, "late": {Late: true},
	}[how]
	if !known {
		return fmt.Errorf("workflows can't be %q", how)
	}
	return p.Sim.SetActions(Repo, to)
}

// rerun reruns the newest run of a check of the head.
func (p *player) rerun(who, check string) error {
	runs, err := p.Sim.CheckRuns(Repo, string(p.Task(p.issue).Head))
	if err != nil {
		return err
	}
	for _, r := range slices.Backward(runs) {
		if r.Name == check {
			return p.Sim.RerequestCheckRun(Repo, r.ID, who)
		}
	}
	return fmt.Errorf("the head has no check %s", check)
}
