package ghsim_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/ghsim"
)

func TestReviewThreads(t *testing.T) {
	s := newSim(t, nil)
	_, err := s.PushFiles(repoName, "topic", "dana", "x", map[string]string{"x.txt": "one\ntwo\n"})
	must(t, err)
	n, err := s.OpenPull(repoName, "dana", "topic", "main", "T", "", false)
	must(t, err)
	id, err := s.ReviewComment(repoName, n, "dana", "x.txt", 2, "Why two?")
	must(t, err)
	c := s.bot()
	reply, _, err := c.PullRequests.CreateCommentInReplyTo(ctx, "acme", "shop", n, "Because.", id)
	must(t, err)
	if reply.GetInReplyTo() != id || reply.GetUser().GetLogin() != "sia[bot]" {
		t.Errorf("reply %v", reply)
	}
	for path, want := range map[string]int{fmt.Sprintf("/%d/replies", reply.GetID()): 404,
		fmt.Sprintf("/%d/replies", id): 201, "": 422} {
		resp, body := s.do("POST", fmt.Sprintf("/api/v3/repos/acme/shop/pulls/%d/comments%s", n, path), s.token(nil),
			`{"body":"x"}`, "Content-Type", "application/json")
		if resp.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", path, resp.StatusCode, body, want)
		}
	}
	last, err := s.ReplyToReview(repoName, n, "dana", reply.GetID(), "/sia retry")
	must(t, err)
	_, _, err = c.Reactions.CreatePullRequestCommentReaction(ctx, "acme", "shop", id, "rocket")
	must(t, err)
	cs, _, err := c.PullRequests.ListComments(ctx, "acme", "shop", n, nil)
	must(t, err)
	if len(cs) != 4 || cs[0].GetDiffHunk() != "@@ -0,0 +1,2 @@\n+one\n+two" || cs[1].GetInReplyTo() != id ||
		cs[0].GetReactions().GetRocket() != 1 {
		t.Errorf("comments %v", cs)
	}
	_, _, err = c.PullRequests.GetComment(ctx, "acme", "shop", id)
	must(t, err)
	v, err := s.Pull(repoName, n)
	must(t, err)
	want := []ghsim.ReviewCommentView{{ID: id, Author: "dana", Body: "Why two?", Path: "x.txt", Line: 2},
		{ID: last, ReplyTo: id, Author: "dana", Body: "/sia retry", Path: "x.txt", Line: 2}}
	if diff := cmp.Diff(want, []ghsim.ReviewCommentView{v.OnLines[0], v.OnLines[3]}); diff != "" {
		t.Errorf("on lines (-want +got):\n%s", diff)
	}
	if es := names(s.settle()); !slices.Contains(es, "pull_request_review_comment.created") {
		t.Errorf("events %v", es)
	}
}
