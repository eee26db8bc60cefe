package world

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// closing matches the keywords that link a pull request to the issue that it closes.
var closing = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)\b`)

// PullSpec describes a new pull request.
type PullSpec struct {
	Title string
	Body  string
	Head  string // branch, optionally with the owner and a colon before it
	Base  string // branch
	Draft bool
}

// NoDrafts is GitHub's message if the owner's plan has no drafts: for private repositories of free plans.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/proposing-changes-to-your-work-with-pull-requests/about-pull-requests#draft-pull-requests
const NoDrafts = "Draft pull requests are not supported in this repository."

// OpenPull opens a pull request. Refusals are those of the REST API.
func (w *World) OpenPull(r *model.Repository, a model.Actor, in PullSpec) (*model.Issue, error) {
	head := in.Head
	if owner, branch, is := strings.Cut(in.Head, ":"); is {
		if !strings.EqualFold(owner, r.Owner.Login) {
			return nil, refusal.Invalid("PullRequest", "head", "invalid", "")
		}
		head = branch
	}
	headSHA, baseSHA := r.Head(head), r.Head(in.Base)
	switch {
	case strings.TrimSpace(in.Title) == "":
		return nil, refusal.Invalid("PullRequest", "title", "missing_field", "")
	case headSHA == "":
		return nil, refusal.Invalid("PullRequest", "head", "invalid", "")
	case baseSHA == "":
		return nil, refusal.Invalid("PullRequest", "base", "invalid", "")
	}
	for _, i := range r.Issues {
		if i.Pull != nil && i.State == "open" && i.Pull.Head == head && i.Pull.Base == in.Base {
			return nil, refusal.Invalid("PullRequest", "", "custom",
				fmt.Sprintf("A pull request already exists for %s:%s.", r.Owner.Login, head))
		}
	}
	if w.git.Compare(r.Dir, baseSHA, headSHA).Ahead == 0 {
		return nil, refusal.Invalid("PullRequest", "", "custom", fmt.Sprintf("No commits between %s and %s", in.Base, head))
	}
	if in.Draft && r.NoDrafts {
		return nil, refusal.Unprocessable(NoDrafts)
	}
	r.LastNumber++
	i := &model.Issue{ID: w.NextID(), Number: r.LastNumber, Title: in.Title, Body: in.Body, By: a.User, App: a.App,
		State: "open", Made: w.Now(), Updated: w.Now()}
	i.Pull = &model.Pull{ID: w.NextID(), Head: head, Base: in.Base, HeadSHA: headSHA, BaseSHA: baseSHA, Draft: in.Draft}
	r.Issues = append(r.Issues, i)
	w.note(r, a, journal.Entry{Kind: "pull_request.opened", Number: i.Number, Ref: head,
		SHA: headSHA, Detail: in.Title})
	body := w.emit(r, a, "pull_request", "opened", object{"number": i.Number, "pull_request": w.shape.Pull(r, i)})
	w.startPullWorkflows(r, a, i, body)
	return i, nil
}

// SetDraft moves a pull request between draft and ready for review.
func (w *World) SetDraft(r *model.Repository, i *model.Issue, a model.Actor, draft bool) {
	if i.Pull.Draft == draft {
		return
	}
	i.Pull.Draft = draft
	action := "ready_for_review"
	if draft {
		action = "converted_to_draft"
	}
	body := w.issueEvent(r, i, a, action, i.Pull.HeadSHA, nil)
	w.startPullWorkflows(r, a, i, body)
}

// Retarget changes the base branch of a pull request. The event contains the former branch and its head.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads?actionType=edited#pull_request
func (w *World) Retarget(r *model.Repository, i *model.Issue, a model.Actor, base string) {
	old, oldSHA := i.Pull.Base, i.Pull.BaseSHA
	if old == base {
		return
	}
	i.Pull.Base, i.Pull.BaseSHA = base, r.Head(base)
	body := w.issueEvent(r, i, a, "edited", "base", object{"changes": object{
		"base": object{"ref": object{"from": old}, "sha": object{"from": oldSHA}}}})
	w.startPullWorkflows(r, a, i, body)
}

// MergePull merges a pull request with a merge commit and returns its SHA.
func (w *World) MergePull(r *model.Repository, i *model.Issue, a model.Actor) (string, error) {
	p := i.Pull
	switch {
	case p == nil:
		return "", errors.New("not a pull request")
	case i.State != "open":
		return "", errors.New("the pull request is closed")
	case p.Draft:
		return "", errors.New("the pull request is a draft: mark it ready for review first")
	}
	sha, err := w.mergeCommit(r, i, a)
	if err != nil {
		return "", err
	}
	return sha, w.finishMerge(r, i, a, sha)
}

// mergeCommit makes the commit that merges a pull request. GitHub signs it.
func (w *World) mergeCommit(r *model.Repository, i *model.Issue, a model.Actor) (string, error) {
	p := i.Pull
	base := r.Head(p.Base)
	tree, clean := w.git.MergeTree(r.Dir, base, p.HeadSHA)
	if !clean {
		return "", fmt.Errorf("%s conflicts with %s", p.Head, p.Base)
	}
	message := fmt.Sprintf("Merge pull request #%d from %s/%s\n\n%s", i.Number, r.Owner.Login, p.Head, i.Title)
	sha, err := w.git.CommitTree(r.Dir, tree, []string{base, p.HeadSHA}, message, w.signature(a.User))
	if err == nil {
		r.Signed[sha] = true
	}
	return sha, err
}

// finishMerge moves the base of a pull request to the merge commit, and closes the pull request and its issues.
func (w *World) finishMerge(r *model.Repository, i *model.Issue, a model.Actor, sha string) error {
	p := i.Pull
	base := r.Head(p.Base)
	if err := w.git.SetRef(r.Dir, "refs/heads/"+p.Base, sha, base); err != nil {
		return err
	}
	r.Refs["refs/heads/"+p.Base] = sha
	p.MergedAt, p.MergedBy, p.MergeSHA = w.Now(), a.User, sha
	w.note(r, a, journal.Entry{Kind: "pull_request.merged", Number: i.Number, Ref: p.Base,
		SHA: sha})
	w.SetState(r, i, a, "closed", "")
	w.closeLinked(r, i, a)
	w.refMoved(r, a, "refs/heads/"+p.Base, base, sha)
	return nil
}

// closeLinked closes the issues linked in a merged pull request's text.
// https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
func (w *World) closeLinked(r *model.Repository, i *model.Issue, a model.Actor) {
	if i.Pull.Base != r.DefaultBranch {
		return
	}
	for _, linked := range linked(r, i) {
		w.SetState(r, linked, a, "closed", "completed")
	}
}

// linked are the issues linked in a pull request's text.
func linked(r *model.Repository, i *model.Issue) []*model.Issue {
	var all []*model.Issue
	for _, m := range closing.FindAllStringSubmatch(i.Body, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			continue // beyond any issue's number
		}
		if to := r.Issue(n); to != nil && to.Pull == nil {
			all = append(all, to)
		}
	}
	return all
}

// Closing are the open pull requests that close an issue when they are merged, oldest first. Only those with the
// default branch as base count.
func (w *World) Closing(r *model.Repository, issue *model.Issue) []*model.Issue {
	var all []*model.Issue
	for _, i := range r.Issues {
		if i.Pull != nil && i.State == "open" && i.Pull.Base == r.DefaultBranch && slices.Contains(linked(r, i), issue) {
			all = append(all, i)
		}
	}
	return all
}
