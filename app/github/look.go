package github

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
)

// Mergeability reports how a pull request can be merged into its base branch.
type Mergeability struct {
	Base      string // the base branch's head; empty: unknown
	Conflicts bool   // with the base branch
	Behind    bool   // a rule requires the branch to be up to date with its base, and it is not
	Blocked   *bool  // GitHub blocks the merge, and for no missing review; nil: unknown, as over REST
	// GitHub is still computing it in the background: the test merge and its checks are unknown
	Unknown bool
}

// PullState is the state of a pull request in a look.
type PullState struct {
	Known  bool // false: it was not read
	Gone   bool // it does not exist; the other fields are zero
	Closed bool // merged or not
	Merged bool
	Ended  time.Time // when it was closed; zero: it is open, or GitHub does not report it
	Head   string    // head commit
	Base   string    // base branch
	// author of the head commit; Unknown: GitHub does not report it
	HeadBy sia.Actor
}

// Look is the result of a look at a commit.
type Look struct {
	Pull           PullState
	Checks         CheckSet
	Workflows      []gate.Workflow // workflow runs of the commit, if WorkflowsKnown; their latest attempt is 0
	WorkflowsKnown bool
	Merge          Mergeability // zero: no pull request, or its head is another commit
	Base           *Look        // at the commit LookAt.Base; nil: it was not read
	Earlier        []Look       // at the commits LookAt.Earlier, in their order; nil: they were not read
	History        History      // near the branch LookAt.Branch; zero: it was not read, or is unknown
}

// LookAt selects what to look at.
type LookAt struct {
	SHA    string
	Pull   int    // number of the pull request with this head; 0: none
	Base   string // its base commit; "": don't read it
	Branch string // base branch, to read the checks near it; "": don't read them
	// earlier heads of the pull request, to read their checks; at most MaxEarlier
	Earlier []string
}

// MaxEarlier is the maximum number of earlier heads in a look.
const MaxEarlier = 5

// Look reads a pull request and its mergeability, and the checks of a commit and of its base. It takes one request
// with GraphQL for each page of the longest list. If that fails, or takes more than ten requests, it reads the pull
// request and the checks over REST, without the base and earlier heads.
func (s *Checks) Look(ctx context.Context, at LookAt) (Look, error) {
	if look, complete := s.lookGraphQL(ctx, at); complete {
		return look, nil
	}
	return s.lookOverREST(ctx, at)
}

// lookOverREST reads the pull request first. If its head moves in the meantime, the checks are of the older head, and
// the next look corrects that.
func (s *Checks) lookOverREST(ctx context.Context, at LookAt) (look Look, err error) {
	var merged CheckSet
	if at.Pull != 0 {
		if look.Pull, look.Merge, merged, err = s.pullState(ctx, at.SHA, at.Pull); err != nil {
			return Look{}, err
		}
	}
	if look.Checks, err = s.Of(ctx, at.SHA); err != nil {
		return Look{}, err
	}
	look.Checks.overrule(merged)
	if p := look.Pull; !p.Gone && !p.Closed && (p.Base == "" || p.Base == at.Branch) { // else the branch may be gone
		look.History, err = s.history(ctx, at.Branch)
	}
	return look, err
}

// errIssueOfPull means that GitHub does not find a pull request and finds its issue. GitHub deletes both or none, so
// the answer is wrong, as during an outage.
var errIssueOfPull = errors.New("GitHub does not find the pull request, but its issue")

// fetchPull reads a pull request, for a look or for the final check. A task ends if its pull request is gone, so a
// single answer is not enough.
// https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
func (s *Checks) fetchPull(ctx context.Context, number int) (*gh.PullRequest, PullState, error) {
	got, _, err := s.gh.PullRequests.Get(ctx, s.repo.Owner, s.repo.Name, number)
	if statusOf(err) == http.StatusNotFound {
		_, _, missing := s.gh.Issues.Get(ctx, s.repo.Owner, s.repo.Name, number)
		if statusOf(missing) == http.StatusNotFound || statusOf(missing) == http.StatusGone {
			return nil, PullState{Known: true, Gone: true}, nil
		}
		err = cmp.Or(missing, errIssueOfPull)
	}
	if err := require(err, got.GetNumber()); err != nil {
		return nil, PullState{}, s.app.failure(err, "read pull request %s#%d", s.repo, number)
	}
	p := pullFrom(got)
	return got, PullState{Known: true, Closed: p.State == "closed", Merged: p.Merged, Ended: p.ClosedAt,
		Head: p.HeadSHA, Base: p.BaseRef, HeadBy: sia.Actor{Unknown: true}}, nil
}

// overrule replaces checks of a pull request's head by checks of its test merge with the same name, as branch
// protection does with statuses. Jobs of GitHub Actions are identified by their runs, so both stay.
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

// pullState reads a pull request and, if its head is sha, its mergeability and the checks of its test merge.
func (s *Checks) pullState(
	ctx context.Context, sha string, number int,
) (state PullState, m Mergeability, merged CheckSet, err error) {
	got, state, err := s.fetchPull(ctx, number)
	if err != nil || state.Gone || state.Head != sha || state.Closed {
		return state, m, merged, err
	}
	m = Mergeability{Conflicts: got.Mergeable != nil && !*got.Mergeable, Behind: got.GetMergeableState() == "behind",
		Unknown: got.Mergeable == nil}
	if got.GetMergeable() && got.GetMergeCommitSHA() != "" { // else it is of an earlier base or head
		merged, err = s.Of(ctx, got.GetMergeCommitSHA())
	}
	return state, m, merged, err
}
