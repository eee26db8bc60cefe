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

// Intake takes what a look at GitHub finds.
type Intake interface {
	// Comments takes new comments on an issue or pull request; what was taken before counts no second time.
	Comments(ctx context.Context, t sia.Task, on github.Issue, comments []github.Comment) error
	// Reviews takes reviews of the task's pull request and comments on its lines, in the same way.
	Reviews(ctx context.Context, t sia.Task, reviews []github.PullReview, comments []github.ReviewComment) error
	// Compare brings installations and their repositories up to date with GitHub.
	Compare(ctx context.Context) error
	// Handles reports whether deliveries of an event are kept.
	Handles(event string) bool
	// Take takes any other finding.
	Take(ctx context.Context, intent sia.Intent) error
}

// Looker compares tasks with GitHub. Safe for concurrent use.
type Looker struct {
	store  Store
	github *github.App
	intake Intake
	now    func() time.Time
}

// NewLooker returns a looker that hands what it finds to the intake.
func NewLooker(s Store, gh *github.App, in Intake, now func() time.Time) *Looker {
	return &Looker{store: s, github: gh, intake: in, now: now}
}

// lookMargin is how far back a look reads before the run began, and for how long after a push GitHub may
// show the head of before.
const lookMargin = 2 * time.Minute

// Issue reads the task's issue and the comments on it and on its pull
// request, and hands what a lost delivery would have said to the intake.
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
	if t, err = l.follow(ctx, t, issue); err != nil {
		return issue, err
	}
	return l.look(ctx, t, issue, changed[t.Pull.Number])
}

// follow has a task follow its repository to where its issue is, which was read by the repository's id: the name may be
// another repository's by now, and its comments, code and settings are not to be read in the place of the task's.
func (l *Looker) follow(ctx context.Context, t sia.Task, issue github.Issue) (sia.Task, error) {
	owner, name, _ := strings.Cut(issue.Repo, "/")
	if name == "" || strings.EqualFold(issue.Repo, t.Repo.String()) {
		return t, nil
	}
	r, err := l.store.Apply(ctx, t.ID, sia.Event{ID: fmt.Sprintf("look/%s/moved/v%d", t.ID, t.Version), At: l.now(),
		Fact: sia.RepoMoved{Installation: t.Installation, Repo: sia.Repo{ID: t.Repo.ID, Owner: owner, Name: name}}})
	return r.Task, err
}

// issue reads the task's issue. Where it is gone, the task is stopped as by the delivery that said so.
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

// look hands to the intake what is found on a task's issue, and on its pull request,
// which may be zero where it was not read.
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
	silent, err := l.silent(ctx, t, issue, pull)
	if err != nil || silent {
		return issue, err
	}
	places := []github.Issue{issue}
	if t.Pull.Number != 0 {
		places = append(places, github.Issue{Number: t.Pull.Number, IsPull: true})
	}
	if e := t.Escalation; e != nil && e.Issue != 0 && e.Issue != t.Issue && !e.Answered {
		box, gone, err := repo.IssueOrGone(ctx, e.Issue)
		if err == nil && !gone { // else the question is answered on the task's issue
			places = append(places, box)
			err = l.boxes(ctx, t, sia.Origin{OnIssue: box.Number}, box.Body)
		}
		if err == nil && !gone && box.State == "closed" && !e.Shut {
			err = l.question(ctx, t, "shut", sia.Origin{OnIssue: box.Number}, sia.NotAnswered{Closed: true})
		}
		if err != nil {
			return issue, err
		}
	}
	for _, p := range places {
		// All of the run's: a delivery may have been lost while the task was in another state.
		comments, err := repo.CommentsSince(ctx, p.Number, t.StartedAt)
		if err != nil {
			return issue, err
		}
		for _, c := range comments {
			if e := t.Escalation; e != nil && !e.Answered && p.Number == t.Issue && c.ID == sia.CommentNumber(e.URL) {
				err = errors.Join(err, l.boxes(ctx, t, sia.Origin{OnIssue: t.Issue, Comment: c.ID}, c.Body))
			}
		}
		if err = errors.Join(err, l.intake.Comments(ctx, t, p, comments)); err != nil {
			return issue, err
		}
	}
	return issue, nil
}

// silent reports whether nobody but SIA can have said anything on a task's issue and
// pull request, by how many comments they have. While a question is open it can't be
// told: a box may have been ticked.
func (l *Looker) silent(ctx context.Context, t sia.Task, issue, pull github.Issue) (bool, error) {
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
	return issue.Comments <= ours && pull.Comments <= announced(t), nil
}

// announced is how many interventions SIA commented on the pull request.
func announced(t sia.Task) (n int) {
	for _, i := range t.Interventions {
		if strings.Contains(i.CommentURL, fmt.Sprintf("/pull/%d#", t.Pull.Number)) {
			n++
		}
	}
	return n
}

// boxes hands the text of a question to the intake, in case a box was ticked. Who
// ticked it can't be told from there, but only people with write access can
// edit what the app wrote.
func (l *Looker) boxes(ctx context.Context, t sia.Task, at sia.Origin, body string) error {
	return l.question(ctx, t, "boxes", at, sia.Edited{Body: body})
}

// question hands to the intake what is found of an open question, under a name.
func (l *Looker) question(ctx context.Context, t sia.Task, found string, at sia.Origin, fact sia.Fact) error {
	return l.intake.Take(ctx, sia.Intent{
		Installation: t.Installation, Repo: t.Repo, Refs: []string{sia.IssueRef(at.OnIssue)},
		Event: sia.Event{ID: fmt.Sprintf("look/%s/%s/v%d", t.ID, found, t.Version), At: l.now(), Origin: at, Fact: fact},
	})
}

// Task compares one task with GitHub: issue, comments, boxes, pull request and
// branch.
func (l *Looker) Task(ctx context.Context, t sia.Task) error {
	// Read one by one, what has not changed costs nothing of the rate limit.
	issue, gone, err := l.issue(ctx, t)
	if err != nil || gone {
		return err
	}
	if t, err = l.follow(ctx, t, issue); err != nil {
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
	var fact sia.Fact
	switch {
	case p.State == "closed":
		fact = sia.PullClosed{Merged: p.Merged, Head: sia.SHA(p.HeadSHA)}
	case t.State != sia.Working && t.State != sia.Queued &&
		t.MovedTo(sia.SHA(p.HeadSHA), l.now().Sub(t.Since) < lookMargin):
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

// reviews hands to the intake what was reviewed since the run began. An approval is no news: what it
// takes back, its delivery or a later review says.
func (l *Looker) reviews(ctx context.Context, t sia.Task) error {
	repo := l.github.Repo(t.Installation, t.Repo)
	all, err := repo.Reviews(ctx, t.Pull.Number)
	if err != nil {
		return err
	}
	since := t.StartedAt.Add(-lookMargin)
	all = slices.DeleteFunc(all, func(v github.PullReview) bool { return v.At.Before(since) || v.State == "APPROVED" })
	if len(all) == 0 {
		return nil // each comment on a line is a review's, too
	}
	comments, err := repo.ReviewComments(ctx, t.Pull.Number, since)
	if err != nil {
		return err
	}
	return l.intake.Reviews(ctx, t, all, comments)
}
