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
	longestWait     = 24 * time.Hour // that is looked back for starts that wait
)

// Settings gives the settings in force in a repository.
type Settings interface {
	Settings(ctx context.Context, installation int64, repo sia.Repo) (sia.Settings, error)
	// Edited reads the settings of the default branch, which somebody pushed to.
	Edited(ctx context.Context, installation int64, repo sia.Repo, branch string) error
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
// question is an answer, and so is a comment in the escalation issue, unless people talk to one another there. Who
// chooses another option than the answer's is told whose that was.
func fit(t sia.Task, e sia.Event) (sia.Event, bool) {
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
		case e.Origin.Command: // whatever it says, it is meant to be the answer
		case !said:
			return e, false
		case a.Letter == "" && escalate.IsTalk(f.Text):
			e.Fact = sia.NotAnswered{}
			return e, !t.Escalation.Talk
		}
	case sia.NotAnswered:
		return e, inEscalation && !t.Escalation.Closed
	case sia.PullClosed, sia.Retargeted, sia.DraftChanged:
		// The branch may have other pull requests. Found by looking, it is the task's own.
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

// holdsQuestion reports whether a comment of SIA's may be the one that holds the open question: comments with earlier
// questions keep their boxes.
func holdsQuestion(t sia.Task, comment int64) bool {
	n := sia.CommentNumber(t.Escalation.URL)
	return n == 0 || n == comment
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
