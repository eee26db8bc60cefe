package work

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// The trailers of a commit name the attempt, its transcript and who asked, but no account and address in a local run.
func TestTrailers(t *testing.T) {
	shop := openShop(t, "junit", writesReport)
	task := sia.Task{ID: "7-1", Installation: shop.in, Repo: shop.repo.Name(), Issue: 1,
		AskedBy: sia.Actor{Login: "ann", ID: 5}, Commits: sia.CommitRules{SignOff: true}}
	bot := gitops.Signature{Name: "sia[bot]", Email: "bot@example.com"}
	keys := func(w *common, attempts int) (out []string) {
		task.Attempts = make([]sia.Attempt, attempts)
		for i := range task.Attempts {
			task.Attempts[i].Number = i + 1
		}
		for _, tr := range w.trailers(task, bot, gitops.Trailer{Key: "SIA-Part", Value: "3"}) {
			out = append(out, tr.Key)
		}
		return out
	}
	local := shop.begin(time.Now())
	local.Anonymous = true
	for _, tt := range []struct {
		name     string
		worker   *common
		attempts int
		want     []string
	}{
		{"an attempt's", shop.begin(time.Now()), 2,
			[]string{"SIA-Attempt", "SIA-Transcript", "SIA-Part", "Co-authored-by", "Signed-off-by"}},
		{"before the first attempt", shop.begin(time.Now()), 0, []string{"SIA-Part", "Co-authored-by", "Signed-off-by"}},
		{"a local run's", local, 1, []string{"SIA-Attempt", "SIA-Part", "Signed-off-by"}},
	} {
		if diff := cmp.Diff(tt.want, keys(tt.worker, tt.attempts)); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
}
