package work

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// dcoFile configures the app that looks for sign-offs.
// https://github.com/dcoapp/app
const dcoFile = ".github/dco.yml"

// commitRules is what the repository asks of commits: by its rules and settings, or by the file of
// the app that looks for sign-offs.
func (w *branchWorker) commitRules(ctx context.Context, t sia.Task, base string) (sia.CommitRules, error) {
	rules, err := w.repo(t).CommitRules(ctx, t.BaseBranch)
	if err != nil || rules.SignOff {
		return rules, err
	}
	_, err = w.mirror(t).ReadFile(ctx, base, dcoFile, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return rules, nil
	}
	rules.SignOff = err == nil || errors.Is(err, gitops.ErrTooLarge)
	if rules.SignOff {
		return rules, nil
	}
	return rules, err
}

// signOff is the line with which the app signs a commit off, where the repository asks for it.
// https://developercertificate.org
func signOff(t sia.Task, bot gitops.Signature) []gitops.Trailer {
	if !t.Commits.SignOff {
		return nil
	}
	return []gitops.Trailer{{Key: "Signed-off-by", Value: fmt.Sprintf("%s <%s>", bot.Name, bot.Email)}}
}

// placed is a commit on the task's branch, or one that is to be put there.
type placed struct {
	sha     string
	warning string // for people: a rule that it does not fulfil
	there   bool   // it is on the branch already
}

// objectsRef is where the objects of a task's commit wait until GitHub has made a signed commit of
// them. It is no branch, so nothing runs because of it.
// https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#push
func objectsRef(t sia.Task) string { return "refs/sia/objects/" + string(t.ID) }

// signed has GitHub make and sign the commits made here that the branch lacks: their objects are
// pushed, and each commit is made anew of its tree, message and parents. Where that was done before
// and the branch moved, it is found by looking. What GitHub does not sign is put on the branch as it
// is, and people are told.
func (w *branchWorker) signed(
	ctx context.Context, t sia.Task, mirror *gitops.Repo, from, sha, expect string,
) (placed, error) {
	out, err := w.lookForSigned(ctx, t, mirror, sha, expect)
	if err != nil || out.there {
		return out, err
	}
	made, err := mirror.MadeCommits(ctx, sha, expect, from, string(t.BaseSHA))
	if err != nil || len(made) == 0 {
		return placed{sha: sha}, err
	}
	err = mirror.PushRef(ctx, objectsRef(t), sha)
	if _, change := refusedChange(err); err != nil && !change && refused(err) {
		return placed{sha: sha, warning: render.NotSigned(t.BaseBranch, err.Error())}, nil
	}
	if err != nil {
		return placed{}, err
	}
	signed := map[string]github.MadeCommit{}
	for _, c := range made {
		for i, p := range c.Parents {
			if s, ok := signed[p]; ok {
				c.Parents[i] = s.SHA
			}
		}
		s, err := w.repo(t).CreateCommit(ctx, github.NewCommit{Tree: c.Tree, Parents: c.Parents, Message: c.Message})
		if refused(err) {
			return placed{sha: sha, warning: render.NotSigned(t.BaseBranch, err.Error())}, nil
		}
		if err != nil {
			return placed{}, err
		}
		signed[c.SHA] = s
		if !s.Verified {
			out.warning = notSigned(t, s.Reason)
		}
	}
	out.sha = signed[sha].SHA
	return out, nil
}

// lookForSigned looks where the branch is: where it was expected, or at the signed commit, because
// the answer to an earlier try was lost. Anywhere else it is a [*gitops.LeaseError].
func (w *branchWorker) lookForSigned(
	ctx context.Context, t sia.Task, mirror *gitops.Repo, sha, expect string,
) (placed, error) {
	head, err := mirror.Head(ctx, t.Branch)
	if err != nil || head == expect {
		return placed{}, err
	}
	moved := &gitops.LeaseError{Branch: t.Branch, Want: expect, Head: head}
	if head == "" {
		return placed{}, moved
	}
	if err := mirror.FetchCommit(ctx, head); err != nil {
		return placed{}, err
	}
	same, err := mirror.SameWork(ctx, head, sha)
	if err != nil {
		return placed{}, err
	}
	if !same {
		return placed{}, moved
	}
	c, err := w.repo(t).Commit(ctx, head)
	out := placed{sha: head, there: true}
	if !c.Verified {
		out.warning = notSigned(t, c.Reason)
	}
	return out, err
}

// notSigned says that GitHub did not sign, for a reason that it names in one word, such as "bad_email".
func notSigned(t sia.Task, reason string) string {
	return render.NotSigned(t.BaseBranch, strings.ReplaceAll(reason, "_", " "))
}

// refused reports whether GitHub refused something for good.
func refused(err error) bool {
	var rejected *gitops.RejectedError
	return err != nil && (sia.IsPermanent(err) || errors.As(err, &rejected))
}

// dropObjects takes the ref of a task's objects away. One that stays does no harm, and goes with the
// next push.
func (w *branchWorker) dropObjects(ctx context.Context, t sia.Task, mirror *gitops.Repo) {
	if err := mirror.DropRef(ctx, objectsRef(t)); err != nil {
		w.Logger.WarnContext(ctx, "ref left behind", "task", t.ID, "ref", objectsRef(t), "error", err)
	}
}
