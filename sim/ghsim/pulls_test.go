package ghsim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sim/ghsim"
)

func TestPullRequestLife(t *testing.T) {
	s := newSim(t, nil)
	c := s.bot()
	n, err := s.OpenIssue(repoName, "dana", "Add x", "")
	must(t, err)
	_, err = s.PushFiles(repoName, "sia/issue-1-add-x", "dana", "Add x\n\nBecause.",
		map[string]string{"x.txt": "x\n", "src/a.txt": "one\n2\nthree\n"})
	must(t, err)
	in := &github.NewPullRequest{Title: ptr("Add x"), Head: ptr("sia/issue-1-add-x"), Base: ptr("main"),
		Body: ptr(fmt.Sprintf("Closes #%d", n)), Draft: ptr(true)}
	p, _, err := c.PullRequests.Create(ctx, "acme", "shop", in)
	must(t, err)
	if !p.GetDraft() || p.GetCommits() != 1 || p.GetAdditions() != 2 || p.GetDeletions() != 1 ||
		p.GetChangedFiles() != 2 || p.Mergeable != nil { // computed in the background
		t.Errorf("pull request %v", p)
	}
	if p, _, err = c.PullRequests.Get(ctx, "acme", "shop", p.GetNumber()); err != nil || !p.GetMergeable() {
		t.Errorf("mergeable %v, %v", p.GetMergeable(), err)
	}
	for want, bad := range map[string]*github.NewPullRequest{
		"A pull request already exists for acme:sia/issue-1-add-x.": in,
		"No commits between main and main":                          {Title: ptr("x"), Head: ptr("main"), Base: ptr("main")},
		"head": {Title: ptr("x"), Head: ptr("nowhere"),
			Base: ptr("main")},
	} {
		_, _, err := c.PullRequests.Create(ctx, "acme", "shop", bad)
		var e *github.ErrorResponse
		if !errors.As(err, &e) || e.Response.StatusCode != 422 || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	tip, _, err := c.Repositories.GetCommit(ctx, "acme", "shop", p.GetHead().GetSHA(), nil)
	must(t, err)
	var got []string
	for _, f := range tip.Files {
		got = append(got, fmt.Sprintf("%s %s +%d -%d %s", f.GetFilename(), f.GetStatus(), f.GetAdditions(), f.GetDeletions(),
			f.GetPatch()))
	}
	if diff := cmp.Diff([]string{"src/a.txt modified +1 -1 @@ -1,3 +1,3 @@\n one\n-two\n+2\n three",
		"x.txt added +1 -0 @@ -0,0 +1 @@\n+x"}, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	list, _, err := c.PullRequests.List(ctx, "acme", "shop",
		&github.PullRequestListOptions{Head: "acme:sia/issue-1-add-x", State: "all"})
	must(t, err)
	if len(list) != 1 || list[0].GetNumber() != p.GetNumber() {
		t.Errorf("list by head: %v", list)
	}
	_, _, err = c.PullRequests.Edit(ctx, "acme", "shop", p.GetNumber(), &github.PullRequest{Title: ptr("Add x, at last")})
	must(t, err)
	_, _, err = c.Issues.AddLabelsToIssue(ctx, "acme", "shop", p.GetNumber(), []string{"sia:working"})
	must(t, err)
	_, err = s.PushFiles(repoName, "sia/issue-1-add-x", "dana", "more", map[string]string{"y.txt": "y\n"})
	must(t, err)
	if tip.GetCommit().GetMessage() != "Add x\n\nBecause." || tip.GetAuthor().GetLogin() != "dana" {
		t.Errorf("commit %v", tip)
	}
	resp, body := s.do("POST", "/api/graphql", s.token(nil),
		fmt.Sprintf(`{"query":"mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { `+
			`pullRequest { isDraft } } }","variables":{"id":%q}}`, p.GetNodeID()))
	if resp.StatusCode != 200 || !strings.Contains(body, `"isDraft":false`) {
		t.Errorf("ready for review: %d %s", resp.StatusCode, body)
	}
	must(t, s.Review(repoName, p.GetNumber(), "dana", "changes_requested", "No."))
	reviews, _, err := c.PullRequests.ListReviews(ctx, "acme", "shop", p.GetNumber(), nil)
	must(t, err)
	if len(reviews) != 1 || reviews[0].GetState() != "CHANGES_REQUESTED" {
		t.Errorf("reviews %v", reviews)
	}
	sha, err := s.MergePull(repoName, p.GetNumber(), "dana")
	must(t, err)
	if i, err := s.Issue(repoName, n); err != nil || i.State != "closed" {
		t.Errorf("the linked issue is %s, %v", i.State, err)
	}
	if v, err := s.Pull(repoName, p.GetNumber()); err != nil || !v.Merged || v.State != "closed" {
		t.Errorf("pull %+v, %v", v, err)
	}
	if r, err := s.Repo(repoName); err != nil || r.Head != sha {
		t.Errorf("main is at %s, %v; want %s", r.Head, err, sha)
	}
	want := []string{"pull_request.opened", "pull_request.edited", "pull_request.labeled",
		"pull_request.synchronize", "pull_request.ready_for_review", "pull_request_review.submitted", "pull_request.closed"}
	var seen []string
	for _, e := range names(s.settle()) {
		if strings.HasPrefix(e, "pull_request") {
			seen = append(seen, e)
		}
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestGraphQLRefusesWhatItDoesNotKnow(t *testing.T) {
	s := newSim(t, nil)
	tok := s.token(nil)
	for query, want := range map[string]string{
		`{"query":"query { viewer { login } }"}`: "UNDEFINED_FIELD",
		`{"query":"mutation { convertPullRequestToDraft(input: {pullRequestId: \"PR_x\"}) ` +
			`{ clientMutationId } }"}`: "NOT_FOUND",
	} {
		if resp, body := s.do("POST", "/api/graphql", tok, query); resp.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", query, resp.StatusCode, body)
		}
	}
}

// GraphQL counts points: a hundredth of the requests for full pages, and at least one.
func TestGraphQLCountsPoints(t *testing.T) {
	s := newSim(t, nil)
	tok, used := s.token(nil), 0
	for _, c := range []struct {
		query string
		want  int
	}{
		{"query { viewer { login } }", 1},
		// 1 + 100 + 100 × 50 requests
		{"query($n: Int!) { viewer { repositories(first: 100) { nodes { ...f } } } } fragment f on Repository { " +
			"issues(last: $n) { nodes { comments(first: 9) { totalCount } } } }", 51},
		{"query { viewer { repositories(first: 100) { nodes { issues(first: 60) { totalCount } } } } }", 1},
	} {
		resp, _ := s.do("POST", "/api/graphql", tok, fmt.Sprintf(`{"query":%q,"variables":{"n":50}}`, c.query))
		used += c.want
		if got := resp.Header.Get("X-RateLimit-Used"); got != fmt.Sprint(used) {
			t.Errorf("%s: %s points are used, want %d", c.query, got, used)
		}
	}
}

func TestConflictAndDeletedBranch(t *testing.T) {
	s := newSim(t, nil)
	_, err := s.PushFiles(repoName, "topic", "dana", "one way", map[string]string{"README.md": "# A\n"})
	must(t, err)
	_, err = s.PushFiles(repoName, "main", "dana", "other way", map[string]string{"README.md": "# B\n"})
	must(t, err)
	n, err := s.OpenPull(repoName, "dana", "topic", "main", "T", "", false)
	must(t, err)
	p, _, err := s.bot().PullRequests.Get(ctx, "acme", "shop", n)
	must(t, err)
	if p.Mergeable != nil || p.GetMergeableState() != "unknown" || p.MergeCommitSHA != nil {
		t.Errorf("at first: mergeable %v, %s, %q", p.Mergeable, p.GetMergeableState(), p.GetMergeCommitSHA())
	}
	p, _, err = s.bot().PullRequests.Get(ctx, "acme", "shop", n)
	must(t, err)
	if p.Mergeable == nil || *p.Mergeable || p.GetMergeableState() != "dirty" {
		t.Errorf("mergeable %v, %s", p.GetMergeable(), p.GetMergeableState())
	}
	if _, err := s.MergePull(repoName, n, "dana"); err == nil {
		t.Error("merged a conflict")
	}
	must(t, s.ForcePush(repoName, "topic", "dana", ""))
	if v, err := s.Pull(repoName, n); err != nil || v.State != "closed" {
		t.Errorf("its branch was deleted and it is %s, %v", v.State, err)
	}
	s.settle()
}

func TestContentsAndBranches(t *testing.T) {
	s := newSim(t, nil)
	c := s.bot()
	sha, err := s.PushFiles(repoName, "a/b", "dana", "x",
		map[string]string{"dir/x.txt": "hello", "src/a.txt": ghsim.Deleted})
	must(t, err)
	f, _, _, err := c.Repositories.GetContents(ctx, "acme", "shop", "dir/x.txt",
		&github.RepositoryContentGetOptions{Ref: "a/b"})
	must(t, err)
	if text, err := f.GetContent(); err != nil || text != "hello" {
		t.Errorf("content %q %v", text, err)
	}
	_, dir, _, err := c.Repositories.GetContents(ctx, "acme", "shop", "", &github.RepositoryContentGetOptions{Ref: sha})
	must(t, err)
	if len(dir) != 2 {
		t.Errorf("root %v", dir)
	}
	if _, _, resp, err := c.Repositories.GetContents(ctx, "acme", "shop", "no", nil); err == nil ||
		resp.StatusCode != 404 {
		t.Errorf("missing file: %v", err)
	}
	b, _, err := c.Repositories.GetBranch(ctx, "acme", "shop", "a/b", 0)
	must(t, err)
	if b.GetCommit().GetSHA() != sha || b.GetProtected() {
		t.Errorf("branch %v", b)
	}
	ref, _, err := c.Git.GetRef(ctx, "acme", "shop", "heads/a/b")
	must(t, err)
	if ref.GetObject().GetSHA() != sha {
		t.Errorf("ref %v", ref)
	}
	refs, _, err := c.Git.ListMatchingRefs(ctx, "acme", "shop", &github.ReferenceListOptions{Ref: "heads/"})
	must(t, err)
	if len(refs) != 2 {
		t.Errorf("refs %v", refs)
	}
	commit, _, err := c.Repositories.GetCommit(ctx, "acme", "shop", "a/b", nil)
	must(t, err)
	if commit.GetSHA() != sha || commit.GetStats().GetTotal() == 0 {
		t.Errorf("commit %v", commit)
	}
	if _, _, err := c.Repositories.ListCommits(ctx, "acme", "shop", nil); err != nil {
		t.Error(err)
	}
	if _, err := c.Git.DeleteRef(ctx, "acme", "shop", "heads/a/b"); err != nil {
		t.Error(err)
	}
	s.settle()
}
