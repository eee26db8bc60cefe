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

// dcoFile configures the app that checks sign-offs.
// https://github.com/dcoapp/app
const dcoFile = ".github/dco.yml"

// commitRules returns what the repository requires of commits in its rules and settings, or in the configuration of the
// app that checks sign-offs.
func (w *branchWorker) commitRules(ctx context.Context, t sia.Task, base string) (sia.CommitRules, error) {
	rules, err := w.repo(t).Rules.OnCommits(ctx, t.BaseBranch)
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

// author returns the author of commits: the app, or in a local run, where it has no account, SIA by its name.
func (w *common) author(ctx context.Context) (gitops.Signature, error) {
	if w.Anonymous {
		return gitops.Signature{Name: "SIA", Email: "sia@localhost", When: w.Now()}, nil
	}
	return w.GitHub.Author(ctx, w.Now())
}

// trailers returns the trailers of a commit on a task's branch: the newest attempt and its transcript, more, who asked
// for the task, and the sign-off.
func (w *common) trailers(t sia.Task, bot gitops.Signature, more ...gitops.Trailer) (out []gitops.Trailer) {
	if a := t.Attempt(); a != nil {
		out = append(out, gitops.Trailer{Key: "SIA-Attempt", Value: fmt.Sprint(a.Number)})
		if !w.Anonymous {
			out = append(out, gitops.Trailer{Key: "SIA-Transcript", Value: w.Links.Transcript(t, a.Number)})
		}
	}
	out = append(out, more...)
	if by := t.AskedBy; by.Login != "" && !w.Anonymous {
		out = append(out,
			gitops.Trailer{Key: "Co-authored-by", Value: fmt.Sprintf("%s <%s>", by.Login, w.GitHub.Noreply(by.ID, by.Login))})
	}
	return append(out, signOff(t, bot)...)
}

// signOff returns the app's sign-off trailer, if the repository requires it.
// https://developercertificate.org
func signOff(t sia.Task, bot gitops.Signature) []gitops.Trailer {
	if !t.Commits.SignOff {
		return nil
	}
	return []gitops.Trailer{{Key: "Signed-off-by", Value: fmt.Sprintf("%s <%s>", bot.Name, bot.Email)}}
}

// branchCommit is a commit on the task's branch, or one to be pushed there.
type branchCommit struct {
	sha      string
	warning  string // for users: a rule that the commit violates
	onBranch bool   // the commit is already on the branch
}

// objectsRef is the ref that holds the objects of a task's commit until GitHub has created a signed commit from them.
// It is not a branch, so it triggers no workflows.
// https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#push
func objectsRef(t sia.Task) string { return "refs/sia/objects/" + string(t.ID) }

// createSigned makes GitHub create and sign the commits made here that the branch lacks: it pushes their objects and
// creates each commit again from its tree, message and parents. If that was done before and the branch moved, it finds
// the createSigned commit on the branch. If GitHub does not sign, it returns the original commit and a warning for
// users.
func (w *branchWorker) createSigned(
	ctx context.Context, t sia.Task, mirror *gitops.Repo, from, sha, expect string,
) (branchCommit, error) {
	out, err := w.findSigned(ctx, t, mirror, sha, expect)
	if err != nil || out.onBranch {
		return out, err
	}
	made, err := mirror.MadeCommits(ctx, sha, expect, from, string(t.BaseSHA))
	if err != nil || len(made) == 0 {
		return branchCommit{sha: sha}, err
	}
	err = mirror.PushRef(ctx, objectsRef(t), sha)
	if _, change := parseRefusal(err); err != nil && !change && isRefused(err) {
		return branchCommit{sha: sha, warning: render.NotSigned(t.BaseBranch, err.Error())}, nil
	}
	if err != nil {
		return branchCommit{}, err
	}
	signed := map[string]github.MadeCommit{}
	for _, c := range made {
		for i, p := range c.Parents {
			if s, ok := signed[p]; ok {
				c.Parents[i] = s.SHA
			}
		}
		s, err := w.repo(t).CreateCommit(ctx, github.NewCommit{Tree: c.Tree, Parents: c.Parents, Message: c.Message})
		if isRefused(err) {
			return branchCommit{sha: sha, warning: render.NotSigned(t.BaseBranch, err.Error())}, nil
		}
		if err != nil {
			return branchCommit{}, err
		}
		signed[c.SHA] = s
		if !s.Verified {
			out.warning = notSignedWarning(t, s.Reason)
		}
	}
	out.sha = signed[sha].SHA
	return out, nil
}

// findSigned checks whether the branch is where expected, or at the signed commit because the response to an earlier
// push was lost. Otherwise it returns a [*gitops.LeaseError].
func (w *branchWorker) findSigned(
	ctx context.Context, t sia.Task, mirror *gitops.Repo, sha, expect string,
) (branchCommit, error) {
	head, err := mirror.Head(ctx, t.Branch)
	if err != nil || head == expect {
		return branchCommit{}, err
	}
	moved := &gitops.LeaseError{Branch: t.Branch, Want: expect, Head: head}
	if head == "" {
		return branchCommit{}, moved
	}
	if err := mirror.FetchCommit(ctx, head); err != nil {
		return branchCommit{}, err
	}
	same, err := mirror.SameWork(ctx, head, sha)
	if err != nil {
		return branchCommit{}, err
	}
	if !same {
		return branchCommit{}, moved
	}
	c, err := w.repo(t).Commit(ctx, head)
	out := branchCommit{sha: head, onBranch: true}
	if !c.Verified {
		out.warning = notSignedWarning(t, c.Reason)
	}
	return out, err
}

// notSignedWarning returns the warning that GitHub did not sign; reason is GitHub's, such as "bad_email".
func notSignedWarning(t sia.Task, reason string) string {
	return render.NotSigned(t.BaseBranch, strings.ReplaceAll(reason, "_", " "))
}

// isRefused reports whether err is a permanent refusal by GitHub.
func isRefused(err error) bool {
	var rejected *gitops.RejectedError
	return err != nil && (sia.IsPermanent(err) || errors.As(err, &rejected))
}

// deleteObjects deletes the ref of a task's objects. If that fails, the ref does no harm, and the next push deletes it.
func (w *branchWorker) deleteObjects(ctx context.Context, t sia.Task, mirror *gitops.Repo) {
	if err := mirror.DropRef(ctx, objectsRef(t)); err != nil {
		w.Logger.WarnContext(ctx, "ref left behind", "task", t.ID, "ref", objectsRef(t), "error", err)
	}
}
