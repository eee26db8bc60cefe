package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/github"
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
	longestWait     = 24 * time.Hour // how far back to look for starts that wait
)

// Settings provides the settings in force in a repository.
type Settings interface {
	Settings(ctx context.Context, installation int64, repo sia.Repo) (sia.Settings, error)
	// Edited reads the settings of the default branch after a push.
	Edited(ctx context.Context, installation int64, repo sia.Repo, branch string) error
	// Techniques returns those that a task can use. The warning, for people, names the files that can't be read.
	Techniques(ctx context.Context, t sia.Task) (_ *technique.Library, warning string, err error)
}

// Teacher remembers and forgets what people tell SIA about a repository. The answer, for people, reports what it did,
// or why it did nothing. It acts once for each event.
type Teacher interface {
	Teach(ctx context.Context, intent sia.Intent) (answer string, done bool, err error)
	// Edit replaces a lesson by a draft, and returns the lesson that results.
	Edit(ctx context.Context, repo int64, id lesson.ID, d lesson.Draft, by sia.Actor) (lesson.Lesson, error)
}

// Deps holds the dependencies of an [Intake]. All are required but Coders and Allowed.
type Deps struct {
	Store      Store
	GitHub     *github.App
	Settings   Settings
	Teacher    Teacher
	Memory     Memory
	Welcome    Welcomer
	Dashboards Dashboards
	Coders     []string       // names of the coders that people can choose from
	Allowed    sia.AllowList  // repositories in which tasks may start; empty: all that the app is installed on
	Secrets    *secret.Masker // masks secrets in what people wrote
	Logger     *slog.Logger
	Now        func() time.Time
}

// Intake turns deliveries, and what a look at GitHub finds, into events of tasks. Make one with [NewIntake]. It is
// safe for concurrent use.
type Intake struct{ Deps }

// NewIntake returns an intake. It fails if a required part of d is missing.
func NewIntake(d Deps) (*Intake, error) {
	for name, missing := range map[string]bool{
		"Store": d.Store == nil, "GitHub": d.GitHub == nil, "Settings": d.Settings == nil, "Teacher": d.Teacher == nil,
		"Memory": d.Memory == nil, "Dashboards": d.Dashboards == nil, "Welcome": d.Welcome == nil,
		"Secrets": d.Secrets == nil, "Logger": d.Logger == nil,
		"Now": d.Now == nil,
	} {
		if missing {
			return nil, fmt.Errorf("make the intake: %s is missing", name)
		}
	}
	return &Intake{d}, nil
}

// Deliver processes a stored delivery. It is idempotent.
func (in *Intake) Deliver(ctx context.Context, d store.Delivery) error {
	self, err := in.GitHub.Self(ctx)
	if err != nil {
		return err
	}
	intents, admin, err := read(d, self.Slug)
	if err != nil {
		in.Logger.WarnContext(ctx, "delivery refused", "guid", d.GUID, "event", d.Event, "action", d.Action, "error", err)
		return nil // a retry would fail the same way
	}
	if admin != nil {
		if err := in.administer(ctx, *admin); err != nil {
			return err
		}
		if admin.act.What != "" {
			admin.act.At = d.Received
			if err := in.Store.LogAct(ctx, admin.act); err != nil {
				return err
			}
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
		return in.updateBoard(ctx, *admin)
	}
	return nil
}

// target is a task, and the event as interpreted for it.
type target struct {
	task        sia.TaskID
	event       sia.Event
	current     sia.Task // the task when it was found
	expectsText bool     // free text is for this task: it has an open question, or the text is on its pull request
}

// targets finds the tasks that the intent's references name, without those for which the event means nothing.
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
			if e, ok := interpret(t, intent.Event); ok {
				asked := t.Escalation != nil && !t.Escalation.Answered
				_, words := e.Fact.(sia.AnswerGiven)
				found = append(found, target{id, e, t, asked || !words})
			}
		}
	}
	return found, nil
}

// interpret returns the event as it reads for a task, and whether it means anything there. A ticked box of the open
// question is an answer. So is a comment in the escalation issue, unless people talk to one another there. An answer
// with another option than the first counts too: its author learns who gave the first.
func interpret(t sia.Task, e sia.Event) (sia.Event, bool) {
	open := t.Escalation != nil && !t.Escalation.Answered
	inQuestion := t.Escalation != nil && e.Origin.OnIssue != 0 && e.Origin.OnIssue == t.Escalation.Issue &&
		t.Escalation.Issue != t.Issue
	inEscalation := open && inQuestion
	first, second := t.LastAnswer()
	switch f := e.Fact.(type) {
	case sia.Edited:
		if e.Origin.OnIssue == t.Issue && e.Origin.Comment == 0 {
			return e, true
		}
		inComment := (open || second) && t.Escalation.Kind.OnIssue() && t.Escalation.Kind != sia.AskPlan
		boxes := inQuestion || inComment && e.Origin.Comment != 0 && holdsQuestion(t, e.Origin.Comment)
		if !boxes || !open && !second {
			return e, false
		}
		ticked := escalate.ParseBoxes(f.Body)
		if second {
			ticked = slices.DeleteFunc(ticked, func(letter string) bool { return letter == first.Letter })
		}
		if len(ticked) != 1 {
			return e, false // none, or a person is still choosing
		}
		e.Fact = sia.AnswerGiven{Letter: ticked[0]}
	case sia.AnswerGiven:
		if !e.Origin.Command && !inEscalation {
			if !second || !inQuestion {
				return e, false
			}
			a, _ := escalate.ParseAnswer(f.Text, *t.Escalation)
			e.Fact = a
			return e, a.Letter != "" && a.Letter != first.Letter
		}
		if !open && f.Letter == "" && t.Pull.Number != 0 && e.Origin.OnIssue == t.Pull.Number {
			e.Fact = sia.ChangesAsked{Thread: e.Origin.Thread, Text: f.Text} // words to SIA on its pull request
			return e, true
		}
		if !open || f.Letter != "" {
			return e, true
		}
		a, said := escalate.ParseAnswer(f.Text, *t.Escalation)
		e.Fact = a
		switch {
		case e.Origin.Command: // a command is always meant as the answer
		case !said:
			return e, false
		case a.Letter == "" && escalate.IsTalk(f.Text):
			e.Fact = sia.NotAnswered{}
			return e, !t.Escalation.Talk
		}
	case sia.NotAnswered:
		return e, inEscalation && !t.Escalation.Closed
	case sia.PullClosed, sia.Retargeted, sia.DraftChanged:
		// The branch may have other pull requests. Without an issue the event is about the task's own.
		if on := e.Origin.OnIssue; on != 0 && t.Pull.Number != 0 && on != t.Pull.Number {
			return e, false
		}
	case sia.Stop:
		// Only the task's own issue ends it.
		if e.Origin.OnIssue != 0 && !e.Origin.Command && e.Origin.OnIssue != t.Issue {
			return e, false
		}
	}
	return e, true
}

// holdsQuestion reports whether a comment of SIA's may hold the open question. Comments with earlier questions keep
// their boxes.
func holdsQuestion(t sia.Task, comment int64) bool {
	n := sia.CommentNumber(t.Escalation.URL)
	return n == 0 || n == comment
}

// neededPermission returns the permission in the repository that a fact requires.
func neededPermission(set sia.Settings, f sia.Fact) string {
	needs := set.Access.CommandPermission
	if _, accepts := f.(sia.AcceptTests); accepts && !sia.Covers(needs, acceptTestsPermission) {
		return acceptTestsPermission
	}
	return needs
}

// acceptTestsPermission is the minimum permission to accept a change of the tests that validate it, whatever the
// settings require for other commands: without SIA, only people with write access could merge such a change.
const acceptTestsPermission = "write"

// startDelay returns how long a new task waits if its sender has started several just before. The task exists at
// once.
func (in *Intake) startDelay(ctx context.Context, by sia.Actor) (time.Duration, error) {
	now := in.Now()
	begins, err := in.Store.LastStarts(ctx, by, now.Add(-longestWait), startsPerMinute)
	if err != nil || len(begins) < startsPerMinute {
		return 0, err
	}
	return max(0, begins[startsPerMinute-1].Add(startWindow).Sub(now)).Round(time.Second), nil
}
