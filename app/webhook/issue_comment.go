package webhook

import (
	"crypto/sha256"
	"fmt"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/command"
	"github.com/sia-bot/sia/sia/text"
)

// readIssueComment reads "issue_comment": commands, answers in an escalation issue, and ticked boxes in a comment of
// the app's.
func readIssueComment(payload any, r meta) ([]sia.Intent, *administration) {
	e, ok := payload.(*gh.IssueCommentEvent)
	if !ok || e.GetComment() == nil {
		return nil, nil
	}
	in := r.intent(e.GetRepo(), e.GetInstallation(), e.GetSender(), nil)
	c := e.GetComment()
	c2 := Comment{
		ID: c.GetID(), Issue: e.GetIssue().GetNumber(), Body: c.GetBody(), ByApp: c.GetUser().GetLogin() == r.slug+"[bot]",
		IssueTitle: e.GetIssue().GetTitle(), IssueBody: e.GetIssue().GetBody(), IsPull: e.GetIssue().IsPullRequest(),
		DefaultBranch: e.GetRepo().GetDefaultBranch(), Edited: c.GetUpdatedAt().Time,
	}
	switch e.GetAction() {
	case "created":
		return answerBoardStarts(FromComment(in, c2, r.slug), isBoard(e.GetIssue(), r, "")), nil
	case "edited":
		if !c2.ByApp {
			all := fromEdit(FromComment(in, c2, r.slug), c2.Body, r.slug, e.GetChanges().GetBody(), c.GetUser().GetLogin())
			return answerBoardStarts(all, isBoard(e.GetIssue(), r, "")), nil
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

// answerBoardStarts replaces commands that would start a task on a dashboard by an answer.
func answerBoardStarts(all []sia.Intent, board bool) []sia.Intent {
	for i := range all {
		if _, starts := all[i].Event.Fact.(sia.Start); starts && board {
			all[i].Event.Fact = sia.Query{Topic: "say", Text: render.BoardIsNoTask}
		}
	}
	return all
}

// fromEdit returns the intents of an edited comment or review if its author wrote a new command into it. The
// command is obeyed as if it had been there from the start; one that was there before is not obeyed again.
func fromEdit(says []sia.Intent, body, slug string, was *gh.EditBody, author string) []sia.Intent {
	line, addressed := command.Line(body, slug)
	before, _ := command.Line(was.GetFrom(), slug)
	if !addressed || was == nil || line == before {
		return nil
	}
	for i := range says {
		if author != says[i].Event.By.Login {
			return nil
		}
		says[i].EditID = editID(says[i].Event.ID, line)
	}
	return says
}

// editID returns the id of the event of an edited comment with a command, for one of its events before the edit.
func editID(event, line string) string {
	sum := sha256.Sum256([]byte(line))
	return fmt.Sprintf("%s/%x", event, sum[:4])
}

// Comment is the part of a new comment that matters here.
type Comment struct {
	ID            int64
	Thread        int64 // instead of ID: a comment on a line of a pull request
	Review        int64 // instead of ID: the body of a review
	Issue         int   // number of the issue or pull request
	Body          string
	ByApp         bool
	IsPull        bool
	IssueTitle    string
	IssueBody     string
	DefaultBranch string
	Edited        time.Time // the last time, or when it was written; zero: not known
}

// commentID returns the id of the event of a new comment.
func commentID(comment int64) string { return fmt.Sprintf("comment/%d", comment) }

// FromComment reads a new comment, from a delivery or from a look at GitHub. The event has the comment's id, so that
// the comment counts once. in provides the sender and the repository.
func FromComment(in sia.Intent, c Comment, slug string) []sia.Intent {
	if c.ByApp {
		return nil
	}
	in.Refs = []string{sia.IssueRef(c.Issue)}
	in.Permission, in.Changed = true, c.Edited
	in.Event.ID = commentID(c.ID)
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
		if f.Scope != command.Here {
			break
		}
		all := in
		all.Event.Fact = sia.Resume{Scope: sia.RepositoryHalt(in.Repo.ID)}
		if f.Credits == 0 {
			return []sia.Intent{all}
		}
		in.Event.ID += "/credits" // they are for the comment's own task
		in.Event.Fact = sia.Resume{Credits: f.Credits}
		return []sia.Intent{all, in}
	}
	return []sia.Intent{in}
}
