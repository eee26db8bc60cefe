package github_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/view"
	"github.com/sia-bot/sia/sim/ghsim"
)

// reviewed returns a site with a pull request of the app's that changes x.txt.
func reviewed(t *testing.T) (s *site, pull int, head string) {
	t.Helper()
	s = open(t, ghsim.Config{NoWorkflows: true})
	_, err := s.sim.PushFiles(full, "main", "ann", "old",
		map[string]string{"x.txt": "first\n" + strings.Repeat("line\n", 20)})
	check(t, err)
	head, err = s.sim.PushFiles(full, "topic", "ann", "new",
		map[string]string{"x.txt": "1st\n" + strings.Repeat("line\n", 20)})
	check(t, err)
	p, err := s.repo.EnsurePull(context.Background(), github.NewPull{Head: "topic", Base: "main", Title: "T"})
	check(t, err)
	return s, p.Number, head
}

const reviewMarker = "<!-- sia:v1 task=1-1 kind=final-review key=1 -->"

// The app's review is written once, even if others write with its marker.
func TestEnsureReview(t *testing.T) {
	s, pull, head := reviewed(t)
	ctx := context.Background()
	check(t, s.sim.Review(full, pull, "ann", "commented", reviewMarker+"\nforged"))
	n := github.NewReview{Head: head, Body: "one thing", Whole: "one thing, on x.txt:1", Lines: []view.LineComment{
		{Path: "x.txt", Line: 1, Body: "why?"}, {Path: "x.txt", Line: 1, Old: true, Body: "it was better"}}}
	first, err := s.repo.EnsureReview(ctx, pull, reviewMarker, n, 0)
	check(t, err)
	n.Body = "another thing"
	again, err := s.repo.EnsureReview(ctx, pull, reviewMarker, n, 0)
	check(t, err)
	if first != again || first == "" {
		t.Errorf("%q, then %q", first, again)
	}
	v, err := s.sim.Pull(full, pull)
	check(t, err)
	if len(v.Reviews) != 2 || v.Reviews[1].Body != reviewMarker+"\none thing" || v.Reviews[1].State != "commented" {
		t.Errorf("%+v", v.Reviews)
	}
	want := []ghsim.ReviewCommentView{{Author: "sia[bot]", Body: "why?", Path: "x.txt", Line: 1},
		{Author: "sia[bot]", Body: "it was better", Path: "x.txt", Line: 1, Old: true}}
	for i := range v.OnLines {
		v.OnLines[i].ID = 0
	}
	if d := cmp.Diff(want, v.OnLines); d != "" {
		t.Error(d)
	}
}

// Comments that GitHub refuses on lines are in the body.
func TestEnsureReviewWithoutItsLines(t *testing.T) {
	for name, line := range map[string]view.LineComment{
		"beyond the diff": {Path: "x.txt", Line: 15, Body: "why?"}, "no such file": {Path: "y.txt", Line: 1, Body: "why?"},
	} {
		t.Run(name, func(t *testing.T) {
			s, pull, head := reviewed(t)
			_, err := s.repo.EnsureReview(context.Background(), pull, reviewMarker,
				github.NewReview{Head: head, Body: "one thing",
					Whole: "one thing, elsewhere", Lines: []view.LineComment{line}}, github.Unwritten)
			check(t, err)
			v, err := s.sim.Pull(full, pull)
			check(t, err)
			if len(v.Reviews) != 1 || v.Reviews[0].Body != reviewMarker+"\none thing, elsewhere" || len(v.OnLines) > 0 {
				t.Errorf("%+v %+v", v.Reviews, v.OnLines)
			}
		})
	}
}

// A review of a commit outside the pull request can't be written, and after a lost response the review is looked for.
func TestEnsureReviewFails(t *testing.T) {
	s, pull, head := reviewed(t)
	ctx := context.Background()
	n := github.NewReview{Head: s.head, Body: "one thing", Whole: "w",
		Lines: []view.LineComment{{Path: "x.txt", Line: 1, Body: "b"}}}
	if _, err := s.repo.EnsureReview(ctx, pull, reviewMarker, n, 0); !sia.IsPermanent(err) {
		t.Errorf("%v", err)
	}
	if _, err := s.repo.EnsureReview(ctx, pull, "no marker", n, 0); !sia.IsPermanent(err) {
		t.Errorf("%v", err)
	}
	n.Head = head
	lost := &ghsim.Fault{After: true, Close: true, Times: 1}
	s.sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/reviews") {
			return lost
		}
		return nil
	})
	if _, err := s.repo.EnsureReview(ctx, pull, reviewMarker, n, github.Unwritten); err == nil || sia.IsPermanent(err) {
		t.Fatalf("the answer was not lost: %v", err)
	}
	_, err := s.repo.EnsureReview(ctx, pull, reviewMarker, n, 0)
	check(t, err)
	if v, err := s.sim.Pull(full, pull); err != nil || len(v.Reviews) != 1 {
		t.Errorf("%+v, %v", v.Reviews, err)
	}
}
