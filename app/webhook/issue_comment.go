package webhook

import (
	"crypto/sha256"
	"fmt"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/command"
	"github.com/sia-bot/sia/sia/text"
)

// readIssueComment reads "issue_comment": commands, answers in an escalation
// issue, and boxes ticked in a comment of the app's.
func readIssueComment(payload any, r reading) ([]sia.Intent, *administration) {
	e, ok := payload.(*gh.IssueCommentEvent)
	if !ok || e.GetComment() == nil {
		return nil, nil
	}
	in := r.intent(e.GetRepo(), e.GetInstallation(), e.GetSender(), nil)
	c := e.GetComment()
	c2 := Comment{
		ID: c.GetID(), Issue: e.GetIssue().GetNumber(), Body: c.GetBody(), ByApp: c.GetUser().GetLogin() == r.slug+"[bot]",
		IssueTitle: e.GetIssue().GetTitle(), IssueBody: e.GetIssue().GetBody(), IsPull: e.GetIssue().IsPullRequest(),
		DefaultBranch: e.GetRepo().GetDefaultBranch(),
	}
	switch e.GetAction() {
	case "created":
		return notOfBoard(FromComment(in, c2, r.slug), byBoard(e.GetIssue(), r)), nil
	case "edited":
		if !c2.ByApp {
			all := edited(FromComment(in, c2, r.slug), c2.Body, r.slug, e.GetChanges().GetBody(), c.GetUser().GetLogin())
			return notOfBoard(all, byBoard(e.GetIssue(), r)), nil
		}
		if _, marked := render.ParseMarker(c2.Body); c2.ByApp && marked {
			in.Refs = []string{sia.IssueRef(c2.Issue)}
			in.Event.Origin = sia.Origin{OnIssue: c2.Issue, Comment: c2.ID}
			in.Event.Fact = sia.Edited{Body: c2.Body}
			in.Permission = true
			return []sia.Intent{in}, nil
		}
	}
	return nil, nil
}

// notOfBoard has commands that would begin a task on a dashboard answered.
func notOfBoard(all []sia.Intent, board bool) []sia.Intent {
	for i := range all {
		if _, starts := all[i].Event.Fact.(sia.Start); starts && board {
			all[i].Event.Fact = sia.Query{Topic: "say", Text: render.BoardIsNoTask}
		}
	}
	return all
}

// edited is what a person's comment or review says that was edited: a command that its author wrote into it is obeyed
// as if it had been there from the start. One that was there is not obeyed again.
func edited(says []sia.Intent, body, slug string, was *gh.EditBody, author string) []sia.Intent {
	line, addressed := command.Line(body, slug)
	before, _ := command.Line(was.GetFrom(), slug)
	if !addressed || was == nil || line == before {
		return nil
	}
	sum := sha256.Sum256([]byte(line))
	for i := range says {
		if author != says[i].Event.By.Login {
			return nil
		}
		says[i].EditID = fmt.Sprintf("%s/%x", says[i].Event.ID, sum[:4])
	}
	return says
}

// Comment is what matters of a new comment.
type Comment struct {
	ID            int64
	Thread        int64 // instead of ID, of a comment on a line of a pull request
	Review        int64 // instead of ID, of what a review says
	Issue         int   // the issue or pull request it stands on
	Body          string
	ByApp         bool
	IsPull        bool
	IssueTitle    string
	IssueBody     string
	DefaultBranch string
}

// FromComment reads a new comment, from a delivery or found by looking. The
// event's id is the comment's, so that a comment counts once however SIA learns
// of it. in carries who and where.
func FromComment(in sia.Intent, c Comment, slug string) []sia.Intent {
	if c.ByApp {
		return nil
	}
	in.Refs = []string{sia.IssueRef(c.Issue)}
	in.Permission = true
	in.Event.ID = fmt.Sprintf("comment/%d", c.ID)
	switch {
	case c.Thread != 0:
		in.Event.ID = fmt.Sprintf("thread/%d", c.Thread)
	case c.Review != 0:
		in.Event.ID = fmt.Sprintf("review/%d/command", c.Review)
	}
	in.Event.Origin = sia.Origin{OnIssue: c.Issue, Comment: c.ID, Thread: c.Thread}
	p, ok := command.Parse(c.Body, slug)
	if !ok {
		in.Event.Fact = sia.AnswerGiven{Text: c.Body} // counts only in an escalation issue
		in.Teach.Wrong, _ = command.Thumb(c.Body)
		return []sia.Intent{in}
	}
	in.Event.Origin.Command = true
	in.Event.Fact = p.Fact
	in.Permission, in.Words = !p.Open, p.Words
	if in.Teach = p.Teach; in.Teach != (sia.Teach{}) {
		in.Event.Fact = sia.Query{Topic: "say"} // Take fills in the answer
		return []sia.Intent{in}
	}
	switch f := p.Fact.(type) {
	case nil:
		in.Permission = false
		in.Event.Fact = sia.Query{Topic: "say", Text: text.Capital(p.Problem) + "."}
	case sia.Start:
		if c.IsPull && f.Text != "" {
			in.Event.Fact = sia.ChangesAsked{Thread: c.Thread, Text: f.Text}
			break
		}
		if c.IsPull {
			in.Event.Fact = sia.Query{Topic: "say", Text: render.StartOnPull}
			break
		}
		f.Installation, f.Repo, f.Issue = in.Installation, in.Repo, c.Issue
		f.Title, f.Body, f.DefaultBranch = c.IssueTitle, c.IssueBody, c.DefaultBranch
		in.Event.Fact = f
	case sia.Stop:
		in.Event.Fact = sia.Stop{Reason: "@" + in.Event.By.Login + " said `/sia stop`"}
	case sia.PauseAsked:
		in.Event.Fact = sia.PauseAsked{Reason: "@" + in.Event.By.Login + " said `/sia pause`"}
		if f.Scope == command.Here {
			in.Event.Fact = sia.PauseAsked{Scope: sia.RepositoryHalt(in.Repo.ID), Reason: "everything in this repository is " +
				"paused: @" + in.Event.By.Login + " said `/sia pause all`"}
		}
	case sia.Resume:
		if f.Scope == command.Here {
			in.Event.Fact = sia.Resume{Scope: sia.RepositoryHalt(in.Repo.ID)}
		}
	}
	return []sia.Intent{in}
}
