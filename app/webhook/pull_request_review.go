package webhook

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/command"
)

// readReview reads "pull_request_review": a review that requests changes or has a command, and the dismissal of one.
func readReview(payload any, r meta) ([]sia.Intent, *administration) {
	e, ok := payload.(*gh.PullRequestReviewEvent)
	if !ok || e.GetReview() == nil || e.GetPullRequest().GetHead().GetRepo().GetID() != e.GetRepo().GetID() {
		return nil, nil
	}
	in := r.intent(e.GetRepo(), e.GetInstallation(), e.GetSender(), nil)
	v := Review{ID: e.GetReview().GetID(), Pull: e.GetPullRequest().GetNumber(),
		Branch: e.GetPullRequest().GetHead().GetRef(), State: e.GetReview().GetState(), Body: e.GetReview().GetBody(),
		At: e.GetReview().GetSubmittedAt().Time}
	switch e.GetAction() {
	case "submitted":
		return FromReview(in, v, r.slug), nil
	case "edited":
		v.State = "" // its state was read when the review was submitted
		v.At = time.Time{}
		return fromEdit(FromReview(in, v, r.slug), v.Body, r.slug, oldBody(r.body), e.GetReview().GetUser().GetLogin()), nil
	case "dismissed":
		in.Refs = []string{sia.BranchRef(v.Branch)}
		in.Event.Origin = sia.Origin{OnIssue: v.Pull}
		in.Event.Fact = sia.ChangesWithdrawn{Review: v.ID}
		in.Permission = true
		return []sia.Intent{in}, nil
	}
	return nil, nil
}

// oldBody returns the body of a review before its edit, or nil if it did not change. go-github's event lacks this
// field.
func oldBody(body []byte) *gh.EditBody {
	var e struct {
		Changes *gh.EditChange `json:"changes"`
	}
	if json.Unmarshal(body, &e) != nil {
		return nil
	}
	return e.Changes.GetBody()
}

// Review is the part of a submitted review that matters here.
type Review struct {
	ID     int64
	Pull   int    // number of the pull request
	Branch string // head of the pull request
	State  string // as in GitHub's API, in upper or lower case
	Body   string
	At     time.Time // when it was submitted; zero: Body was written at another time
}

// FromReview reads a submitted review, from a delivery or from a look at GitHub. It counts once. A review that
// requests changes does so in addition to a command in its body, and only once, even if the command was added later.
// in provides the sender and the repository.
func FromReview(in sia.Intent, v Review, slug string) []sia.Intent {
	var commands []sia.Intent
	in.Refs = []string{sia.BranchRef(v.Branch)}
	in.Event.ID = fmt.Sprintf("review/%d", v.ID)
	in.Permission = true
	parsed, isCommand := command.Parse(v.Body, slug)
	in.Event.Origin = sia.Origin{OnIssue: v.Pull, Command: isCommand}
	state := strings.ToLower(v.State)
	if isCommand && !asksForChange(parsed) {
		commands = FromComment(in, Comment{Issue: v.Pull, Body: v.Body, IsPull: true, Review: v.ID, Edited: v.At},
			slug)
		if state != "changes_requested" {
			return commands
		}
	}
	switch {
	case state == "changes_requested" || isCommand:
		in.Event.Fact = sia.ChangesAsked{Review: v.ID}
	case state == "approved":
		in.Event.Fact = sia.ChangesWithdrawn{}
	default:
		return nil
	}
	return append(commands, in)
}

// asksForChange reports whether text for SIA on a pull request asks for a change: free text, or "/sia start" with
// text.
func asksForChange(p command.Parsed) bool {
	switch f := p.Fact.(type) {
	case sia.AnswerGiven:
		return f.Letter == ""
	case sia.Start:
		return f.Text != ""
	}
	return false
}

// readReviewComment reads "pull_request_review_comment": a command in a thread on a line. The other comments of a
// review are read with the review.
func readReviewComment(payload any, r meta) ([]sia.Intent, *administration) {
	e, ok := payload.(*gh.PullRequestReviewCommentEvent)
	if !ok || e.GetComment() == nil || e.GetPullRequest().GetHead().GetRepo().GetID() != e.GetRepo().GetID() {
		return nil, nil
	}
	c := e.GetComment()
	in := r.intent(e.GetRepo(), e.GetInstallation(), e.GetSender(), nil)
	line := Comment{Thread: c.GetID(), Issue: e.GetPullRequest().GetNumber(), Body: c.GetBody(), IsPull: true,
		ByApp: c.GetUser().GetLogin() == r.slug+"[bot]", Edited: c.GetUpdatedAt().Time}
	if _, isCommand := command.Parse(line.Body, r.slug); !isCommand || line.ByApp {
		return nil, nil
	}
	switch e.GetAction() {
	case "created":
		return FromComment(in, line, r.slug), nil
	case "edited":
		return fromEdit(FromComment(in, line, r.slug), line.Body, r.slug, e.GetChanges().GetBody(),
			c.GetUser().GetLogin()), nil
	}
	return nil, nil
}

// readReviewThread reads "pull_request_review_thread": a thread was resolved or unresolved.
func readReviewThread(payload any, r meta) ([]sia.Intent, *administration) {
	e, ok := payload.(*gh.PullRequestReviewThreadEvent)
	if !ok || e.GetThread() == nil || len(e.GetThread().Comments) == 0 ||
		e.GetPullRequest().GetHead().GetRepo().GetID() != e.GetRepo().GetID() {
		return nil, nil
	}
	f := sia.ThreadSettled{Thread: e.GetThread().Comments[0].GetID(), Again: e.GetAction() == "unresolved"}
	if e.GetAction() != "resolved" && !f.Again {
		return nil, nil
	}
	in := r.intent(e.GetRepo(), e.GetInstallation(), e.GetSender(), f)
	in.Refs = []string{sia.BranchRef(e.GetPullRequest().GetHead().GetRef())}
	in.Event.Origin = sia.Origin{OnIssue: e.GetPullRequest().GetNumber()}
	in.Permission = true
	return []sia.Intent{in}, nil
}
