package webhook

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// intentRun carries one intent through the stages of [Intake.Take].
type intentRun struct {
	*Intake
	intent  sia.Intent
	targets []target
	set     sia.Settings
}

// Take applies an intent to the tasks that it concerns. It runs the stages in order, until one reports that it ended
// the intent.
func (in *Intake) Take(ctx context.Context, intent sia.Intent) error {
	t := &intentRun{Intake: in, intent: intent}
	for _, stage := range []func(context.Context) (ended bool, err error){
		t.find, t.register, t.dedupe, t.filter, t.dropStale, t.answerOld, t.permit, t.allow, t.teach, t.obeyHalt,
		t.endClosed, t.begin, t.apply,
	} {
		if ended, err := stage(ctx); err != nil || ended {
			return err
		}
	}
	return nil
}

// say replaces the event's fact with an answer, in the intent and in its targets.
func (t *intentRun) say(answer sia.Query) {
	t.intent.Event.Fact = answer
	for i := range t.targets {
		t.targets[i].event.Fact = answer
	}
}

// find finds the tasks that the intent concerns, and masks secrets in its event.
func (t *intentRun) find(ctx context.Context) (ended bool, err error) {
	if err := t.findTargets(ctx); err != nil {
		return false, err
	}
	if _, starts := t.intent.Event.Fact.(sia.Start); len(t.targets) == 0 && !starts && !t.intent.Event.Origin.Command {
		return true, nil // not about any task
	}
	t.intent.Event = sia.Masked(t.intent.Event, t.Secrets.Mask)
	for i := range t.targets {
		t.targets[i].event = sia.Masked(t.targets[i].event, t.Secrets.Mask)
	}
	return false, nil
}

// findTargets finds the tasks that an intent concerns. A comment that begins with 👎 teaches nothing where a question
// is open: there it is an answer. Elsewhere it reports a fault of the task's last attempt.
func (t *intentRun) findTargets(ctx context.Context) (err error) {
	t.targets, err = t.Intake.targets(ctx, t.intent)
	switch {
	case err != nil:
		return err
	case t.intent.Words != "":
		t.answerFreeText()
	case t.intent.Teach.Wrong == "" || t.intent.Event.Origin.Command:
	case len(t.targets) > 0:
		t.intent.Teach = sia.Teach{}
	default:
		t.intent.Event.Fact = sia.Query{Topic: "say"} // teach fills in the answer
		t.targets, err = t.Intake.targets(ctx, t.intent)
	}
	return err
}

// answerFreeText answers free text that no task expects: anybody may ask, and the answer lists what SIA understands.
func (t *intentRun) answerFreeText() {
	if slices.ContainsFunc(t.targets, func(to target) bool { return to.expectsText }) {
		return
	}
	say := sia.Query{Topic: "say", Text: render.Understood(t.intent.Words, sia.Task{})}
	t.intent.Event.Fact, t.intent.Permission = say, false
	for i := range t.targets {
		say.Text = render.Understood(t.intent.Words, t.targets[i].current)
		t.targets[i].event.Fact = say
	}
}

// register registers the repository, and updates the intent and its tasks if the repository was moved or renamed.
func (t *intentRun) register(ctx context.Context) (ended bool, err error) {
	start, starts := t.intent.Event.Fact.(sia.Start)
	now, ok, err := t.registerRepository(ctx, t.intent.Installation, t.intent.Repo, start.DefaultBranch)
	if err != nil || !ok {
		return !ok, err
	}
	t.intent.Installation, t.intent.Repo = now.Installation, now.Repo
	if starts {
		start.Installation, start.Repo = now.Installation, now.Repo
		t.intent.Event.Fact = start
	}
	for i, to := range t.targets {
		if t.targets[i].current, err = t.moveTask(ctx, to.current, now.Installation, now.Repo); err != nil {
			return false, err
		}
	}
	return false, nil
}

// dedupe ends a command that was answered before its issue had a task, and that a later look finds again. If the
// comment was seen before its edit, its event gets the id in Anew; otherwise it keeps its own, so that it counts
// once, by whichever way it arrives.
func (t *intentRun) dedupe(ctx context.Context) (ended bool, err error) {
	repeated := t.intent.Event.Origin.Command && len(t.targets) > 0
	if t.intent.EditID == "" && !repeated {
		return false, nil
	}
	_, err = t.Store.Heard(ctx, t.intent.Repo.ID, t.intent.Event.ID)
	seen := err == nil
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return false, err
	case t.intent.EditID == "":
		return seen, nil
	}
	for _, to := range t.targets {
		before, err := t.Store.Applied(ctx, to.task, t.intent.Event.ID)
		if err != nil {
			return false, err
		}
		seen = seen || before
	}
	if seen {
		t.intent.Event.ID = t.intent.EditID
		for i := range t.targets {
			t.targets[i].event.ID = t.intent.EditID
		}
	}
	return false, nil
}

// filter reads the repository's settings, and drops labels and bots that the settings don't name.
func (t *intentRun) filter(ctx context.Context) (ended bool, err error) {
	if t.set, err = t.Settings.Settings(ctx, t.intent.Installation, t.intent.Repo); err != nil {
		return false, err
	}
	otherLabel := t.intent.Label != "" && !strings.EqualFold(t.intent.Label, t.set.Label)
	otherBot := t.intent.Bot && !t.set.Access.Obeys(t.intent.Event.By.Login)
	return otherLabel || otherBot, nil
}

// dropStale ends a stop, an edit, a draft change, a push or the end of a pull request if GitHub no longer shows it, and
// a label that asked for what the task has done. Deliveries overtake one another, and a failed one is sent again later:
// by then the label may be back, the issue or pull request open, or the text different. GitHub sends another delivery
// for the state that it shows.
func (t *intentRun) dropStale(ctx context.Context) (ended bool, err error) {
	on := t.intent.Event.Origin
	if len(t.targets) == 0 || on.OnIssue == 0 || on.Command {
		return false, nil
	}
	repo := t.GitHub.Repo(t.intent.Installation, t.intent.Repo)
	var isCurrent func(github.Issue) bool
	switch f := t.intent.Event.Fact.(type) {
	case sia.DraftChanged:
		now, err := repo.Pull(ctx, on.OnIssue)
		return err == nil && !now.UpdatedAt.Before(t.intent.Changed) && now.Draft != f.Draft, err
	case sia.BranchMoved:
		current := t.targets[0].current
		now, err := repo.Pull(ctx, on.OnIssue)
		if err != nil || now.UpdatedAt.Before(t.intent.Changed) || now.HeadSHA == string(f.SHA) {
			return false, err
		}
		if current.HadHead(f.SHA) {
			return true, nil
		}
		isAt, err := repo.IsAt(ctx, current.Branch, f.SHA) // GitHub tells seconds, so the pull request may lag behind it
		return err == nil && !isAt, err
	case sia.Edited:
		if on.Comment != 0 || on.OnIssue != t.targets[0].current.Issue { // it may tick a box of a question
			return false, nil
		}
		isCurrent = func(now github.Issue) bool {
			return t.Secrets.Mask(now.Title) == f.Title && t.Secrets.Mask(now.Body) == f.Body
		}
	case sia.Stop:
		if f.IssueGone {
			return false, nil
		}
		label, id := t.intent.Label, int64(0)
		if label == "" {
			label, id = t.targets[0].current.Label, t.targets[0].current.LabelID
		}
		isCurrent = func(now github.Issue) bool { return now.State != "open" || label != "" && !now.HasLabel(label, id) }
	case sia.Start:
		return isOldLabel(t.targets[0].current, t.intent.Changed), nil
	case sia.PullClosed:
		current := t.targets[0].current
		if current.Pull.Number == 0 && t.intent.Changed.Before(current.StartedAt.Truncate(time.Second)) {
			return true, nil // it was the pull request of an earlier run
		}
		isCurrent = func(now github.Issue) bool { return now.State != "open" }
	case sia.NotAnswered:
		isCurrent = func(now github.Issue) bool { return now.State != "open" }
	default:
		return false, nil
	}
	now, gone, err := repo.IssueOrGone(ctx, on.OnIssue)
	if err != nil || gone {
		return false, err
	}
	lags := now.UpdatedAt.Before(t.intent.Changed) // a lagging replica of GitHub
	if !lags && !isCurrent(now) {
		return true, nil
	}
	if err := t.readClosing(ctx, repo); err != nil {
		return false, err
	}
	return false, t.awaitReopening()
}

// mergeLag is the wait before a pull request is read again that GitHub still shows open after it was closed.
const mergeLag = 10 * time.Second

// readClosing reads how a pull request was closed if its delivery says that it was not merged: a delivery may show the
// pull request as it was before its merge. SIA's own looks have read it.
// https://github.com/rocq-prover/bot/issues/255
func (t *intentRun) readClosing(ctx context.Context, repo *github.Repo) error {
	f, closes := t.intent.Event.Fact.(sia.PullClosed)
	if !closes || f.Merged || t.intent.Changed.IsZero() {
		return nil
	}
	now, err := repo.Pull(ctx, t.intent.Event.Origin.OnIssue)
	if err != nil {
		return err
	}
	if now.State == "open" {
		return &sia.Error{Op: "end the task", RetryAfter: mergeLag,
			Message: "GitHub still shows the pull request open, which was closed"}
	}
	f = sia.PullClosed{Merged: now.Merged, Head: sia.SHA(now.HeadSHA), ClosedAt: now.ClosedAt}
	t.intent.Event.Fact, t.intent.Changed = f, now.ClosedAt
	for i := range t.targets {
		t.targets[i].event.Fact = f
	}
	return nil
}

// awaitReopening returns an error that delays the end of a pull request that somebody may open again at once.
func (t *intentRun) awaitReopening() error {
	f, closes := t.intent.Event.Fact.(sia.PullClosed)
	if !closes || f.Merged {
		return nil
	}
	wait := t.targets[0].current.ReopenWait(t.intent.Changed, t.Now())
	if wait <= 0 {
		return nil
	}
	return &sia.Error{Op: "end the task", Turn: true, RetryAfter: wait, Message: "the pull request was closed a moment " +
		"ago, and may be opened again"}
}

// isOldLabel reports whether a label was put on an issue before the run of its task began, which something else
// started, or before the task passed: it is no request for another run. labelled is GitHub's time; zero: not known.
func isOldLabel(current sia.Task, labelled time.Time) bool {
	begins := current.StartedAt
	if current.State == sia.Passed {
		begins = current.Since
	}
	return !labelled.IsZero() && labelled.Before(begins.Truncate(time.Second)) // GitHub tells seconds
}

// lateComment is how much older than the end of its task a comment must be to be from before it: SIA may learn a little
// late what ended the task.
const lateComment = time.Minute

// answerOld answers a command that would start an ended task again if it was written before the task ended, and one
// that would accept a head's tests if it was written before SIA asked about that head: GitHub may deliver it hours
// later.
func (t *intentRun) answerOld(ctx context.Context) (ended bool, err error) {
	if !t.intent.Event.Origin.Command || t.intent.Changed.IsZero() || len(t.targets) == 0 {
		return false, nil
	}
	current := t.targets[0].current
	var answer string
	var old func(log []store.EventRecord) bool
	switch t.intent.Event.Fact.(type) {
	case sia.Start, sia.Retry:
		if !current.State.Final() || !t.intent.Changed.Before(current.Since) {
			return false, nil
		}
		old = func(log []store.EventRecord) bool { return isOld(t.intent, current.Since, log) }
		answer = "This was written before the task ended and arrived later, so nothing is started. `/sia start` starts " +
			"the task again."
	case sia.AcceptTests:
		if !current.Gate.AwaitsPerson {
			return false, nil
		}
		old = func(log []store.EventRecord) bool {
			return t.intent.Changed.Before(waitsSince(current.Head, log).Truncate(time.Second)) // GitHub tells seconds
		}
		answer = "This was written before SIA asked about " + current.Head.Short() + " and arrived later, so nothing is " +
			"accepted. Look at what that commit changes; `/sia accept-tests` accepts it."
	default:
		return false, nil
	}
	log, err := t.Store.Events(ctx, current.ID)
	if err == nil && old(log) {
		t.say(sia.Query{Topic: "say", Text: answer})
	}
	return false, err
}

// waitsSince returns when SIA first saw that a person has to accept what a task's present head changes, compared with
// the present base.
func waitsSince(head sia.SHA, log []store.EventRecord) (since time.Time) {
	for _, r := range slices.Backward(log) {
		if _, moved := r.Event.Fact.(sia.Retargeted); moved && r.Ignored == "" {
			return since
		}
		f, judged := r.Event.Fact.(sia.Judged)
		switch {
		case !judged || r.Ignored != "":
		case f.SHA != head:
			return since
		case f.Verdict == sia.VerdictTampered:
			since = r.Event.At
		}
	}
	return since
}

// isOld reports whether a command was written before its task ended. If a command in a new comment ended the task, the
// ids of the comments tell, which increase. If the end of its pull request did, GitHub tells when it was closed, which
// may be long before SIA learns of it.
func isOld(command sia.Intent, since time.Time, log []store.EventRecord) bool {
	for _, r := range slices.Backward(log) {
		if !r.To.Final() || r.From.Final() {
			continue
		}
		by, is := r.Event.Origin.Comment, command.Event.Origin.Comment
		byNew := r.Event.Origin.Command && by != 0 && r.Event.ID == commentID(by)
		if byNew && is != 0 && command.EditID == "" {
			return is < by
		}
		if closed := closedAt(r.Event.Fact); !closed.IsZero() {
			return command.Changed.Before(closed)
		}
		break
	}
	return command.Changed.Add(lateComment).Before(since)
}

// closedAt returns when the pull request was closed, if a fact tells.
func closedAt(f sia.Fact) time.Time {
	switch f := f.(type) {
	case sia.PullClosed:
		return f.ClosedAt
	case sia.Judged:
		if f.Found != nil {
			return f.Found.ClosedAt
		}
	}
	return time.Time{}
}

// permit asks GitHub whether the sender may do this, and answers politely if not. GitHub gives bots no role in a
// repository: a bot that the settings name has access.command_permission. Only people may accept changed tests. The
// issue's author may say that it is resolved where SIA asks that.
func (t *intentRun) permit(ctx context.Context) (ended bool, err error) {
	e := t.intent.Event
	notAuthors := func(to target) bool { return !to.current.AuthorResolves(to.event) }
	if !t.intent.Permission || len(t.targets) > 0 && !slices.ContainsFunc(t.targets, notAuthors) {
		return false, nil
	}
	have, needs := t.set.Access.CommandPermission, neededPermission(t.set, e.Fact)
	if _, accepts := e.Fact.(sia.AcceptTests); t.intent.Bot && accepts {
		have = "none"
	} else if !t.intent.Bot {
		have, err = t.GitHub.Repo(t.intent.Installation, t.intent.Repo).Permission(ctx, e.By.Login)
	}
	if err != nil {
		return false, err
	}
	if sia.Covers(have, needs) {
		return false, nil
	}
	t.Logger.InfoContext(ctx, "not permitted", "repo", t.intent.Repo.String(), "login", e.By.Login, "has", have,
		"needs", needs)
	text := render.NotPermitted(e.By.Login, needs)
	switch _, starts := e.Fact.(sia.Start); {
	case t.intent.Label != "" && starts:
		text = render.LabelNotPermitted(e.By.Login, t.intent.Label, needs)
	case !e.Origin.Command:
		return true, nil
	}
	t.intent.Event.Fact = sia.Query{Topic: "say", Text: text}
	if len(t.targets) == 0 {
		return true, t.answerWithoutTask(ctx, t.intent, t.set)
	}
	_, err = t.Store.Apply(ctx, t.targets[0].task, t.intent.Event)
	return true, err
}

// allow ends a start in a repository that this server's list does not include.
func (t *intentRun) allow(ctx context.Context) (ended bool, err error) {
	if _, starts := t.intent.Event.Fact.(sia.Start); !starts || t.Allowed.Has(t.intent.Repo) {
		return false, nil
	}
	t.intent.Event.Fact = sia.Query{Topic: "say", Text: render.NotAllowed}
	return true, t.answerWithoutTask(ctx, t.intent, t.set)
}

// teach remembers or forgets what the intent teaches.
func (t *intentRun) teach(ctx context.Context) (ended bool, err error) {
	if t.intent.Teach == (sia.Teach{}) {
		return false, nil
	}
	text, done, err := t.Teacher.Teach(ctx, t.intent)
	if err != nil || !done && !t.intent.Event.Origin.Command {
		return true, err
	}
	t.say(sia.Query{Topic: "say", Text: text, Obeyed: done})
	return false, nil
}

// obeyHalt obeys a command that concerns everything in a repository.
func (t *intentRun) obeyHalt(ctx context.Context) (ended bool, err error) {
	answer, ok, err := t.halt(ctx, t.intent)
	if err != nil || !ok {
		return false, err
	}
	t.say(answer)
	return false, nil
}

// endClosed ends a task in which SIA waits for checks if a person has it started again after the pull request was
// closed: [intentRun.awaitReopening] may hold the delivery that reports the closing.
func (t *intentRun) endClosed(ctx context.Context) (ended bool, err error) {
	if _, starts := t.intent.Event.Fact.(sia.Start); !starts { // a retry may wait for the reopening
		return false, nil
	}
	now := t.Now()
	for _, to := range t.targets {
		if to.current.Pull.Number == 0 || to.current.ReopenWait(now, now) <= 0 {
			continue
		}
		p, err := t.GitHub.Repo(t.intent.Installation, t.intent.Repo).Pull(ctx, to.current.Pull.Number)
		if err != nil {
			return false, err
		}
		if p.State != "closed" || p.Merged || p.ClosedAt.After(t.intent.Changed) {
			continue
		}
		closed := sia.Event{ID: t.intent.Event.ID + "/closed", At: t.intent.Event.At,
			Fact: sia.PullClosed{Head: sia.SHA(p.HeadSHA), ClosedAt: p.ClosedAt}}
		if _, err := t.Store.Apply(ctx, to.task, closed); err != nil {
			return false, err
		}
	}
	return false, nil
}

// begin makes the started task the only target, and delays it if its sender has started several tasks recently. A
// start on the issue of a question goes to the task that asks.
func (t *intentRun) begin(ctx context.Context) (ended bool, err error) {
	start, starts := t.intent.Event.Fact.(sia.Start)
	if !starts {
		return false, nil
	}
	wait, err := t.startDelay(ctx, t.intent.Event.By)
	if err != nil {
		return false, err
	}
	start.Wait = int(wait / time.Second)
	if len(t.targets) > 0 && t.intent.Event.Origin.Command {
		known := t.targets[0].current
		start.Issue = known.Issue
		if start.Issue != t.intent.Event.Origin.OnIssue {
			start.Title, start.Body = known.Title, known.Body
		}
	}
	t.intent.Event.Fact = start
	t.targets = []target{{task: sia.NewTaskID(t.intent.Repo.ID, start.Issue), event: t.intent.Event}}
	return false, t.Memory.Restore(ctx, t.intent.Installation, t.intent.Repo, start.Issue)
}

// halted returns why no attempt begins in the repository, and what ends that; "": nothing is paused.
func (t *intentRun) halted(ctx context.Context) (string, error) {
	h, is, err := t.Store.HaltOver(ctx, t.intent.Installation, t.intent.Repo.ID)
	if err != nil || !is {
		return "", err
	}
	return strings.TrimRight(h.Reason, ".") + "; " + h.Scope.LiftedBy(h.Actor().Operator), nil
}

// apply applies the event to its tasks, or answers a command that has none.
func (t *intentRun) apply(ctx context.Context) (ended bool, err error) {
	if len(t.targets) == 0 {
		return true, t.answerWithoutTask(ctx, t.intent, t.set)
	}
	if err := t.resolveUse(ctx, t.targets); err != nil {
		return false, err
	}
	for _, to := range t.targets {
		switch to.event.Fact.(type) {
		case sia.Start, sia.Retry:
			if to.event.Halted, err = t.halted(ctx); err != nil {
				return false, err
			}
		}
		if _, err := t.Store.Apply(ctx, to.task, to.event); err != nil {
			return false, err
		}
	}
	return true, nil
}
