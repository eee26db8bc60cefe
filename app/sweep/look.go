package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// Intake processes the findings of looks at GitHub.
type Intake interface {
	// Comments processes comments on an issue or pull request, except those that were processed before.
	Comments(ctx context.Context, t sia.Task, on github.Issue, comments []github.Comment) error
	// Reviews does the same with reviews of the task's pull request and comments on its lines.
	Reviews(ctx context.Context, t sia.Task, reviews []github.PullReview, comments []github.ReviewComment) error
	// Compare syncs installations and their repositories with GitHub.
	Compare(ctx context.Context) error
	// Handles reports whether deliveries of an event are stored.
	Handles(event string) bool
	// Take processes any other finding.
	Take(ctx context.Context, intent sia.Intent) error
}

// Looker compares tasks with GitHub. It is safe for concurrent use.
type Looker struct {
	store  Store
	github *github.App
	intake Intake
	now    func() time.Time
}

// NewLooker returns a looker that passes its findings to the intake.
func NewLooker(s Store, gh *github.App, in Intake, now func() time.Time) *Looker {
	return &Looker{store: s, github: gh, intake: in, now: now}
}

// lookMargin is the time before the start of a run from which a look reads, and the time after a push in which
// GitHub may still return the old head.
const lookMargin = 2 * time.Minute

// coldWindow is the time before a look at a passed task from which it reads comments and reviews. It is longer than the
// time between two such looks, and shorter than the time for which the database knows which events changed nothing.
const coldWindow = 2 * 24 * time.Hour

// begin returns the time from which a look reads comments and reviews: the start of the run, or for a passed task the
// last two days.
func (l *Looker) begin(t sia.Task) time.Time {
	if cold := l.now().Add(-coldWindow); t.State == sia.Passed && t.StartedAt.Before(cold) {
		return cold
	}
	return t.StartedAt
}

// Issue reads the task's issue and the comments on it and on its pull
// request, and passes the findings to the intake, in case a delivery was lost.
func (l *Looker) Issue(ctx context.Context, t sia.Task) (github.Issue, error) {
	repo := l.github.Repo(t.Installation, t.Repo)
	var changed map[int]github.Issue
	var err error
	if t.Pull.Number != 0 {
		if changed, err = repo.ChangedIssues(ctx, t.StartedAt.Add(-lookMargin)); err != nil {
			return github.Issue{}, err
		}
	}
	issue, ok := changed[t.Issue]
	if !ok {
		var gone bool
		if issue, gone, err = l.issue(ctx, t); err != nil || gone {
			return issue, err
		}
	}
	if t, err = l.followRepo(ctx, t, issue); err != nil {
		return issue, err
	}
	return l.look(ctx, t, issue, changed[t.Pull.Number])
}

// followRepo updates the name of a task's repository from its issue, which was read by the repository's id. The old
// name may belong to another repository now, and its comments, code and settings must not be read instead of the
// task's.
func (l *Looker) followRepo(ctx context.Context, t sia.Task, issue github.Issue) (sia.Task, error) {
	owner, name, _ := strings.Cut(issue.Repo, "/")
	if name == "" || strings.EqualFold(issue.Repo, t.Repo.String()) {
		return t, nil
	}
	r, err := l.store.Apply(ctx, t.ID, sia.Event{ID: fmt.Sprintf("look/%s/moved/v%d", t.ID, t.Version), At: l.now(),
		Fact: sia.RepoMoved{Installation: t.Installation, Repo: sia.Repo{ID: t.Repo.ID, Owner: owner, Name: name}}})
	return r.Task, err
}

// issue reads the task's issue. If the issue is gone, it stops the task, like the delivery of that event.
func (l *Looker) issue(ctx context.Context, t sia.Task) (issue github.Issue, gone bool, err error) {
	issue, gone, err = l.github.Repo(t.Installation, t.Repo).IssueOrGone(ctx, t.Issue)
	if gone {
		err = l.stop(ctx, t, sia.Stop{Reason: "the issue was deleted, or transferred to another repository", IssueGone: true})
	}
	return issue, gone, err
}

// stop stops a task.
func (l *Looker) stop(ctx context.Context, t sia.Task, why sia.Stop) error {
	_, err := l.store.Apply(ctx, t.ID, sia.Event{ID: fmt.Sprintf("look/%s/v%d", t.ID, t.Version), At: l.now(), Fact: why})
	return err
}

// look passes the findings on a task's issue and pull request to the intake. pull may be
// zero if it was not read.
func (l *Looker) look(ctx context.Context, t sia.Task, issue, pull github.Issue) (github.Issue, error) {
	repo := l.github.Repo(t.Installation, t.Repo)
	stop := ""
	switch {
	case issue.State == "closed":
		stop = "the issue was closed"
	case t.Label != "" && !issue.HasLabel(t.Label, t.LabelID):
		stop = fmt.Sprintf("the label `%s` was taken off", t.Label)
	}
	if stop != "" && !t.State.Final() {
		return issue, l.stop(ctx, t, sia.Stop{Reason: stop})
	}
	ours, err := l.onlyOurs(ctx, t, issue, pull)
	if err != nil || ours {
		return issue, err
	}
	places := []github.Issue{issue}
	if t.Pull.Number != 0 {
		places = append(places, github.Issue{Number: t.Pull.Number, IsPull: true})
	}
	if e := t.Escalation; e != nil && e.Issue != 0 && e.Issue != t.Issue && !e.Answered {
		box, gone, err := repo.IssueOrGone(ctx, e.Issue)
		if err == nil && !gone { // otherwise the question is answered on the task's issue
			places = append(places, box)
			err = l.checkboxes(ctx, t, sia.Origin{OnIssue: box.Number}, box.Body)
		}
		if err == nil && !gone && box.State == "closed" && !e.Shut {
			err = l.passOnQuestion(ctx, t, "shut", sia.Origin{OnIssue: box.Number}, sia.NotAnswered{Closed: true})
		}
		if err != nil {
			return issue, err
		}
	}
	for _, p := range places {
		// All comments of the run: a delivery may have been lost while the task was in another state. The address without
		// coldWindow stays the same, so that an unchanged list costs a conditional request.
		comments, err := repo.CommentsSince(ctx, p.Number, t.StartedAt)
		if err != nil {
			return issue, err
		}
		comments = slices.DeleteFunc(comments, func(c github.Comment) bool { return c.Edited.Before(l.begin(t)) })
		for _, c := range comments {
			if e := t.Escalation; e != nil && !e.Answered && p.Number == t.Issue && c.ID == sia.CommentNumber(e.URL) {
				err = errors.Join(err, l.checkboxes(ctx, t, sia.Origin{OnIssue: t.Issue, Comment: c.ID}, c.Body))
			}
		}
		// An older comment that was edited since may have a command that was dealt with long ago.
		comments = slices.DeleteFunc(comments, func(c github.Comment) bool { return c.Written.Before(l.begin(t)) })
		if err = errors.Join(err, l.intake.Comments(ctx, t, p, comments)); err != nil {
			return issue, err
		}
	}
	return issue, nil
}

// onlyOurs reports whether all comments on a task's issue and pull request are SIA's, by
// their number. It returns false while a question is open, because a checkbox may have
// been ticked.
func (l *Looker) onlyOurs(ctx context.Context, t sia.Task, issue, pull github.Issue) (bool, error) {
	if t.Escalation != nil && !t.Escalation.Answered || t.Pull.Number != 0 && pull.Number == 0 {
		return false, nil
	}
	status, _, err := l.store.Surface(ctx, t.ID, store.SurfaceStatus)
	if err != nil {
		return false, err
	}
	ours := 0
	if status > 0 {
		ours = 1
	}
	return issue.Comments <= ours && pull.Comments <= interventionComments(t), nil
}

// interventionComments returns the number of SIA's comments on the pull request about interventions.
func interventionComments(t sia.Task) (n int) {
	for _, i := range t.Interventions {
		if strings.Contains(i.CommentURL, fmt.Sprintf("/pull/%d#", t.Pull.Number)) {
			n++
		}
	}
	return n
}

// checkboxes passes the text of a question to the intake, in case a checkbox was ticked.
// It is unknown who ticked it, but only users with write access can edit the app's
// comments. If commands need more than that, only a delivery tells who it was.
func (l *Looker) checkboxes(ctx context.Context, t sia.Task, at sia.Origin, body string) error {
	if !sia.Covers("write", t.Settings.Access.CommandPermission) {
		return nil
	}
	return l.passOnQuestion(ctx, t, "boxes", at, sia.Edited{Body: body})
}

// passOnQuestion passes a finding about an open question to the intake; found names it in the event's id.
func (l *Looker) passOnQuestion(ctx context.Context, t sia.Task, found string, at sia.Origin, fact sia.Fact) error {
	return l.intake.Take(ctx, sia.Intent{
		Installation: t.Installation, Repo: t.Repo, Refs: []string{sia.IssueRef(at.OnIssue)},
		Event: sia.Event{ID: fmt.Sprintf("look/%s/%s/v%d", t.ID, found, t.Version), At: l.now(), Origin: at, Fact: fact},
	})
}

// Task compares one task with GitHub: issue, comments, checkboxes, pull request
// and branch.
func (l *Looker) Task(ctx context.Context, t sia.Task) error {
	// Unlike lists, single resources that have not changed cost nothing of the rate limit.
	issue, gone, err := l.issue(ctx, t)
	if err != nil || gone {
		return err
	}
	if t, err = l.followRepo(ctx, t, issue); err != nil {
		return err
	}
	if _, err := l.look(ctx, t, issue, github.Issue{}); err != nil {
		return err
	}
	if t.Pull.Number == 0 {
		return nil
	}
	p, err := l.github.Repo(t.Installation, t.Repo).Pull(ctx, t.Pull.Number)
	if err != nil {
		return err
	}
	if p.State == "closed" && !p.Merged && t.ReopenWait(p.ClosedAt, l.now()) > 0 {
		return nil
	}
	moved := p.State != "closed" &&
		t.State != sia.Working && t.State != sia.Queued && t.State != sia.Passed && // of a passed one, Look has seen it
		t.MovedTo(sia.SHA(p.HeadSHA), l.now().Sub(t.Since) < lookMargin)
	if moved && t.HadHead(sia.SHA(p.HeadSHA)) {
		lags, err := l.github.Repo(t.Installation, t.Repo).IsAt(ctx, t.Branch, t.Head)
		if err != nil || lags {
			return err
		}
	}
	var fact sia.Fact
	switch {
	case p.State == "closed":
		fact = sia.PullClosed{Merged: p.Merged, Head: sia.SHA(p.HeadSHA), ClosedAt: p.ClosedAt}
	case moved:
		fact = sia.BranchMoved{SHA: sia.SHA(p.HeadSHA)}
	case p.BaseRef != "" && p.BaseRef != t.BaseBranch && !p.Fork:
		fact = sia.Retargeted{Base: p.BaseRef, SHA: sia.SHA(p.BaseSHA)}
	default:
		return l.reviews(ctx, t)
	}
	return l.intake.Take(ctx, sia.Intent{
		Installation: t.Installation, Repo: t.Repo, Refs: []string{sia.BranchRef(t.Branch)},
		Event: sia.Event{ID: fmt.Sprintf("look/%s/pull/v%d", t.ID, t.Version), At: l.now(), Fact: fact},
	})
}

// reviews passes the reviews since the run began to the intake, except approvals: their delivery, or a later review,
// reports what they change.
func (l *Looker) reviews(ctx context.Context, t sia.Task) error {
	repo := l.github.Repo(t.Installation, t.Repo)
	all, err := repo.Reviews(ctx, t.Pull.Number)
	if err != nil {
		return err
	}
	since := l.begin(t).Add(-lookMargin)
	all = slices.DeleteFunc(all, func(v github.PullReview) bool { return v.At.Before(since) || v.State == "APPROVED" })
	if len(all) == 0 {
		return nil // each comment on a line belongs to a review
	}
	comments, err := repo.ReviewComments(ctx, t.Pull.Number, since)
	if err != nil {
		return err
	}
	return l.intake.Reviews(ctx, t, all, comments)
}
