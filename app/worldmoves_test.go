package app_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// settleFates draws result and time of each new job.
func (w *world) settleFates() {
	jobs, err := w.sim.Jobs(w.repo)
	w.must(err)
	for _, j := range jobs {
		if w.fates[j.ID] {
			continue
		}
		w.fates[j.ID] = true
		r := w.rng
		begins := w.clock.Now().Add(oneOf(r, 0, 5*time.Second, 20*time.Second, 2*time.Minute))
		ends := begins.Add(oneOf(r, time.Second, 10*time.Second, time.Minute, 4*time.Minute))
		conclusion, log := "success", "fine\n"
		if w.chance(w.temper.bad) {
			conclusion, log = "failure", failedLog
		}
		if sum, said, is := sumsUp(j); is {
			conclusion, log = sum, said
		}
		about := fmt.Sprintf("%s (%s on %s, %.7s, attempt %d)", j.Name, j.Workflow, j.Event, j.SHA, j.Attempt)
		if w.chance(w.temper.odd) {
			switch odd := oneOf(r, "cancelled", "weather", "weather", "timed_out", "unpaid", "no end", "no runner", "neutral",
				"stale", "action_required"); odd {
			case "weather":
				conclusion, log = "failure", weather
				w.fellByChance[j.SHA] = true
				w.count["weather"]++
			case "unpaid":
				w.count["unpaid"]++
				w.appoint(begins, "never started: "+about, func() error { return w.sim.EndJob(w.repo, j.ID, "failure", unpaid) })
				continue
			case "no end":
				w.count["no end"]++
				w.appoint(begins, "begins without end: "+about, func() error { return w.sim.BeginJob(w.repo, j.ID) })
				continue
			case "no runner":
				w.count["no runner"]++
				w.note("no runner: %s", about)
				continue
			default:
				conclusion, log = odd, "##[error]The operation was canceled.\n"
				w.count["job "+odd]++
			}
		}
		w.appoint(begins, "begins: "+about, func() error { return w.sim.BeginJob(w.repo, j.ID) })
		w.appoint(ends, conclusion+": "+about, func() error { return w.sim.EndJob(w.repo, j.ID, conclusion, log) })
	}
}

// reports makes an app report on the task's head: its check run is red at first, for the part of the tests read so far,
// and created again after it has read all.
func (w *world) reports() {
	head := w.task.Head
	if !w.temper.reporter || head == "" || w.report[head] {
		return
	}
	w.report[head] = true
	at := w.clock.Now()
	for _, conclusion := range []string{oneOf(w.rng, "failure", "failure", "success"), oneOf(w.rng, "success", "success",
		"success", "failure")} {
		at = at.Add(oneOf(w.rng, 0, time.Second, 20*time.Second))
		w.appoint(at, fmt.Sprintf("the reporter on %s: %s", head.Short(), conclusion), func() error {
			_, err := w.sim.CreateCheck(w.repo, string(head), ghsim.AppCheck{App: "reporter", Name: "report",
				Status: "completed", Conclusion: conclusion})
			return err
		})
	}
	w.count["reported anew"]++
}

func (w *world) appoint(at time.Time, what string, do func() error) {
	w.agenda = append(w.agenda, appointment{at, what, do})
}

// moveKinds are actions of users, bots and GitHub; some more frequent than others.
var moveKinds = []string{"push", "push", "bot push", "skip ci", "force push", "base", "retarget", "close", "merge",
	"status", "status", "test merge status", "app check", "app check", "change check", "rule", "rule", "rerun", "rerun",
	"cancel", "actions", "look", "look", "graphql", "queue", "workflow change", "lag", "weird push", "tests"}

// move performs an action of somebody, unless the move is skipped.
func (w *world) move() {
	w.moves++
	r := rand.New(rand.NewPCG(w.seed, uint64(1000+w.moves)))
	if w.skip[w.moves] {
		return
	}
	kind := moveKinds[r.IntN(len(moveKinds))]
	if w.task.Waits() && r.IntN(2) == 0 {
		kind = "help"
	}
	w.moveOf(r, kind)
}

func (w *world) moveOf(r *rand.Rand, kind string) {
	what, err := w.doMove(r, kind)
	if errors.Is(err, errNothing) {
		return
	}
	w.note("MOVE %d %s %s%s", w.moves, kind, what, orError(err))
	if err == nil {
		w.count["move "+kind]++
		if w.passed {
			w.count["move after pass"]++
		}
	}
}

var errNothing = fmt.Errorf("there is nothing for it")

// doMove performs one action, and returns its name.
func (w *world) doMove(r *rand.Rand, kind string) (what string, err error) {
	number, head := w.task.Pull.Number, w.head(w.task.Branch)
	if head == "" && kind != "rule" && kind != "base" && kind != "actions" && kind != "graphql" {
		return "", errNothing
	}
	file := func() map[string]string {
		w.pushes++
		return map[string]string{fmt.Sprintf("src/pushed%d.go", w.pushes): "package src\n"}
	}
	bot := func(login string, token model.Token, message string) (string, error) {
		return w.sim.PushAsBot(w.repo, w.task.Branch,
			ghsim.BotPush{Login: login, Message: message, Token: token, Files: file()})
	}
	switch kind {
	case "push":
		return w.sim.PushFiles(w.repo, w.task.Branch, member, "a person's", file())
	case "bot push":
		return bot("pre-commit-ci[bot]", ghsim.OwnToken, "fix")
	case "weird push":
		token := oneOf(r, ghsim.GitHubToken, ghsim.SilentToken)
		sha, err := bot("github-actions[bot]", token, "format")
		return fmt.Sprintf("token %d %.7s", token, sha), err
	case "skip ci":
		return w.sim.PushFiles(w.repo, w.task.Branch, member, "quietly [skip ci]", file())
	case "tests":
		return w.sim.PushFiles(w.repo, w.task.Branch, member, "no tests", map[string]string{
			"src/a_test.go": fmt.Sprintf("package src\n\nfunc TestA(t *testing.T) { t.Skip(%d) }\n", w.pushes)})
	case "force push":
		to := w.head("main")
		if n := len(w.task.Attempts); n > 0 && r.IntN(2) == 0 && w.task.Attempts[0].Head != "" {
			to = string(w.task.Attempts[0].Head)
		}
		return to, w.sim.ForcePush(w.repo, w.task.Branch, member, to)
	case "workflow change":
		path := workflowPath(r.IntN(2))
		text := w.workflow(r, 0)
		if r.IntN(3) == 0 {
			text = ghsim.Deleted
		}
		_, err := w.sim.PushFiles(w.repo, w.task.Branch, member, "other checks", map[string]string{path: text})
		return path + ":\n" + text, err
	case "base":
		return w.sim.PushFiles(w.repo, "main", member, "the base moves", file())
	case "retarget":
		if w.head("dev") == "" {
			if _, err := w.sim.PushFiles(w.repo, "dev", member, "another base", file()); err != nil {
				return "", err
			}
		}
		p, err := w.sim.Pull(w.repo, number)
		if err != nil {
			return "", err
		}
		to := "dev"
		if p.BaseRef == "dev" {
			to = "main"
		}
		return to, w.sim.Retarget(w.repo, number, member, to)
	case "close":
		p, err := w.sim.Issue(w.repo, number)
		if err != nil {
			return "", err
		}
		if p.State == "closed" {
			return "reopens", w.sim.ReopenIssue(w.repo, number, member)
		}
		return "closes", w.sim.ClosePull(w.repo, number, member)
	case "merge":
		return w.sim.MergePull(w.repo, number, owner)
	case "status", "test merge status":
		at := head
		if kind != "status" {
			if at, err = w.sim.TestMerge(w.repo, number); err != nil {
				return "", err
			}
		}
		context := oneOf(r, "ci/outside", "ci/outside", "license/cla", "test")
		state := oneOf(r, "success", "success", "failure", "pending", "error")
		return context + " " + state, w.sim.CreateStatus(w.repo, at, owner, context, state, "so it is")
	case "app check":
		check := ghsim.AppCheck{App: oneOf(r, "codecov", "sonar", ghsim.ActionsApp),
			Name:   oneOf(r, "coverage", "quality", "test"),
			Status: oneOf(r, "completed", "completed", "completed", "in_progress")}
		if check.Status == "completed" {
			check.Conclusion = oneOf(r, "success", "success", "failure", "neutral", "skipped", "action_required", "cancelled",
				"timed_out")
		}
		_, err := w.sim.CreateCheck(w.repo, head, check)
		return fmt.Sprintf("%s of %s: %s %s", check.Name, check.App, check.Status, check.Conclusion), err
	case "change check":
		return w.changeCheck(r, head)
	case "rule":
		w.ruled = w.clock.Now()
		return w.rule(r)
	case "rerun":
		return w.rerun(r, head)
	case "cancel":
		jobs, err := w.sim.Jobs(w.repo)
		if err != nil || len(jobs) == 0 {
			return "", errNothing
		}
		j := jobs[r.IntN(len(jobs))]
		return fmt.Sprintf("run of %s on %s", j.Workflow, j.Event), w.sim.CancelRun(w.repo, j.Run, member)
	case "actions":
		to := oneOf(r, ghsim.Actions{}, ghsim.Actions{}, ghsim.Actions{Approval: true}, ghsim.Actions{NoRunner: true},
			ghsim.Actions{Startup: true}, ghsim.Actions{Late: true}, ghsim.Actions{Refusal: unpaid})
		if to == (ghsim.Actions{}) {
			if err := w.sim.ApproveWorkflows(w.repo, member); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("%+v", to), w.sim.SetActions(w.repo, to)
	case "look":
		return "", w.periodic()
	case "graphql":
		w.toggleGraphQL(!w.temper.deaf)
		return fmt.Sprint(!w.temper.deaf), nil
	case "queue":
		_, err := w.sim.Enqueue(w.repo, number, owner)
		return "", err
	case "lag":
		n := r.IntN(3)
		w.sim.Lag(n)
		return fmt.Sprint(n), nil
	case "help":
		return w.help(r)
	}
	return "", errNothing
}

// help makes a user do what the task waits for.
func (w *world) help(r *rand.Rand) (string, error) {
	switch {
	case w.task.State == sia.OnHold:
		return "resume", w.say("resume", sia.Resume{Credits: 20 * sia.Credit})
	case w.task.State == sia.Escalated:
		options := w.task.Escalation.Options
		letter := options[r.IntN(len(options))].Letter
		return "answer " + letter, w.say("answer", sia.AnswerGiven{Letter: letter})
	}
	return "accept", w.say("accept", sia.AcceptTests{})
}

// periodic looks at the task like the sweep.
func (w *world) periodic() error {
	err := w.parts.Sweeper.Look(w.ctx, w.task)
	w.look()
	return err
}

// toggleGraphQL makes GitHub reject GraphQL, or accept it.
func (w *world) toggleGraphQL(on bool) {
	w.temper.deaf = on
	w.sim.ClearFaults()
	if on {
		refused := &ghsim.Fault{Status: http.StatusForbidden}
		w.sim.FailRequests(func(req *http.Request) *ghsim.Fault {
			if req.URL.Path == "/api/graphql" {
				return refused
			}
			return nil
		})
	}
}

func (w *world) changeCheck(r *rand.Rand, head string) (string, error) {
	checks, err := w.sim.CheckRuns(w.repo, head)
	if err != nil {
		return "", err
	}
	checks = slices.DeleteFunc(checks, func(c ghsim.CheckView) bool { return c.Name != "coverage" && c.Name != "quality" })
	if len(checks) == 0 {
		return "", errNothing
	}
	c := checks[r.IntN(len(checks))]
	check := ghsim.AppCheck{Name: c.Name, Conclusion: oneOf(r, "success", "failure", "neutral")}
	return c.Name + " " + check.Conclusion, w.sim.UpdateCheck(w.repo, c.ID, check)
}

func (w *world) rerun(r *rand.Rand, head string) (string, error) {
	checks, err := w.sim.CheckRuns(w.repo, head)
	if err != nil {
		return "", err
	}
	checks = slices.DeleteFunc(checks, func(c ghsim.CheckView) bool { return c.Status != "completed" || c.App == "sia" })
	if len(checks) == 0 {
		return "", errNothing
	}
	c := checks[r.IntN(len(checks))]
	return c.Name + " of " + c.App, w.sim.RerequestCheckRun(w.repo, c.ID, member)
}

// requireWorkflow makes a branch require a workflow, of this repository or of another. Only one of the other's files
// exists: a rule with the missing one is never fulfilled.
func (w *world) requireWorkflow(r *rand.Rand, branch string) (string, error) {
	in := oneOf(r, w.repoID, w.other)
	path := workflowPath(r.IntN(2))
	rule := ghsim.Rule{Type: model.RuleWorkflows, Parameters: map[string]any{model.RuleWorkflows: []any{
		map[string]any{"path": path, "repository_id": in}}}}
	return fmt.Sprintf("%s requires workflow %s of %d", branch, path, in), w.sim.AddRule(w.repo, branch, rule)
}

// rule changes the requirements of the base branch.
func (w *world) rule(r *rand.Rand) (string, error) {
	branch := oneOf(r, "main", "main", "main", "dev")
	name := oneOf(r, "test", "lint", "ci/outside", "coverage", "tset", "after")
	if len(w.jobs) > 0 && r.IntN(4) > 0 {
		name = w.jobs[r.IntN(len(w.jobs))]
	}
	switch n := r.IntN(12); {
	case n < 3:
		names := []string{name}
		if len(w.jobs) > 1 && r.IntN(2) == 0 {
			names = append(names, w.jobs[r.IntN(len(w.jobs))])
		}
		return branch + " requires " + strings.Join(names, " and "), w.sim.SetRuleset(w.repo, branch, names...)
	case n < 5:
		return branch + " is protected: " + name, w.sim.SetBranchProtection(w.repo, branch, name)
	case n < 6:
		return branch + " has no rules", w.sim.SetRules(w.repo, branch)
	case n < 7:
		return "rules are hidden", w.sim.HideRules(w.repo, oneOf(r, 403, 404, 0))
	case n < 8:
		return branch + " wants to be up to date", w.sim.RequireUpToDate(w.repo, branch)
	case n < 9:
		app := w.sim.CreateUser("nobody").ID
		rule := ghsim.Rule{Type: model.RuleChecks, Parameters: map[string]any{model.RuleChecks: []any{
			map[string]any{"context": name, "integration_id": app}}}}
		return branch + " requires " + name + " of an app", w.sim.AddRule(w.repo, branch, rule)
	case n < 11:
		return w.requireWorkflow(r, branch)
	}
	contexts := []string{}
	for i := range 30 {
		contexts = append(contexts, fmt.Sprintf("many %d", i))
	}
	return branch + " requires many", w.sim.SetRuleset(w.repo, branch, append(contexts[:r.IntN(3)], name)...)
}
