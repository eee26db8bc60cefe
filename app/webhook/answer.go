package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// Limits on answers where there is no task (docs/rules.md#failsafes).
const (
	answersPerHour = 20             // on one thread, and to one person
	repeatInterval = 24 * time.Hour // minimum interval between equal answers to one person on one thread
)

// Reactions that acknowledge a command.
const (
	reactObeyed  = "rocket"   // obeyed
	reactRefused = "confused" // refused, without a new answer
)

// answerWithoutTask answers a command on an issue that has no task. A repeated command gets a reaction and no new
// answer, as does one above the thread's hourly limit. One above the person's gets nothing: each request counts in what
// GitHub lets the installation write.
func (in *Intake) answerWithoutTask(ctx context.Context, intent sia.Intent, set sia.Settings) error {
	e := intent.Event
	halted := ""
	if h, is, err := in.Store.HaltOver(ctx, intent.Installation, intent.Repo.ID); err != nil {
		return err
	} else if is {
		halted = render.HaltLine(h.Reason, h.Scope, h.Actor().Operator)
	}
	text, obeyed := render.NoTask(set, halted), false
	if q, ok := e.Fact.(sia.Query); ok && q.Topic == "say" {
		text, obeyed = render.Say(q.Text), q.Obeyed
	} else if ok && q.Topic == "help" {
		text = render.Help(sia.Task{Settings: set})
	}
	silent := false
	reply, err := in.Store.Heard(ctx, intent.Repo.ID, e.ID)
	if errors.Is(err, store.ErrNotFound) {
		reply = store.Heard{Repo: intent.Repo.ID, Event: e.ID, Issue: e.Origin.OnIssue, Login: e.By.Login, At: in.Now()}
		reply.Answer, err = text, nil
		if !obeyed {
			reply.Answer, silent, err = in.throttleAnswer(ctx, reply, text)
		}
		if err == nil {
			err = in.Store.SaveHeard(ctx, reply)
		}
	}
	if err != nil {
		return err
	}
	repo := in.GitHub.Repo(intent.Installation, intent.Repo)
	if reply.Answer != "" {
		// The marker names the event, so that it is answered once.
		m := render.Marker{Task: sia.NewTaskID(intent.Repo.ID, e.Origin.OnIssue), Kind: "reply", Key: e.ID}
		if _, err := repo.UpsertComment(ctx, e.Origin.OnIssue, m.String(), reply.Answer, 0); err != nil {
			return err
		}
	}
	switch {
	case obeyed:
		return repo.React(ctx, e.Origin, reactObeyed)
	case reply.Answer != text && !silent:
		return repo.React(ctx, e.Origin, reactRefused)
	}
	return nil
}

// throttleAnswer returns the answer to h, or "" if the person has read the same one recently, or if the person or the
// thread has reached the hourly limit of comments. The first answer over the limit of a thread announces the silence.
// silent: the person has reached it.
func (in *Intake) throttleAnswer(
	ctx context.Context, h store.Heard, text string,
) (answer string, silent bool, err error) {
	earlier, err := in.Store.HeardSince(ctx, h.Repo, h.Issue, h.Login, h.At.Add(-repeatInterval))
	if err != nil {
		return "", false, err
	}
	thread, person, again := 0, 0, false
	for _, x := range earlier {
		again = again || x.Issue == h.Issue && x.Login == h.Login && x.Answer == text
		if x.At.Before(h.At.Add(-time.Hour)) {
			continue
		}
		if x.Issue == h.Issue {
			thread++
		}
		if x.Login == h.Login {
			person++
		}
	}
	switch {
	case thread == answersPerHour:
		return render.TooMany(answersPerHour, "hour"), false, nil
	case thread > answersPerHour, person >= answersPerHour:
		return "", person >= answersPerHour, nil
	case again:
		return "", false, nil
	}
	return text, false, nil
}
