package github

import (
	"context"
	"net/http"
	"slices"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
)

// noLookFor is how long GitHub is not asked again for everything at once after it refused; noLookNow, after it
// failed.
const (
	noLookFor = 10 * time.Minute
	noLookNow = time.Minute
)

// Mergeability is how a pull request can be merged into its base branch.
type Mergeability struct {
	Base      string // the base branch's head; empty: it is not known
	Conflicts bool   // they can't be merged
	Behind    bool   // a rule wants the branch up to date with its base, and it is not
	// GitHub is still working it out, in the background: nothing is known of the test merge, nor of what reports on it
	Unknown bool
}

// PullState is a pull request at the moment of a look.
type PullState struct {
	Known  bool // false: it was not asked for
	Gone   bool // GitHub does not know it; nothing else is set then
	Closed bool // merged or not
	Merged bool
	Head   string // its head commit
	Base   string // the branch that it is to be merged into
	// the author of the head commit; Unknown where GitHub does not tell
	HeadBy sia.Actor
}

// Look is what a look at a commit shows.
type Look struct {
	Pull           PullState
	Checks         CheckSet
	Workflows      []gate.Workflow // runs of workflows on the commit, where WorkflowsKnown; their newest attempt is 0
	WorkflowsKnown bool
	Merge          Mergeability // zero: without a pull request, or where its head is another commit
	Base           *Look        // of the commit that LookAt.Base names; nil: it was not read
	Earlier        []Look       // of the commits that LookAt.Earlier names, in their order; nil: they were not read
	History        History      // near the branch that LookAt.Branch names; zero: it was not asked for, or is not known
}

// LookAt says what to look at.
type LookAt struct {
	SHA    string
	Pull   int    // number of the pull request that should have this head; 0: none
	Base   string // the commit that it stands on, where that is wanted as well
	Branch string // the branch that it is to be merged into, where what reports near it is wanted; empty: it is not
	// heads that the pull request had before, where what reported on them is wanted: at most MaxEarlier
	Earlier []string
}

// MaxEarlier bounds how many earlier heads a look reads.
const MaxEarlier = 5

// Look reads a pull request, what judges a commit, how the pull request can be merged, and what judges the commit
// that it stands on. It is one request where GitHub answers GraphQL; where it does not, or has more than one page to
// tell, pull request and checks are read over REST, and neither the base nor earlier heads are.
func (r *Repo) Look(ctx context.Context, at LookAt) (Look, error) {
	if look, whole := r.lookAtOnce(ctx, at); whole {
		return look, nil
	}
	return r.lookOverREST(ctx, at)
}

// lookOverREST reads the pull request first: where its head moves meanwhile, the checks are an older look's than the
// caller thinks, and the next look tells.
func (r *Repo) lookOverREST(ctx context.Context, at LookAt) (look Look, err error) {
	var merged CheckSet
	if at.Pull != 0 {
		if look.Pull, look.Merge, merged, err = r.pullState(ctx, at.SHA, at.Pull); err != nil {
			return Look{}, err
		}
	}
	if look.Checks, err = r.Checks(ctx, at.SHA); err != nil {
		return Look{}, err
	}
	look.Checks.overrule(merged)
	if p := look.Pull; !p.Gone && !p.Closed && (p.Base == "" || p.Base == at.Branch) { // else the branch may be gone
		look.History, err = r.history(ctx, at.Branch)
	}
	return look, err
}

// pullNow reads a pull request as it is, for a look or for the last word before something is said of its head.
// https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
func (r *Repo) pullNow(ctx context.Context, number int) (*gh.PullRequest, PullState, error) {
	got, _, err := r.gh.PullRequests.Get(ctx, r.repo.Owner, r.repo.Name, number)
	if statusOf(err) == http.StatusNotFound {
		return nil, PullState{Known: true, Gone: true}, nil
	}
	if err := require(err, got.GetNumber()); err != nil {
		return nil, PullState{}, r.fail(err, "read pull request %s#%d", r.repo, number)
	}
	p := r.pullFrom(got)
	return got, PullState{Known: true, Closed: p.State == "closed", Merged: p.Merged, Head: p.HeadSHA, Base: p.BaseRef,
		HeadBy: sia.Actor{Unknown: true}}, nil
}

// overrule puts what reports on a pull request's test merge in the place of what reports on its head by the same name,
// as branch protection does with statuses. Jobs of GitHub Actions are told apart by their runs, and stay beside one
// another.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks
func (s *CheckSet) overrule(merged CheckSet) {
	s.Statuses = slices.DeleteFunc(s.Statuses, func(h gate.Status) bool {
		return slices.ContainsFunc(merged.Statuses, func(m gate.Status) bool { return m.Context == h.Context })
	})
	s.Runs = slices.DeleteFunc(s.Runs, func(h CheckRun) bool {
		return h.RunID == 0 && slices.ContainsFunc(merged.Runs, func(m CheckRun) bool {
			return m.RunID == 0 && m.AppID == h.AppID && m.Name == h.Name
		})
	})
	s.Statuses, s.Runs = append(s.Statuses, merged.Statuses...), append(s.Runs, merged.Runs...)
}

// pullState reads a pull request, how it can be merged where its head is a commit, and what reports on its test merge.
func (r *Repo) pullState(
	ctx context.Context, sha string, number int,
) (state PullState, m Mergeability, merged CheckSet, err error) {
	got, state, err := r.pullNow(ctx, number)
	if err != nil || state.Gone || state.Head != sha || state.Closed {
		return state, m, merged, err
	}
	m = Mergeability{Conflicts: got.Mergeable != nil && !*got.Mergeable, Behind: got.GetMergeableState() == "behind",
		Unknown: got.Mergeable == nil}
	if got.GetMergeable() && got.GetMergeCommitSHA() != "" { // else it is of a base or head before
		merged, err = r.Checks(ctx, got.GetMergeCommitSHA())
	}
	return state, m, merged, err
}
