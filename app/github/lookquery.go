package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// judgesFragment selects the checks of a commit. REST needs three or more requests for that. The pages continue its
// connections.
// https://docs.github.com/en/graphql/reference/objects#checksuite
const (
	judgesFragment = `fragment judges on Commit {
		id checkSuites(first: 60) ` + suiteNodes + `
		status { contexts { context state description targetUrl createdAt avatarUrl } }
	}`
	suiteNodes = `{
		totalCount pageInfo { hasNextPage endCursor }
		nodes {
			id databaseId status conclusion
			app { databaseId slug }
			workflowRun {
				databaseId event createdAt updatedAt url file { path repositoryName } workflow { name resourcePath }
			}
			checkRuns(first: 100, filterBy: {checkType: ALL}) ` + runNodes + `
		}
	}`
	runNodes = `{
		totalCount pageInfo { hasNextPage endCursor }
		nodes {
			databaseId name status conclusion startedAt completedAt detailsUrl url
			title summary annotations { totalCount }
		}
	}`
	suitesPage = "... on Commit { page: checkSuites(first: 60, after: $after%[1]d) " + suiteNodes + " }"
	runsPage   = "... on CheckSuite { page: checkRuns(first: 100, after: $after%[1]d, filterBy: {checkType: ALL}) " +
		runNodes + " }"
)

// The optional parts of the query for a look: the pull request with the checks of its test merge, and the checks of
// its base.
// https://docs.github.com/en/graphql/reference/objects#pullrequest
const (
	pullSelection = ` pullRequest(number: $number) {
		state closedAt body isDraft headRefOid baseRefName
		mergeable mergeStateStatus reviewDecision baseRef { target { oid } }
		commits(last: 1) { nodes { commit { oid author { name user { login databaseId } } } } }
		potentialMergeCommit { ...judges }
	}`
	baseSelection = ` base: object(expression: $base) { ...judges }`
)

// lookGraphQL is Look with GraphQL. complete is false if the response is incomplete, or GraphQL fails.
func (s *Checks) lookGraphQL(ctx context.Context, at LookAt) (look Look, complete bool) {
	if !s.graphql.available() {
		return Look{}, false
	}
	q := s.graphql.query()
	q.add("$commit: String!", "nameWithOwner object(expression: $commit) { ...judges }", "commit", at.SHA)
	q.fragments = append(q.fragments, judgesFragment)
	if at.Pull != 0 {
		q.add("$number: Int!", pullSelection, "number", at.Pull)
	}
	if at.Base != "" {
		q.add("$base: String!", baseSelection, "base", at.Base)
	}
	for i, sha := range at.Earlier[:min(len(at.Earlier), MaxEarlier)] {
		name := fmt.Sprintf("earlier%d", i)
		q.add("$"+name+": String!", fmt.Sprintf(" %[1]s: object(expression: $%[1]s) { ...judges }", name), name, sha)
	}
	cached, known := s.histories.Get(at.Branch)
	if at.Branch != "" && !known {
		q.addHistory(at.Branch)
	}
	got, err := graphqlWhole[lookAnswer](ctx, s.graphql, q)
	if err != nil { // REST, with its smaller requests, may not time out
		s.app.log.DebugContext(ctx, "what judges a commit is read over REST", "error", err)
		if !errors.Is(err, errPages) {
			s.graphql.avoid(err)
		}
		return Look{}, false
	}
	if look, complete = got.Object.look(); !complete {
		return Look{}, false
	}
	if base, complete := got.Base.look(); complete {
		look.Base = &base
	}
	if p := got.PullRequest; p != nil && p.Body != nil {
		s.bodies.Put(at.Pull, *p.Body) // EditPull may follow if the task passes
	}
	look.Earlier = got.earlier(min(len(at.Earlier), MaxEarlier))
	if at.Pull != 0 && !look.setPull(got.PullRequest, at.SHA) {
		return Look{}, false
	}
	s.nameApps(ctx, at.SHA, &look)
	look.clearOwnRepository(cmp.Or(got.NameWithOwner, s.repo.String()))
	if look.History = cached; at.Branch != "" && !known {
		if look.History, err = s.historyOf(at.Branch, got.nearBranch); err != nil {
			return Look{}, false
		}
	}
	return look, true
}

// setPull sets the pull request, and returns false if the checks of its test merge are incomplete. Its mergeability
// counts only while its head is sha.
func (l *Look) setPull(p *pullNode, sha string) bool {
	if p == nil {
		l.Pull = PullState{Known: true, Gone: true}
		return true
	}
	l.setPullState(p)
	if p.HeadRefOID != sha || l.Pull.Closed {
		return true
	}
	l.Merge = Mergeability{Conflicts: p.Mergeable == "CONFLICTING", Behind: p.MergeStateStatus == "BEHIND",
		Unknown: p.Mergeable == "UNKNOWN"}
	if !l.Merge.Unknown {
		blocked := p.MergeStateStatus == "BLOCKED" && !p.IsDraft && p.ReviewDecision != "REVIEW_REQUIRED" &&
			p.ReviewDecision != "CHANGES_REQUESTED"
		l.Merge.Blocked = &blocked
	}
	if p.BaseRef != nil {
		l.Merge.Base = p.BaseRef.Target.OID
	}
	if p.PotentialMergeCommit == nil || p.Mergeable != "MERGEABLE" { // else it is of an earlier base or head
		return true
	}
	merged, complete := p.PotentialMergeCommit.look()
	l.Checks.overrule(merged.Checks)
	l.Workflows = append(l.Workflows, merged.Workflows...)
	l.WorkflowsKnown = l.WorkflowsKnown && merged.WorkflowsKnown
	return complete
}

// setPullState sets the state of the pull request.
func (l *Look) setPullState(p *pullNode) {
	l.Pull = PullState{Known: true, Closed: p.State != "OPEN", Merged: p.State == "MERGED", Head: p.HeadRefOID,
		Base: p.BaseRefName, HeadBy: sia.Actor{Unknown: true}}
	if p.ClosedAt != nil {
		l.Pull.Ended = *p.ClosedAt
	}
	for _, n := range p.Commits.Nodes {
		if n.Commit.OID == p.HeadRefOID {
			l.Pull.HeadBy = n.Commit.Author.actor()
		}
	}
}

// clearOwnRepository clears the repository of workflow runs if it is this one.
func (l *Look) clearOwnRepository(name string) {
	for i := range l.Workflows {
		if w := &l.Workflows[i]; strings.EqualFold(w.Repository, name) {
			w.Repository = ""
		}
	}
	if l.Base != nil {
		l.Base.clearOwnRepository(name)
	}
	for i := range l.Earlier {
		l.Earlier[i].clearOwnRepository(name)
	}
}
