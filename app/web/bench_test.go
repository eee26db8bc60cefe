package web_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
)

// manyTasks is the number of tasks in the database of the benchmark.
const manyTasks = 20_000

// recent is how many of them have attempts: the last ones, which pages show.
const recent = 2000

// BenchmarkPages renders pages of a database with 20,000 tasks in forty repositories, about three hundred of them open:
// for the operator, and for somebody who sees three repositories.
func BenchmarkPages(b *testing.B) {
	s := world(b)
	fill(b, s)
	h := pages(b, s, &doer{})
	few := viewer.Viewer{Repos: map[int64]viewer.Role{101: viewer.Reads, 102: viewer.Reads, 103: viewer.Reads}}
	for _, who := range []struct {
		name string
		viewer.Viewer
	}{{"operator", operator()}, {"member", few}} {
		for _, path := range []string{"/", "/tasks", "/tasks?text=nowhere", "/tasks?page=300",
			"/tasks?state=passed&month=2026-05",
			"/costs", "/techniques"} {
			b.Run(who.name+strings.ReplaceAll(path, "/", "_"), func(b *testing.B) {
				for b.Loop() {
					w := httptest.NewRecorder()
					as(who.Viewer, h).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
					if w.Code != http.StatusOK {
						b.Fatal(w.Code)
					}
				}
			})
		}
	}
}

// fill adds tasks over the last year, most of them ended.
func fill(b *testing.B, s *store.Store) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	body := strings.Repeat("Please see to it that this works. ", 60)
	for i := range manyTasks {
		repo := sia.Repo{ID: int64(100 + i%40), Owner: "big", Name: fmt.Sprint("repo", i%40)}
		if i < 40 {
			ok(b, s.UpsertRepository(b.Context(), store.Repository{Repo: repo, Installation: 1, DefaultBranch: "main"}))
		}
		id := sia.NewTaskID(repo.ID, i+1)
		at := start.Add(-time.Duration(r.Int64N(int64(365 * 24 * time.Hour))))
		var task sia.Task
		for n, fact := range []sia.Fact{
			sia.Start{Installation: 1, Repo: repo, Issue: i + 1, Title: fmt.Sprintf("Task %d of the year", i), Body: body,
				DefaultBranch: "main"},
			sia.Begun{Settings: sia.DefaultSettings(), BaseBranch: "main", BaseSHA: "ba5e",
				Title: fmt.Sprintf("Task %d of the year", i), Body: body},
			sia.Decided{Type: sia.DecideAssign, Choice: "coder", Agent: "builtin/x", Reason: "it is the only one"},
			sia.AttemptEnded{End: sia.EndFinished, Commit: "c0ffee", Diff: sia.DiffStat{Files: 1, Added: 1}, Turns: 9,
				Cost: 3 * sia.Credit},
			sia.Stop{Reason: "closed"},
		} {
			_, begins := fact.(sia.Start)
			_, stops := fact.(sia.Stop)
			if stops && i%70 == 0 || !stops && !begins && i < manyTasks-recent {
				continue // it is still open, or was stopped before it did anything, which is faster to create
			}
			e := sia.Event{ID: fmt.Sprint(n), At: at.Add(time.Duration(n) * time.Minute), Fact: fact}
			for key, kind := range task.Pending {
				if kind == map[sia.Kind]sia.EffectKind{sia.KBegun: sia.DoBegin, sia.KDecided: sia.DoDecide,
					sia.KAttemptEnded: sia.DoAttempt}[fact.Kind()] {
					e.ID, e.Effect = key, key
				}
			}
			res, err := s.Apply(b.Context(), id, e)
			ok(b, err)
			task = res.Task
		}
		_, err := s.RecordOutcome(b.Context(), store.Outcome{Task: id, Intervention: 1, Repo: repo, Pattern: "p",
			Technique: sia.TechniqueID(fmt.Sprint("t", i%12)), Resolved: i%3 > 0, At: at})
		ok(b, err)
	}
}
