package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sim/ghsim"
)

// localRun is one issue on the way: a server of SIA's and a GitHub of its own, in this process. The check is the
// test command, which runs in the sandbox on each commit that is pushed.
type localRun struct {
	*cli.Env
	*demoStage
	cmd       *runCmd
	job       localJob
	repo      string // owner/name there
	bare      string // its bare repository
	commands  *agent.Commands
	issue     int
	in        *bufio.Reader // answers of the person
	terminal  bool          // somebody can be asked
	began     time.Time
	told      string // the last line of progress
	diagnosed int    // diagnoses that were told
	attempt   int    // the last one that was told of
	turns     toldTurns
	calls     int       // of tools, by the model in all attempts
	talk      int       // turns of the model's that called none
	asked     string    // the last question that was asked
	answered  time.Time // when it was answered
	quiet     quiet
	trouble   trouble
	baseOK    bool // the test command passes without any change
	telling   sync.Mutex
	checking  atomic.Bool // the test command runs
}

// toldTurns is what was told of the turns of the attempt that runs.
type toldTurns struct {
	last  map[int]int // number of the last turn of each of the attempt's runs
	run   int         // whose turns were told last
	waits string      // what the newest turn waits for; "": the model
}

// start copies the commit, starts everything, and opens the issue.
func (c *runCmd) start(e *cli.Env, j localJob) (_ *localRun, err error) {
	logger := silentLogger()
	if c.Verbose {
		logger = e.Logger
	}
	box, err := replaySandbox(e.Ctx, logger)
	if err != nil {
		return nil, err
	}
	copied, err := os.MkdirTemp("", "sia-run-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(copied)) }()
	if err := copyCommit(e.Ctx, j, copied); err != nil {
		return nil, err
	}
	// Ctrl-C ends the run, which then has the server stop.
	stage, err := newStage(context.WithoutCancel(e.Ctx), stageConfig{name: j.name,
		spec:   ghsim.RepoSpec{From: copied, DefaultBranch: j.baseName},
		models: j.models, logger: logger, settings: j.settings, noWorkflows: true, closed: true, priced: !c.Free,
		setupHosts: j.hosts})
	if err != nil {
		return nil, err
	}
	r := &localRun{Env: e, demoStage: stage, cmd: c, job: j, repo: demoUser + "/" + j.name, began: time.Now(),
		in: bufio.NewReader(os.Stdin), terminal: cli.Interactive(os.Stdin)}
	r.commands, err = agent.NewCommands(box, filepath.Join(stage.config.Dir, "sandbox"), j.hosts, logger)
	if err == nil {
		err = r.prepare()
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// copyCommit makes a bare repository with the base commit as its only branch.
func copyCommit(ctx context.Context, j localJob, to string) error {
	bare := localGit{to}
	for _, args := range [][]string{{"init", "--quiet", "--bare", "--initial-branch=" + j.baseName},
		{"config", "receive.shallowUpdate", "true"}} {
		if _, err := bare.run(ctx, args...); err != nil {
			return err
		}
	}
	_, err := j.git.run(ctx, "push", "--quiet", "--no-verify", "--no-recurse-submodules", "--", to,
		j.base+":refs/heads/"+j.baseName)
	return err
}

// prepare registers what makes the checks.
func (r *localRun) prepare() error {
	made, err := r.sim.Repo(r.repo)
	if err != nil {
		return err
	}
	r.bare = made.Dir
	_, err = r.sim.CreateApp(localApp)
	return err
}

// progress prints a line for people; with --output json on standard error.
func (r *localRun) progress(format string, args ...any) {
	r.telling.Lock()
	defer r.telling.Unlock()
	r.quiet = quiet{since: time.Now()}
	r.say(format, args...)
}

// say prints a line; the lock is held.
func (r *localRun) say(format string, args ...any) {
	to := r.Out
	if r.cmd.Output == "json" {
		to = r.Err
	}
	toldTo(to, "%s\n", fmt.Sprintf(format, args...))
}

// tellQuiet says now and then what is waited for, so that a slow model is not taken for a hung program.
func (r *localRun) tellQuiet(t sia.Task) {
	r.telling.Lock()
	defer r.telling.Unlock()
	if passed := r.quiet.due(time.Now()); passed > 0 {
		r.say("  … %s: %s; Ctrl-C stops and keeps what was done", passed.Round(time.Second), r.waitsFor(t))
	}
}

// waitWords say what a run waits for while an effect is carried out.
var waitWords = []struct {
	kind sia.EffectKind
	said string
}{
	{sia.DoEvidence, "SIA runs the tests that the change can reach, without and with it"},
	{sia.DoDiagnose, "SIA looks for the reason of the failure"},
	{sia.DoReview, "the model reviews the diagnosis"},
	{sia.DoFinalReview, "the model reads the change against the issue"},
	{sia.DoAggregate, "SIA tests the parts together"},
	{sia.DoBegin, "SIA prepares the attempt"},
}

// waitsFor is what the run waits for.
func (r *localRun) waitsFor(t sia.Task) string {
	if r.checking.Load() {
		return strings.Join(append(slices.Clone(r.job.setup), r.job.test), ", then ")
	}
	pending := slices.Collect(maps.Values(t.Pending))
	if slices.Contains(pending, sia.DoAttempt) {
		return cmp.Or(r.turns.waits, "the model has not answered yet")
	}
	for _, w := range waitWords {
		if slices.Contains(pending, w.kind) {
			return w.said
		}
	}
	return "nothing new"
}

// quiet is for how long nothing was told.
type quiet struct {
	since time.Time
	said  time.Duration // the last time that due said so
}

// due is for how long nothing was told, when that is worth a line: after a minute, two, four, and so on. 0: not now.
func (q *quiet) due(now time.Time) time.Duration {
	passed := now.Sub(q.since)
	if passed < max(time.Minute, 2*q.said) {
		return 0
	}
	q.said = passed
	return passed
}

// play works on the issue until it is resolved, or nothing more can be done.
func (r *localRun) play() (out runResult, err error) {
	r.progress("%s: %s", r.Style.Bold("Issue"), cli.Plain(r.job.title))
	r.progress("Repository %s at %.9s, model %s, budget %s credits", r.job.git.dir, r.job.base, r.job.models.Coder.Model,
		r.cmd.budget())
	r.progress("Check: %s (%s)", r.job.test, r.job.why)
	if err := r.reachModel(); err != nil {
		return out, err
	}
	r.forecast()
	if r.job.uncommitted {
		r.progress("Changes that are not committed are left alone, and are no part of this.")
	}
	if len(r.job.submodules) > 0 {
		r.progress("Submodules are not copied, so tests that need them fail: %s", strings.Join(r.job.submodules, ", "))
	}
	base := r.checkBase()
	if r.Ctx.Err() != nil {
		return r.end(sia.Task{})
	}
	if base.err != nil {
		return out, base.err
	}
	if base.setup != "" && !base.passed {
		return out, r.noSetup(base)
	}
	if r.baseOK = base.passed; r.baseOK {
		r.progress("The check passes before any change, in %s.", base.took.Round(100*time.Millisecond))
		if base.setup != "" {
			r.progress("Setup fails, and the check passes without it; to leave setup out, give --setup true:\n%s",
				cli.Plain(tailOf(base.setup, shownLines)))
		}
	} else {
		r.progress("The check fails before any change, too, so the result has to repair that as well:\n%s", base.tail())
	}
	body := r.job.body
	if !r.baseOK {
		body = strings.TrimSpace(fmt.Sprintf("%s\n\nBefore any change, `%s` fails:\n\n%s", body, r.job.test,
			tailOf(base.log, toldLines)))
	}
	if r.issue, err = r.sim.OpenIssue(r.repo, demoUser, r.job.title, body); err != nil {
		return out, err
	}
	if err := r.sim.Label(r.repo, r.issue, demoUser, r.job.label); err != nil {
		return out, err
	}
	ctx, end := context.WithCancel(context.WithoutCancel(r.Ctx))
	broken, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		if err := r.watchPushes(ctx); err != nil {
			broken <- err
		}
	}()
	task, err := r.follow(broken)
	end()
	<-ended
	if err != nil {
		return out, err
	}
	return r.end(task)
}

// checkBase runs the check before any change, and says now and then that it runs.
func (r *localRun) checkBase() checkResult {
	ended := make(chan checkResult, 1)
	go func() { ended <- r.check(r.Ctx, r.job.base) }()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case out := <-ended:
			return out
		case <-tick.C:
			r.tellQuiet(sia.Task{})
		}
	}
}

// noSetup says that there is no use in attempts where setup and the tests fail before any change.
func (r *localRun) noSetup(base checkResult) error {
	hosts := "no host"
	if len(r.job.hosts) > 0 {
		hosts = strings.Join(r.job.hosts, ", ")
	}
	return fmt.Errorf("setup fails before any change, and the tests with it, so nothing was begun:\n%s\n"+
		"Give other commands with --setup, or the hosts that they need with --setup-hosts (now %s)",
		cli.Plain(tailOf(base.setup, shownLines)), hosts)
}

// reachModel refuses to begin with a model that is away or does not take the key. The server's loop would wait for it
// for hours, as it should: nobody is at its terminal.
func (r *localRun) reachModel() error {
	for _, p := range r.app.Problems(r.Ctx) {
		e := (*llm.Error)(nil)
		switch {
		case r.Ctx.Err() != nil || !errors.As(p.Err, &e):
		case e.Kind == llm.KindNetwork || e.Kind == llm.KindAuth:
			return fmt.Errorf("the model can't be asked, so nothing was begun: %w", p.Err)
		case e.Kind == llm.KindTimeout:
			r.progress("The model's endpoint is slow to answer, or silent; it is asked all the same.")
		}
	}
	return nil
}

// pace is how often a run looks how its task goes.
const pace = 500 * time.Millisecond

// follow tells how the task goes until it ends, waits for somebody who can't be asked, or broken says that its commits
// can't be checked.
func (r *localRun) follow(broken <-chan error) (t sia.Task, err error) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-r.Ctx.Done():
			return r.stop(t)
		case err := <-broken:
			return t, err
		case <-tick.C:
		}
		tasks, err := r.app.Store.Tasks(r.Ctx, store.Filter{})
		if err != nil && r.Ctx.Err() == nil {
			return t, err
		}
		if len(tasks) == 0 {
			continue
		}
		t = tasks[0]
		if err := r.tell(t); err != nil && r.Ctx.Err() == nil {
			return t, err
		}
		if lost, err := r.inTrouble(t); err != nil && r.Ctx.Err() == nil {
			return t, err
		} else if lost {
			return r.stop(t)
		}
		r.tellQuiet(t)
		switch {
		case t.State == sia.Passed || t.State == sia.Stopped:
			return t, nil
		case render.Waiting(t) == "" || t.State == sia.Escalated && !t.Escalation.Kind.OnIssue() && t.Escalation.Issue == 0:
		case !r.terminal:
			return t, nil
		default:
			if done, err := r.ask(t); done || err != nil {
				return t, err
			}
		}
	}
}

// trouble is what keeps a run from going on, such as a model that has too much to do.
type trouble struct {
	words string // empty: none
	since time.Time
}

// inTrouble tells what fails and is tried again, and reports that this went on for longer than a model may take for an
// answer: the server's loop would go on for hours, as it should, with nobody at its terminal.
func (r *localRun) inTrouble(t sia.Task) (lost bool, err error) {
	effects, err := r.app.Store.Effects(r.Ctx, t.ID)
	if err != nil {
		return false, err
	}
	words := ""
	for _, f := range effects {
		if f.State == store.EffectPending && f.Error != "" {
			words = f.Error
		}
	}
	switch {
	case words == "":
		r.trouble = trouble{}
	case r.trouble.words == "":
		r.trouble.since = time.Now()
		fallthrough
	case words != r.trouble.words:
		r.trouble.words = words
		r.progress("  %s It is tried again.", sentence(text.OneLine(cli.Plain(words))))
	}
	return words != "" && time.Since(r.trouble.since) > cmp.Or(r.job.models.Coder.Timeout, llm.DefaultTimeout), nil
}

// tell prints what is new about the task, in the order in which it was.
func (r *localRun) tell(t sia.Task) error {
	for _, a := range t.Attempts[max(0, r.attempt-1):] {
		if r.attempt != a.Number {
			r.tellDiagnoses(t, a.Number-1)
			r.attempt, r.turns = a.Number, toldTurns{last: map[int]int{}}
			r.told = fmt.Sprintf("Attempt %d: %s", a.Number, sia.Working)
			r.progress("%s", r.told)
		}
		if err := r.tellTurns(t, &a); err != nil {
			return err
		}
	}
	r.tellDiagnoses(t, len(t.Attempts))
	a := t.Attempt()
	if a == nil {
		return nil
	}
	line := fmt.Sprintf("Attempt %d: %s", a.Number, t.State)
	if line == r.told {
		return nil
	}
	r.told = line
	if t.Credits.Spent > 0 {
		line += fmt.Sprintf(" (%s of %s credits, %s)", t.Credits.Spent, t.Credits.Budget,
			time.Since(r.began).Round(time.Second))
	}
	r.progress("%s", line)
	return nil
}

// tellDiagnoses prints the diagnoses of attempts up to one.
func (r *localRun) tellDiagnoses(t sia.Task, attempt int) {
	for ; r.diagnosed < len(t.Interventions) && t.Interventions[r.diagnosed].After <= attempt; r.diagnosed++ {
		d := t.Interventions[r.diagnosed].Diagnosis
		r.progress("%s %s → %s", r.Style.Amber("Diagnosis:"), cli.Plain(d.Summary), d.Technique)
	}
}

// tellTurns prints what the model did in an attempt since the last time, run by run.
func (r *localRun) tellTurns(t sia.Task, a *sia.Attempt) error {
	rows, err := r.app.Store.Turns(r.Ctx, t.ID, a.Number)
	if err != nil {
		return err
	}
	r.turns.waits = ""
	for _, row := range rows {
		var turn agent.Turn
		if err := json.Unmarshal(row, &turn); err != nil {
			return fmt.Errorf("read a turn of attempt %d: %w", a.Number, err)
		}
		switch {
		case turn.Kind != agent.TurnModel || turn.Number <= r.turns.last[turn.Run]:
			continue
		case a.Outcome == "" && len(turn.Calls) > 0 && turn.Calls[len(turn.Calls)-1].Result == "":
			r.turns.waits = fmt.Sprintf("turn %d is carried out (%s)", turn.Number, toldCalls(turn))
			continue // it comes again, with the results of its calls
		}
		r.turns.last[turn.Run] = turn.Number
		if turn.Run != r.turns.run {
			r.turns.run = turn.Run
			r.progress("  %s", text.Clip(cli.Plain(toldRun(a, turn.Run)), 160))
		}
		if r.calls += len(turn.Calls); len(turn.Calls) == 0 {
			r.talk++
		}
		r.progress("%s", text.Clip(cli.Plain(toldTurn(turn)), 160))
	}
	return nil
}

// toldRun is what a run of an attempt in parts is for.
func toldRun(a *sia.Attempt, run int) string {
	part, n := a.PartOf(run)
	switch {
	case part == nil:
		return "the plan"
	case part.Do == "":
		return fmt.Sprintf("part %d of %d", n, len(a.Parts))
	}
	return fmt.Sprintf("part %d of %d: %s", n, len(a.Parts), text.OneLine(part.Do))
}

// toldCalls are the tools that a turn called, with the files that they changed.
func toldCalls(turn agent.Turn) string {
	var did []string
	for _, c := range turn.Calls {
		did = append(did, strings.Join(append([]string{c.Name}, c.Changed...), " "))
	}
	return strings.Join(did, ", ")
}

// toldTurn is a turn of the model's in one line.
func toldTurn(turn agent.Turn) string {
	said := fmt.Sprintf("  turn %d: %s", turn.Number, toldCalls(turn))
	if len(turn.Calls) == 0 {
		said = fmt.Sprintf("  turn %d called no tool, and says: %s", turn.Number, text.OneLine(turn.Text))
	}
	if tests := turn.Tests(); tests != "" {
		said += "; tests: " + tests
	}
	return said
}

// ask asks the person at the terminal what the task waits for, and passes the answer on. done: there is none.
func (r *localRun) ask(t sia.Task) (done bool, err error) {
	about, number := render.Waiting(t), r.issue
	var options []sia.Option
	if e := t.Escalation; t.State == sia.Escalated {
		about, options = fmt.Sprintf("%s\n%s", e.Blocker, e.Question), e.Options
		if !e.Kind.OnIssue() {
			number = e.Issue
		}
	}
	key := fmt.Sprint(t.State, about, t.Credits.Budget, len(t.Attempts))
	switch {
	case key == r.asked && time.Since(r.answered) < answerWithin:
		return false, nil // the answer is on its way
	case key == r.asked:
		r.progress("The task still waits, so the question is asked again.")
	}
	r.progress("%s\n%s", r.Style.Bold("SIA asks:"), cli.Plain(about))
	for _, o := range options {
		r.progress("  %s) %s", o.Letter, cli.Plain(o.Text))
	}
	toldTo(r.Err, "%s ", "Answer with a letter, words, or a command such as /sia stop:")
	answer, err := r.read()
	if err != nil || answer == "" {
		return true, nil //nolint:nilerr // standard input has ended: nobody answers
	}
	r.asked, r.answered = key, time.Now()
	if i := slices.IndexFunc(options, func(o sia.Option) bool { return strings.EqualFold(o.Letter, answer) }); i >= 0 {
		answer = options[i].Letter
	}
	if t.State == sia.Escalated && !strings.HasPrefix(answer, "/") { // on the task's own issue, words alone are a remark
		answer = "/sia answer " + answer
	}
	_, err = r.sim.Comment(r.repo, number, demoUser, answer)
	return false, err
}

// answerWithin is how long an answer may take to move the task. After that it was none.
const answerWithin = 15 * time.Second

// read reads a line, or ends with the run.
func (r *localRun) read() (string, error) {
	type line struct {
		text string
		err  error
	}
	got := make(chan line, 1)
	go func() {
		text, err := r.in.ReadString('\n')
		if errors.Is(err, io.EOF) && text != "" {
			err = nil
		}
		got <- line{strings.TrimSpace(text), err}
	}()
	select {
	case l := <-got:
		return l.text, l.err
	case <-r.Ctx.Done():
		return "", r.Ctx.Err()
	}
}

// graceful bounds how long a stopped run may take to put its work on the branch.
const graceful = 20 * time.Second

// stop has SIA put what was done on the branch, after Ctrl-C.
func (r *localRun) stop(t sia.Task) (sia.Task, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Ctx), graceful)
	defer cancel()
	r.progress("Stopping; what was done is kept.")
	if _, err := r.sim.Comment(r.repo, r.issue, demoUser, "/sia stop"); err != nil {
		return t, err
	}
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for t.State != sia.Stopped && t.State != sia.Passed {
		select {
		case <-ctx.Done():
			return t, nil
		case <-tick.C:
		}
		tasks, err := r.app.Store.Tasks(ctx, store.Filter{})
		if err != nil {
			return t, nil // what is on the branch is all that there is
		}
		if len(tasks) > 0 {
			t = tasks[0]
		}
	}
	return t, r.app.Engine().Idle(ctx)
}

func (r *localRun) close() error { return r.shut() }
