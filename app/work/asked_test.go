package work

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
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
