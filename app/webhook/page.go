package webhook

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/text"
)

// Commands from SIA's web pages are handled like comments: the same commands, permissions and events. Only the answer
// goes to the page.

// operatorName is how texts name the operator of the server, who needs no permission.
const operatorName = "whoever runs the server"

func newPageEventID() string { return "page/" + rand.Text() }

// Say gives a task a command from a page, written as in a comment. head is the commit whose tests the page offers to
// accept. The answer, for people, reports what happened, or why nothing did.
func (in *Intake) Say(
	ctx context.Context, by sia.Actor, id sia.TaskID, line string, head sia.SHA,
) (answer string, err error) {
	t, err := in.Store.Task(ctx, id)
	if err != nil {
		return "", err
	}
	intent := sia.Intent{Installation: t.Installation, Repo: t.Repo, Event: sia.Event{At: in.Now(), By: by}}
	intents := FromComment(intent, Comment{Issue: t.Issue, Body: line, IssueTitle: t.Title, IssueBody: t.Body,
		DefaultBranch: t.BaseBranch}, "")
	if len(intents) != 1 || !intents[0].Event.Origin.Command {
		return "", fmt.Errorf("say %q to task %s: it is no command", line, id)
	}
	intent = intents[0]
	intent.Event.ID, intent.Event.Origin = newPageEventID(), sia.Origin{}
	if _, accepts := intent.Event.Fact.(sia.AcceptTests); accepts {
		intent.Event.Fact = sia.AcceptTests{SHA: head}
	}
	if by.Operator {
		intent.Event.Fact = operatorReason(intent.Event.Fact)
	}
	intent.Event = sia.Masked(intent.Event, in.Secrets.Mask)
	if refusal, err := in.refusal(ctx, intent); err != nil || refusal != "" {
		return refusal, err
	}
	if intent.Teach != (sia.Teach{}) {
		intent.Event.Origin.OnIssue = t.Issue
		answer, _, err = in.Teacher.Teach(ctx, intent)
		return answer, err
	}
	if reply, ok, err := in.halt(ctx, intent); err != nil || ok {
		return reply.Text, err
	}
	return in.applyCommand(ctx, t, intent.Event)
}

// applyCommand applies an event to a task, and returns the result in words.
func (in *Intake) applyCommand(ctx context.Context, t sia.Task, e sia.Event) (string, error) {
	e.Origin.Command = true // so that interpret reads it as a command
	e, _ = interpret(t, e)
	e.Origin = sia.Origin{} // there is no comment to react to
	targets := []target{{task: t.ID, event: e}}
	if err := in.resolveUse(ctx, targets); err != nil {
		return "", err
	}
	if q, ok := targets[0].event.Fact.(sia.Query); ok {
		return q.Text, nil
	}
	res, err := in.Store.Apply(ctx, t.ID, targets[0].event)
	switch {
	case err != nil:
		return "", err
	case res.Ignored != "":
		return "Nothing was done: " + res.Ignored + ".", nil
	}
	return text.Capital(res.Why) + ".", nil
}

// operatorReason replaces a fact's reason by one that names the operator.
func operatorReason(f sia.Fact) sia.Fact {
	switch f := f.(type) {
	case sia.Stop:
		return sia.Stop{Reason: operatorName + " said so"}
	case sia.PauseAsked:
		return sia.PauseAsked{Scope: f.Scope, Reason: operatorName + " said so"}
	}
	return f
}

// refusal returns the reason why the sender may not do this, or "" if they may.
func (in *Intake) refusal(ctx context.Context, intent sia.Intent) (string, error) {
	by := intent.Event.By
	if by.Operator || !intent.Permission {
		return "", nil
	}
	set, err := in.Settings.Settings(ctx, intent.Installation, intent.Repo)
	if err != nil {
		return "", err
	}
	have, err := in.GitHub.Repo(intent.Installation, intent.Repo).Permission(ctx, by.Login)
	if err != nil {
		return "", err
	}
	needs := neededPermission(set, intent.Event.Fact)
	if sia.Covers(have, needs) {
		return "", nil
	}
	return render.NotPermitted(by.Login, needs), nil
}

// Teach remembers or forgets something in a repository, as a comment there would.
func (in *Intake) Teach(
	ctx context.Context, by sia.Actor, repo store.Repository, teach sia.Teach,
) (answer string, err error) {
	intent := sia.Intent{Installation: repo.Installation, Repo: repo.Repo, Permission: true, Teach: teach,
		Event: sia.Event{ID: newPageEventID(), At: in.Now(), By: by}}
	if refusal, err := in.refusal(ctx, intent); err != nil || refusal != "" {
		return refusal, err
	}
	answer, done, err := in.Teacher.Teach(ctx, intent)
	if err != nil || !done {
		return answer, err
	}
	what, about := "learn", teach.Learn
	if teach.Forget != "" {
		what, about = "forget", teach.Forget
	}
	return answer, in.Store.LogAct(ctx, store.Act{At: in.Now(), Who: by.Login, What: what, Repo: repo.ID, Detail: about})
}

// EditLesson replaces a lesson by a draft from a page. It needs the same permission as teaching. A missing permission
// and an unusable draft are both returned as [lesson.Refused].
func (in *Intake) EditLesson(
	ctx context.Context, by sia.Actor, repo store.Repository, id lesson.ID, d lesson.Draft,
) (lesson.Lesson, error) {
	intent := sia.Intent{Installation: repo.Installation, Repo: repo.Repo, Permission: true,
		Event: sia.Event{ID: newPageEventID(), At: in.Now(), By: by}}
	refusal, err := in.refusal(ctx, intent)
	switch {
	case err != nil:
		return lesson.Lesson{}, err
	case refusal != "":
		return lesson.Lesson{}, lesson.Refused(refusal)
	}
	l, err := in.Teacher.Edit(ctx, repo.ID, id, d, by)
	if err != nil {
		return l, err
	}
	act := store.Act{At: in.Now(), Who: by.Login, What: "edit", Repo: repo.ID, Detail: string(l.ID)}
	return l, in.Store.LogAct(ctx, act)
}

// Halt pauses everything in an installation. The caller has checked that the person administers all of it.
func (in *Intake) Halt(ctx context.Context, by sia.Actor, installation int64) (answer string, err error) {
	who := operatorName
	if by.Login != "" {
		who = "@" + by.Login
	}
	n, err := in.Store.Halt(ctx, store.Halt{Scope: sia.InstallationHalt(installation), By: by.Login, At: in.Now(),
		Reason: "everything in this installation is paused: " + who + " said so on SIA's page"})
	return render.InstallationHalted(n), err
}

// Lift resumes an installation that was paused as a whole.
func (in *Intake) Lift(ctx context.Context, by sia.Actor, installation int64) (answer string, err error) {
	n, known, err := in.Store.Lift(ctx, sia.InstallationHalt(installation), by.Login, in.Now())
	return render.InstallationLifted(n, known), err
}

// SetUpAgain plans another setup of repositories of an installation whose setup failed. The caller checks permission.
func (in *Intake) SetUpAgain(
	ctx context.Context, by sia.Actor, installation int64, repos []sia.Repo,
) (answer string, err error) {
	if err := in.Store.PlanSetups(ctx, installation, repos, 0, false); err != nil {
		return "", err
	}
	n := text.Count(len(repos), "repository", "repositories")
	act := store.Act{At: in.Now(), Who: by.Login, What: "set up again", Detail: n}
	if len(repos) == 1 {
		act.Repo = repos[0].ID
	}
	return n + " will be set up again.", in.Store.LogAct(ctx, act)
}

// ProposeSettings plans another setup of a repository, which proposes settings to it. The caller checks permission.
func (in *Intake) ProposeSettings(ctx context.Context, by sia.Actor, repo store.Repository) (answer string, err error) {
	if err := in.Store.ProposeSettings(ctx, repo.Installation, repo.ID); err != nil {
		return "", err
	}
	return "Settings will be proposed to " + repo.String() + ", in a pull request.",
		in.Store.LogAct(ctx, store.Act{At: in.Now(), Who: by.Login, What: "propose settings", Repo: repo.ID})
}
