package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/escalate"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/technique"
)

// Limits that keep one noisy person or thread from occupying SIA (docs/rules.md#failsafes).
const (
	startsPerMinute = 3
	startWindow     = time.Minute
	longestWait     = 24 * time.Hour // that is looked back for starts that wait
)

// Settings gives the settings in force in a repository.
type Settings interface {
	Settings(ctx context.Context, installation int64, repo sia.Repo) (sia.Settings, error)
	// Edited reads the settings of a commit that somebody pushed to the default branch.
	Edited(ctx context.Context, installation int64, repo sia.Repo, sha string) error
	// Techniques gives those that a task can use; the warning, for people, names what can't be read.
	Techniques(ctx context.Context, t sia.Task) (_ *technique.Library, warning string, err error)
}

// Teacher remembers and forgets for a repository what people tell SIA, and says
// in words for people what it did, or why it did nothing. The same event does it
// once.
type Teacher interface {
	Teach(ctx context.Context, intent sia.Intent) (answer string, done bool, err error)
	// Edit makes a lesson what a person's draft says, and returns the one that then stands for it.
	Edit(ctx context.Context, repo int64, id lesson.ID, d lesson.Draft, by sia.Actor) (lesson.Lesson, error)
}

// Deps is what an [Intake] works with. Everything is needed but the coders and the list.
type Deps struct {
	Store    Store
	GitHub   *github.App
	Settings Settings
	Teacher  Teacher
	Memory   Memory
	Welcome  Welcomer
	// nil is missing, too
	Dashboards Dashboards
	Coders     []string       // names of those that may work, where there is a choice
	Allowed    sia.AllowList  // where tasks are begun; empty: wherever the app is installed
	Secrets    *secret.Masker // what people wrote is kept without secrets
	Logger     *slog.Logger
	Now        func() time.Time
}

// Intake turns deliveries and findings into events of tasks. Make one with [NewIntake]. Safe for
// concurrent use.
type Intake struct{ Deps }

// NewIntake returns an intake; it is an error when anything of d is missing.
func NewIntake(d Deps) (*Intake, error) {
	for name, missing := range map[string]bool{
		"Store": d.Store == nil, "GitHub": d.GitHub == nil, "Settings": d.Settings == nil, "Teacher": d.Teacher == nil,
		"Memory": d.Memory == nil, "Dashboards": d.Dashboards == nil, "Welcome": d.Welcome == nil, "Secrets": d.Secrets == nil, "Logger": d.Logger == nil,
		"Now": d.Now == nil,
	} {
		if missing {
			return nil, fmt.Errorf("make the intake: %s is missing", name)
		}
	}
	return &Intake{d}, nil
}

// Deliver works through one stored delivery. Doing it twice is harmless.
func (in *Intake) Deliver(ctx context.Context, d store.Delivery) error {
	self, err := in.GitHub.Self(ctx)
	if err != nil {
		return err
	}
	intents, admin, err := read(d, self.Slug)
	if err != nil {
		in.Logger.WarnContext(ctx, "delivery refused", "guid", d.GUID, "event", d.Event, "action", d.Action, "error", err)
		return nil // it will not read better next time
	}
	if admin != nil {
		if err := in.administer(ctx, *admin); err != nil {
			return err
		}
	}
	for _, intent := range intents {
		if intent.Event.At.IsZero() {
			intent.Event.At = d.Received
		}
		if err := in.Take(ctx, intent); err != nil {
			return fmt.Errorf("delivery %s (%s %s): %w", d.GUID, d.Event, d.Action, err)
		}
	}
	if admin != nil && admin.board != nil {
		return in.keepBoard(ctx, *admin)
	}
	return nil
}

// target is a task and the event as it reads for that task.
type target struct {
	task   sia.TaskID
	event  sia.Event
	stands sia.Task // as it was found
	awaits bool     // words of people, whatever they are: it has asked something, or they are on its pull request
}

// Take applies an intent to the tasks it concerns.
func (in *Intake) Take(ctx context.Context, intent sia.Intent) error {
	intent, targets, err := in.concerned(ctx, intent)
	if err != nil {
		return err
	}
	if _, starts := intent.Event.Fact.(sia.Start); len(targets) == 0 && !starts && !intent.Event.Origin.Command {
		return nil // not about any task
	}
	intent.Event = sia.Masked(intent.Event, in.Secrets.Mask)
	start, starts := intent.Event.Fact.(sia.Start)
	for i := range targets {
		targets[i].event = sia.Masked(targets[i].event, in.Secrets.Mask)
	}
	if err := in.registerRepository(ctx, intent.Installation, intent.Repo); err != nil {
		return err
	}
	if intent, err = in.editedEventID(ctx, intent, targets); err != nil {
		return err
	}
	set, err := in.Settings.Settings(ctx, intent.Installation, intent.Repo)
	if err != nil {
		return err
	}
	if intent.Label != "" && intent.Label != set.Label {
		return nil
	}
	if intent.Bot && !slices.Contains(set.Access.Bots, intent.Event.By.Login) {
		return nil
	}
	if intent.Permission {
		ok, err := in.permitted(ctx, intent, set, targets)
		if err != nil || !ok {
			return err
		}
	}
	if starts && !in.Allowed.Has(intent.Repo) {
		intent.Event.Fact = sia.Query{Topic: "say", Text: render.NotAllowed}
		return in.answerWithoutTask(ctx, intent, set)
	}
	if intent.Teach != (sia.Teach{}) {
		text, done, err := in.Teacher.Teach(ctx, intent)
		if err != nil || !done && !intent.Event.Origin.Command {
			return err
		}
		intent.Event.Fact = sia.Query{Topic: "say", Text: text, Obeyed: done}
		for i := range targets {
			targets[i].event.Fact = intent.Event.Fact
		}
	}
	if answer, ok, err := in.halt(ctx, intent); err != nil {
		return err
	} else if ok {
		if answer == (sia.Query{}) {
			return nil // heard before
		}
		intent.Event.Fact = answer
		for i := range targets {
			targets[i].event.Fact = answer
		}
	}
	if starts {
		wait, err := in.pace(ctx, intent.Event.By)
		if err != nil {
			return err
		}
		start.Wait = int(wait / time.Second)
		intent.Event.Fact = start
		targets = []target{{task: sia.NewTaskID(intent.Repo.ID, start.Issue), event: intent.Event}}
	}
	if len(targets) == 0 {
		return in.answerWithoutTask(ctx, intent, set)
	}
	if err := in.known(ctx, targets); err != nil {
		return err
	}
	for _, t := range targets {
		if _, err := in.Store.Apply(ctx, t.task, t.event); err != nil {
			return err
		}
	}
	return nil
}

// editedEventID gives the event of an edited comment an id of its own where the comment was heard
// before; where it was not, it counts once however SIA learns of it.
func (in *Intake) editedEventID(ctx context.Context, intent sia.Intent, targets []target) (sia.Intent, error) {
	if intent.Anew == "" {
		return intent, nil
	}
	_, err := in.Store.Heard(ctx, intent.Repo.ID, intent.Event.ID)
	heard := err == nil
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return intent, err
	}
	for _, t := range targets {
		before, err := in.Store.Applied(ctx, t.task, intent.Event.ID)
		if err != nil {
			return intent, err
		}
		heard = heard || before
	}
	if heard {
		intent.Event.ID = intent.Anew
		for i := range targets {
			targets[i].event.ID = intent.Anew
		}
	}
	return intent, nil
}

// concerned finds the tasks that an intent concerns. A comment that begins with 👎 is an answer like
// any other where a question is open, and then it teaches nothing; elsewhere it says what was wrong
// with the task's last attempt.
func (in *Intake) concerned(ctx context.Context, intent sia.Intent) (sia.Intent, []target, error) {
	targets, err := in.targets(ctx, intent)
	if err == nil && intent.Words != "" {
		return unasked(intent, targets), targets, nil
	}
	if err != nil || intent.Teach.Wrong == "" || intent.Event.Origin.Command {
		return intent, targets, err
	}
	if len(targets) > 0 {
		intent.Teach = sia.Teach{}
		return intent, targets, nil
	}
	intent.Event.Fact = sia.Query{Topic: "say"} // Take fills in the answer
	targets, err = in.targets(ctx, intent)
	return intent, targets, err
}

// unasked makes words to SIA, where it waits for none, a question that anybody may ask: what it understands.
func unasked(intent sia.Intent, targets []target) sia.Intent {
	if slices.ContainsFunc(targets, func(t target) bool { return t.awaits }) {
		return intent
	}
	say := sia.Query{Topic: "say", Text: render.Understood(intent.Words, sia.Task{})}
	intent.Event.Fact, intent.Permission = say, false
	for i := range targets {
		say.Text = render.Understood(intent.Words, targets[i].stands)
		targets[i].event.Fact = say
	}
	return intent
}

// targets finds the tasks that any of the intent's references name, and drops
// those for which the event means nothing.
func (in *Intake) targets(ctx context.Context, intent sia.Intent) ([]target, error) {
	var found []target
	for _, ref := range intent.Refs {
		ids, err := in.Store.TaskByRef(ctx, intent.Repo.ID, ref)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if slices.ContainsFunc(found, func(t target) bool { return t.task == id }) {
				continue
			}
			t, err := in.Store.Task(ctx, id)
			if err != nil {
				return nil, err
			}
			if e, ok := fit(t, intent.Event); ok {
				asked := t.Escalation != nil && !t.Escalation.Answered
				_, words := e.Fact.(sia.AnswerGiven)
				found = append(found, target{id, e, t, asked || !words})
			}
		}
	}
	return found, nil
}

// fit reads an event in the light of its task: a ticked box of the open
// question is an answer, and so is a comment in the escalation issue.
func fit(t sia.Task, e sia.Event) (sia.Event, bool) {
	open := t.Escalation != nil && !t.Escalation.Answered
	inEscalation := open && e.Origin.OnIssue != 0 && e.Origin.OnIssue == t.Escalation.Issue &&
		t.Escalation.Issue != t.Issue
	switch f := e.Fact.(type) {
	case sia.Edited:
		if e.Origin.OnIssue == t.Issue && e.Origin.Comment == 0 {
			return e, true
		}
		inComment := open && t.Escalation.Kind.OnIssue() && t.Escalation.Kind != sia.AskPlan
		boxes := inEscalation || inComment && e.Origin.Comment != 0
		if !boxes {
			return e, false
		}
		ticked := escalate.ParseBoxes(f.Body)
		if len(ticked) != 1 {
			return e, false // none, or a person is still choosing
		}
		e.Fact = sia.AnswerGiven{Letter: ticked[0]}
	case sia.AnswerGiven:
		if !e.Origin.Command && !inEscalation {
			return e, false
		}
		if !open && f.Letter == "" && t.Pull.Number != 0 && e.Origin.OnIssue == t.Pull.Number {
			e.Fact = sia.ChangesAsked{Thread: e.Origin.Thread, Text: f.Text} // words to SIA on its pull request
			return e, true
		}
		if open && f.Letter == "" {
			if a, ok := escalate.ParseAnswer(f.Text, t.Escalation.Options); ok {
				e.Fact = a
			}
		}
	case sia.Stop:
		// Only the task's own issue ends it.
		if e.Origin.OnIssue != 0 && !e.Origin.Command && e.Origin.OnIssue != t.Issue {
			return e, false
		}
	}
	return e, true
}

// permitted asks GitHub whether the person may do it, and says so politely when
// not.
func (in *Intake) permitted(ctx context.Context, intent sia.Intent, set sia.Settings, targets []target) (bool, error) {
	have, err := in.GitHub.Repo(intent.Installation, intent.Repo).Permission(ctx, intent.Event.By.Login)
	if err != nil {
		return false, err
	}
	needs := needed(set, intent.Event.Fact)
	if sia.Covers(have, needs) {
		return true, nil
	}
	in.Logger.InfoContext(ctx, "not permitted", "repo", intent.Repo.String(), "login", intent.Event.By.Login, "has", have,
		"needs", needs)
	text := render.NotPermitted(intent.Event.By.Login, needs)
	switch _, starts := intent.Event.Fact.(sia.Start); {
	case intent.Label != "" && starts:
		text = render.LabelNotPermitted(intent.Event.By.Login, intent.Label, needs)
	case !intent.Event.Origin.Command:
		return false, nil
	}
	intent.Event.Fact = sia.Query{Topic: "say", Text: text}
	if len(targets) == 0 {
		return false, in.answerWithoutTask(ctx, intent, set)
	}
	_, err = in.Store.Apply(ctx, targets[0].task, intent.Event)
	return false, err
}

// needed is which permission in the repository it takes to cause a fact.
func needed(set sia.Settings, f sia.Fact) string {
	needs := set.Access.CommandPermission
	if _, accepts := f.(sia.AcceptTests); accepts && !sia.Covers(needs, acceptance) {
		return acceptance
	}
	return needs
}

// acceptance is what it takes at least to accept a change of what validates it, whoever
// else may give commands: it stands for what only people with write access could merge.
const acceptance = "write"

// pace says how long a task waits that a person starts soon after others: it is there at
// once, and begins when its turn comes.
func (in *Intake) pace(ctx context.Context, by sia.Actor) (time.Duration, error) {
	now := in.Now()
	begins, err := in.Store.LastStarts(ctx, by, now.Add(-longestWait), startsPerMinute)
	if err != nil || len(begins) < startsPerMinute {
		return 0, err
	}
	return max(0, begins[startsPerMinute-1].Add(startWindow).Sub(now)).Round(time.Second), nil
}
