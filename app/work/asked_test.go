package work

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/ghsim"
)

// reviewed returns a task whose pull request has comments by ann on a line, one thread each, which request changes.
func (s *shop) reviewed(t *testing.T, comments ...string) (sia.Task, []int64) {
	t.Helper()
	task := s.task(t)
	n, err := s.sim.OpenPull("acme/shop", "ann", "work", "main", "Greet", "", false)
	must(t, err)
	task.Pull.Number = n
	var threads []int64
	for i, text := range comments {
		id, err := s.sim.ReviewComment("acme/shop", n, "ann", "check.sh", 1, text)
		must(t, err)
		threads = append(threads, id)
		task.Wishes = append(task.Wishes, sia.Wish{ID: string(rune('a' + i)), By: sia.Actor{Login: "ann"}, Thread: id})
	}
	return task, threads
}

// requests reads the change requests of a task.
func (s *shop) requests(t *testing.T, task sia.Task) *sia.Asked {
	t.Helper()
	common := s.begin(time.Now())
	w := &startWorker{common, &branchWorker{common}}
	asked, err := w.readRequests(t.Context(), task, sia.DefaultSettings())
	must(t, err)
	return asked
}

// More requests than fit into a prompt are given oldest first and whole, and of a review that was answered in part, the
// rest.
func TestRequestsThatFit(t *testing.T) {
	s := openShop(t, "junit", writesReport)
	long := strings.Repeat("Use tabs. ", 290)
	task, threads := s.reviewed(t, long, long)
	var lines []ghsim.ReviewLine
	for range 8 {
		lines = append(lines, ghsim.ReviewLine{Path: "check.sh", Line: 1, Body: long})
	}
	must(t, s.sim.Review("acme/shop", task.Pull.Number, "ann", "changes_requested", "All of it.", lines...))
	reviews, err := s.repo.Reviews(t.Context(), task.Pull.Number)
	must(t, err)
	task.Wishes = append(task.Wishes, sia.Wish{ID: "review", Review: reviews[len(reviews)-1].ID},
		sia.Wish{ID: "last", By: sia.Actor{Login: "ann"}, Text: "And be brief."})

	first := s.requests(t, task)
	if d := cmp.Diff([]string{"a", "b", "review"}, first.Wishes); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"review", "last"}, first.Rest); d != "" {
		t.Error(d)
	}
	if n := len(first.Threads); n < 3 || first.Threads[0].ID != threads[0] || len(first.Words) != 1 ||
		agent.AskedSize(*first) > agent.MaxAsked {
		t.Fatalf("%d threads, words %+v", n, first.Words)
	}
	task.Wishes = task.Wishes[2:]
	task.Wishes[0].Answered = []int64{0}
	for _, thread := range first.Threads {
		task.Wishes[0].Answered = append(task.Wishes[0].Answered, thread.ID)
	}
	next := s.requests(t, task)
	if n := len(first.Threads) + len(next.Threads); n != 10 || len(next.Words) != 1 ||
		next.Words[0].Text != "And be brief." || len(next.Wishes) != 2 || len(next.Rest) != 0 {
		t.Errorf("%d threads, then %+v", n, next)
	}
}

// In a thread, SIA's comments are told from people's.
func TestOwnCommentsAreMarked(t *testing.T) {
	s := openShop(t, "junit", writesReport)
	task, threads := s.reviewed(t, "Use tabs.")
	marker := render.Marker{Task: task.ID, Kind: string(sia.DoRespond), Key: "k"}.String()
	must(t, s.repo.AnswerThreads(t.Context(), task.Pull.Number,
		[]github.Answer{{Thread: threads[0], Marker: marker, Body: "Not changed here."}}, 0))
	_, err := s.sim.ReplyToReview("acme/shop", task.Pull.Number, "ann", threads[0], "Still.")
	must(t, err)
	want := []sia.Said{{By: "ann", Text: "Use tabs."}, {By: "sia[bot]", Text: "Not changed here.", Own: true},
		{By: "ann", Text: "Still."}}
	if asked := s.requests(t, task); len(asked.Threads) != 1 {
		t.Errorf("%+v", asked)
	} else if d := cmp.Diff(want, asked.Threads[0].Said); d != "" {
		t.Error(d)
	}
}
