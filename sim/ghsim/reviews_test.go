package ghsim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sim/ghsim"
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

// GitHub refuses invalid reviews, and keeps no part of them.
func TestCreateReview(t *testing.T) {
	s := newSim(t, nil)
	old := strings.Repeat("line\n", 20)
	_, err := s.PushFiles(repoName, "main", "dana", "old", map[string]string{"x.txt": "first\n" + old})
	must(t, err)
	_, err = s.PushFiles(repoName, "topic", "dana", "x", map[string]string{"x.txt": "1st\nnew\n" + old})
	must(t, err)
	head, err := s.PushFiles(repoName, "topic", "dana", "y", map[string]string{"y.txt": "y\n"})
	must(t, err)
	c := s.bot()
	made, _, err := c.PullRequests.Create(ctx, "acme", "shop",
		&gh.NewPullRequest{Title: gh.String("T"), Head: gh.String("topic"), Base: gh.String("main")})
	must(t, err)
	n := made.GetNumber()
	post := func(body string) (int, string) {
		resp, answer := s.do("POST", fmt.Sprintf("/api/v3/repos/acme/shop/pulls/%d/reviews", n), s.token(nil), body,
			"Content-Type", "application/json")
		return resp.StatusCode, answer
	}
	line := func(path string, line int, side string) string {
		return fmt.Sprintf(`{"body":"b","event":"COMMENT","comments":[{"path":"y.txt","line":1,"side":"RIGHT","body":"y"},
			{"path":%q,"line":%d,"side":%q,"body":"here"}]}`, path, line, side)
	}
	for body, want := range map[string]string{
		`{"body":"b","event":"APPROVE"}`:         "approve your own",
		`{"body":"b","event":"REQUEST_CHANGES"}`: "changes on your own",
		`{"event":"COMMENT"}`:                    "blank",
		`{"body":"b","event":"COMMENT","commit_id":"` + strings.Repeat("0", 40) + `"}`: "not part of the pull request",
		line("x.txt", 9, "RIGHT"): "Line could not be resolved", // beyond the hunk
		line("x.txt", 0, "RIGHT"): "Line could not be resolved",
		line("y.txt", 1, "LEFT"):  "Line could not be resolved",
		line("z.txt", 1, "RIGHT"): "Path could not be resolved",
	} {
		if code, answer := post(body); code != 422 || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s", body, code, answer)
		}
	}
	v, err := s.Pull(repoName, n)
	must(t, err)
	if len(v.Reviews)+len(v.OnLines) > 0 {
		t.Errorf("something was kept: %+v %+v", v.Reviews, v.OnLines)
	}
	for _, side := range []string{"RIGHT", "LEFT"} {
		if code, answer := post(line("x.txt", 1, side)); code != 200 || !strings.Contains(answer, `"COMMENTED"`) {
			t.Errorf("%s: %d %s", side, code, answer)
		}
	}
	if code, answer := post(line("x.txt", 5, "RIGHT")); code != 200 { // the context of a change counts
		t.Errorf("%d %s", code, answer)
	}
	v, err = s.Pull(repoName, n)
	must(t, err)
	if len(v.Reviews) != 3 || v.Reviews[0].SHA != head || len(v.OnLines) != 6 || !v.OnLines[3].Old ||
		v.OnLines[3].Line != 1 {
		t.Errorf("%+v %+v", v.Reviews, v.OnLines)
	}
	cs, _, err := c.PullRequests.ListComments(ctx, "acme", "shop", n, nil)
	must(t, err)
	if cs[3].GetSide() != "LEFT" || cs[0].GetPullRequestReviewID() != v.Reviews[0].ID {
		t.Errorf("%+v", cs[3])
	}
	if es := names(s.settle()); !slices.Contains(es, "pull_request_review.submitted") {
		t.Errorf("events %v", es)
	}
}
