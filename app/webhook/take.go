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

// taking is an intent on its way to the tasks that it concerns.
type taking struct {
	*Intake
	intent  sia.Intent
	targets []target
	set     sia.Settings
}

// Take applies an intent to the tasks it concerns. It goes through the stages in their order, until one says that
// nothing is left to do.
func (in *Intake) Take(ctx context.Context, intent sia.Intent) error {
	t := &taking{Intake: in, intent: intent}
	for _, stage := range []func(context.Context) (ended bool, err error){
		t.find, t.register, t.tellHeard, t.filter, t.stale, t.permit, t.allow, t.teach, t.obeyHalt, t.begin, t.apply,
	} {
		if ended, err := stage(ctx); err != nil || ended {
			return err
		}
	}
	return nil
}

// say makes a text the answer to the intent, in the place of what it asked for.
func (t *taking) say(answer sia.Query) {
	t.intent.Event.Fact = answer
	for i := range t.targets {
		t.targets[i].event.Fact = answer
	}
}

// find finds the tasks that the intent concerns, and masks secrets in what it says.
func (t *taking) find(ctx context.Context) (ended bool, err error) {
	if err := t.concerned(ctx); err != nil {
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

// concerned finds the tasks that an intent concerns. A comment that begins with 👎 is an answer like
// any other where a question is open, and then it teaches nothing; elsewhere it says what was wrong
// with the task's last attempt.
func (t *taking) concerned(ctx context.Context) (err error) {
	t.targets, err = t.Intake.targets(ctx, t.intent)
	switch {
	case err != nil:
		return err
	case t.intent.Words != "":
		t.answerWords()
	case t.intent.Teach.Wrong == "" || t.intent.Event.Origin.Command:
	case len(t.targets) > 0:
		t.intent.Teach = sia.Teach{}
	default:
		t.intent.Event.Fact = sia.Query{Topic: "say"} // teach fills in the answer
		t.targets, err = t.Intake.targets(ctx, t.intent)
	}
	return err
}

// answerWords makes words to SIA, where it waits for none, a question that anybody may ask: what it understands.
func (t *taking) answerWords() {
	if slices.ContainsFunc(t.targets, func(to target) bool { return to.awaits }) {
		return
	}
	say := sia.Query{Topic: "say", Text: render.Understood(t.intent.Words, sia.Task{})}
	t.intent.Event.Fact, t.intent.Permission = say, false
	for i := range t.targets {
		say.Text = render.Understood(t.intent.Words, t.targets[i].stands)
		t.targets[i].event.Fact = say
	}
}

// register makes the repository known, and has the intent and its tasks go on where the repository is now.
func (t *taking) register(ctx context.Context) (ended bool, err error) {
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
		if t.targets[i].stands, err = t.move(ctx, to.stands, now.Installation, now.Repo); err != nil {
			return false, err
		}
	}
	return false, nil
}

// tellHeard ends the way of a command that was answered where there was no task yet, and that a look finds again on the
// task's issue. It gives the event of an edited comment an id of its own where the comment was heard before; where it
// was not, it counts once however SIA learns of it.
func (t *taking) tellHeard(ctx context.Context) (ended bool, err error) {
	again := t.intent.Event.Origin.Command && len(t.targets) > 0
	if t.intent.EditID == "" && !again {
		return false, nil
	}
	_, err = t.Store.Heard(ctx, t.intent.Repo.ID, t.intent.Event.ID)
	heard := err == nil
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return false, err
	case t.intent.EditID == "":
		return heard, nil
	}
	for _, to := range t.targets {
		before, err := t.Store.Applied(ctx, to.task, t.intent.Event.ID)
		if err != nil {
			return false, err
		}
		heard = heard || before
	}
	if heard {
		t.intent.Event.ID = t.intent.EditID
		for i := range t.targets {
			t.targets[i].event.ID = t.intent.EditID
		}
	}
	return false, nil
}

// filter reads the repository's settings, and drops labels and bots that they don't name.
func (t *taking) filter(ctx context.Context) (ended bool, err error) {
	if t.set, err = t.Settings.Settings(ctx, t.intent.Installation, t.intent.Repo); err != nil {
		return false, err
	}
	otherLabel := t.intent.Label != "" && !strings.EqualFold(t.intent.Label, t.set.Label)
	otherBot := t.intent.Bot && !t.set.Access.Obeys(t.intent.Event.By.Login)
	return otherLabel || otherBot, nil
}

// stale ends the way of a stop, an edit, a draft, or the end of a pull request, that GitHub does not show any more:
// deliveries overtake one another, and one that failed is sent again later, when the label may be on again, the issue
// or pull request open, or the text another. What GitHub shows instead has a delivery of its own.
func (t *taking) stale(ctx context.Context) (ended bool, err error) {
	on := t.intent.Event.Origin
	if len(t.targets) == 0 || on.OnIssue == 0 || on.Command {
		return false, nil
	}
	repo := t.GitHub.Repo(t.intent.Installation, t.intent.Repo)
	var shows func(github.Issue) bool
	switch f := t.intent.Event.Fact.(type) {
	case sia.DraftChanged:
		now, err := repo.Pull(ctx, on.OnIssue)
		return err == nil && !now.UpdatedAt.Before(t.intent.Changed) && now.Draft != f.Draft, err
	case sia.Edited:
		if on.Comment != 0 || on.OnIssue != t.targets[0].stands.Issue { // it may tick a box of a question
			return false, nil
		}
		shows = func(now github.Issue) bool {
			return t.Secrets.Mask(now.Title) == f.Title && t.Secrets.Mask(now.Body) == f.Body
		}
	case sia.Stop:
		if f.IssueGone {
			return false, nil
		}
		label, id := t.intent.Label, int64(0)
		if label == "" {
			label, id = t.targets[0].stands.Label, t.targets[0].stands.LabelID
		}
		shows = func(now github.Issue) bool { return now.State != "open" || label != "" && !now.HasLabel(label, id) }
	case sia.PullClosed, sia.NotAnswered:
		shows = func(now github.Issue) bool { return now.State != "open" }
	default:
		return false, nil
	}
	now, gone, err := repo.IssueOrGone(ctx, on.OnIssue)
	if err != nil || gone || now.UpdatedAt.Before(t.intent.Changed) { // one of GitHub's servers has not heard of it
		return false, err
	}
	return !shows(now), nil
}

// permit asks GitHub whether the person may do it, and says so politely when not. GitHub gives no bot a role in a
// repository: one that the settings name may do what takes their access.command_permission. Whether tests may be
// changed is for people to say.
func (t *taking) permit(ctx context.Context) (ended bool, err error) {
	e := t.intent.Event
	if !t.intent.Permission {
		return false, nil
	}
	have, needs := t.set.Access.CommandPermission, needed(t.set, e.Fact)
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

// allow begins no task where this server's list does not name the repository.
func (t *taking) allow(ctx context.Context) (ended bool, err error) {
	if _, starts := t.intent.Event.Fact.(sia.Start); !starts || t.Allowed.Has(t.intent.Repo) {
		return false, nil
	}
	t.intent.Event.Fact = sia.Query{Topic: "say", Text: render.NotAllowed}
	return true, t.answerWithoutTask(ctx, t.intent, t.set)
}

// teach remembers or forgets what the intent teaches.
func (t *taking) teach(ctx context.Context) (ended bool, err error) {
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
func (t *taking) obeyHalt(ctx context.Context) (ended bool, err error) {
	answer, ok, err := t.halt(ctx, t.intent)
	if err != nil || !ok {
		return false, err
	}
	t.say(answer)
	return false, nil
}

// begin makes the task that the intent starts the one that it concerns, and has it wait where its person has started
// several just now. Said on the issue of a question, it is said to the task that asks.
func (t *taking) begin(ctx context.Context) (ended bool, err error) {
	start, starts := t.intent.Event.Fact.(sia.Start)
	if !starts {
		return false, nil
	}
	wait, err := t.pace(ctx, t.intent.Event.By)
	if err != nil {
		return false, err
	}
	start.Wait = int(wait / time.Second)
	if len(t.targets) > 0 && t.intent.Event.Origin.Command {
		known := t.targets[0].stands
		start.Issue = known.Issue
		if start.Issue != t.intent.Event.Origin.OnIssue {
			start.Title, start.Body = known.Title, known.Body
		}
	}
	t.intent.Event.Fact = start
	t.targets = []target{{task: sia.NewTaskID(t.intent.Repo.ID, start.Issue), event: t.intent.Event}}
	return false, t.Memory.Restore(ctx, t.intent.Installation, t.intent.Repo, start.Issue)
}

// apply applies the event to its tasks; a command without one is answered.
func (t *taking) apply(ctx context.Context) (ended bool, err error) {
	if len(t.targets) == 0 {
		return true, t.answerWithoutTask(ctx, t.intent, t.set)
	}
	if err := t.known(ctx, t.targets); err != nil {
		return false, err
	}
	for _, to := range t.targets {
		if _, err := t.Store.Apply(ctx, to.task, to.event); err != nil {
			return false, err
		}
	}
	return true, nil
}
