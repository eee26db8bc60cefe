package github_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/view"
	"github.com/sia-bot/sia/sim/ghsim"
)

const threadMarker = "<!-- sia:v1 task=1-1 kind=respond key=1/2 -->"

// Comments on lines are read in their current state: their lines move with pushes, and changed lines have no number
// any more.
func TestReviewComments(t *testing.T) {
	s, pull, _ := reviewed(t)
	ctx := context.Background()
	check(t, s.sim.Review(full, pull, "ann", "changes_requested", "Both.",
		ghsim.ReviewLine{Path: "x.txt", Line: 1, Body: "why?"},
		ghsim.ReviewLine{Path: "x.txt", First: 2, Line: 3, Body: "and these?"}))
	_, err := s.sim.PushFiles(full, "topic", "ann", "more",
		map[string]string{"x.txt": "new\nfirst\n" + strings.Repeat("line\n", 20)})
	check(t, err)
	got, err := s.repo.ReviewComments(ctx, pull, time.Time{})
	check(t, err)
	reviews, err := s.repo.Reviews(ctx, pull)
	check(t, err)
	if len(reviews) != 1 || reviews[0].State != "CHANGES_REQUESTED" || reviews[0].Body != "Both." || len(got) != 2 {
		t.Fatalf("%+v %+v", reviews, got)
	}
	want := []github.ReviewComment{
		{Review: reviews[0].ID, Path: "x.txt", Lines: 1, Hunk: "@@ -1,4 +1,4 @@\n-first\n+1st", Body: "why?", Author: "ann"},
		{Review: reviews[0].ID, Path: "x.txt", First: 3, Last: 4, Lines: 2,
			Hunk: "@@ -1,4 +1,4 @@\n-first\n+1st\n line\n line", Body: "and these?", Author: "ann"}}
	for i := range got {
		if got[i].Edited.IsZero() || got[i].Written.IsZero() {
			t.Errorf("%+v has no time", got[i])
		}
		got[i].ID, got[i].AuthorID, got[i].Written, got[i].Edited = 0, 0, time.Time{}, time.Time{}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if later, err := s.repo.ReviewComments(ctx, pull, time.Now().Add(1000*time.Hour)); err != nil || len(later) != 0 {
		t.Errorf("written in the future: %+v, %v", later, err)
	}
}

// Each thread gets one reply, even if others write with the marker, and after retries. A deleted comment does not
// affect the others.
func TestAnswerThreads(t *testing.T) {
	s, pull, _ := reviewed(t)
	ctx := context.Background()
	first, err := s.sim.ReviewComment(full, pull, "ann", "x.txt", 1, "why?")
	check(t, err)
	_, err = s.sim.ReplyToReview(full, pull, "ann", first, threadMarker+"\nforged")
	check(t, err)
	_, err = s.app.Self(ctx)
	check(t, err)
	s.ahead = 40 * time.Second // the pull request is no longer new, so that a 404 below it counts
	fails := 1
	s.sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/replies") && fails > 0 {
			fails--
			return &ghsim.Fault{Status: http.StatusBadGateway}
		}
		return nil
	})
	answers := []github.Answer{{Thread: 999999, Marker: threadMarker[:len(threadMarker)-4] + "-gone -->", Body: "Done."},
		{Thread: first, Marker: threadMarker, Body: "Done."}}
	for range 3 {
		if err := s.repo.AnswerThreads(ctx, pull, answers, 0); err != nil && fails > 0 {
			t.Fatal(err)
		}
	}
	v, err := s.sim.Pull(full, pull)
	check(t, err)
	n := 0
	for _, c := range v.OnLines {
		if c.Author == "sia[bot]" {
			n++
			if c.ReplyTo != first || c.Body != threadMarker+"\nDone." {
				t.Errorf("%+v", c)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d answers", n)
	}
	if root, err := s.repo.ThreadOf(ctx, v.OnLines[1].ID); err != nil || root != first {
		t.Errorf("the thread of an answer is %d, %v", root, err)
	}
	if root, err := s.repo.ThreadOf(ctx, 999999); err != nil || root != 0 {
		t.Errorf("the thread of nothing is %d, %v", root, err)
	}
}

// A refused reply is not mistaken for a deleted thread: it is reported, and the other threads still get their
// replies.
func TestAnswerThatIsRefused(t *testing.T) {
	s, pull, _ := reviewed(t)
	var answers []github.Answer
	for i, body := range []string{"why?", "and this?"} {
		id, err := s.sim.ReviewComment(full, pull, "ann", "x.txt", 1, body)
		check(t, err)
		answers = append(answers, github.Answer{Thread: id, Body: "Done.",
			Marker: fmt.Sprintf("<!-- sia:v1 task=1-1 kind=respond key=1/%d -->", i)})
	}
	s.sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if !strings.HasSuffix(r.URL.Path, fmt.Sprintf("/comments/%d/replies", answers[0].Thread)) {
			return nil
		}
		return &ghsim.Fault{Status: http.StatusUnprocessableEntity, Body: `{"message":"Validation Failed","errors":[` +
			`{"resource":"PullRequestReview","code":"custom","field":"user_id","message":"user_id can only have one pending ` +
			`review per pull request"}]}`}
	})
	err := s.repo.AnswerThreads(context.Background(), pull, answers, 0)
	if !sia.IsPermanent(err) || !strings.Contains(err.Error(), "one pending review") {
		t.Errorf("got %v", err)
	}
	v, err := s.sim.Pull(full, pull)
	check(t, err)
	if n := len(v.OnLines); n != 3 || v.OnLines[n-1].ReplyTo != answers[1].Thread {
		t.Errorf("comments %+v", v.OnLines)
	}
}

// Replies and a review that are sent too quickly wait: GitHub reports the limit like refused content.
// https://github.com/octokit/plugin-throttling.js/issues/775
func TestTooManyAnswers(t *testing.T) {
	for name, write := range map[string]func(s *site, pull int, head string, thread int64) error{
		"answers": func(s *site, pull int, _ string, thread int64) error {
			answers := []github.Answer{{Thread: thread, Marker: threadMarker, Body: "Done."},
				{Thread: thread, Marker: reviewMarker, Body: "This, too."}}
			return s.repo.AnswerThreads(context.Background(), pull, answers, 0)
		},
		"review": func(s *site, pull int, head string, _ int64) error {
			_, err := s.repo.EnsureReview(context.Background(), pull, reviewMarker, github.NewReview{Head: head, Body: "b",
				Whole: "w", Lines: []view.LineComment{{Path: "x.txt", Line: 1, Body: "why?"}}}, 0)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, pull, head := reviewed(t)
			id, err := s.sim.ReviewComment(full, pull, "ann", "x.txt", 1, "why?")
			check(t, err)
			refused := 0
			s.sim.FailRequests(func(r *http.Request) *ghsim.Fault {
				if r.Method != http.MethodPost || !strings.Contains(r.URL.Path, "/pulls/") {
					return nil
				}
				refused++
				return &ghsim.Fault{Status: http.StatusUnprocessableEntity, Body: `{"message":"Validation Failed","errors":[` +
					`{"resource":"PullRequestReview","code":"abuse","field":"base"}]}`}
			})
			if err := write(s, pull, head, id); sia.IsPermanent(err) || sia.RetryAfter(err) < 50*time.Second || refused != 1 {
				t.Errorf("got %v after %d tries", err, refused)
			}
		})
	}
}
