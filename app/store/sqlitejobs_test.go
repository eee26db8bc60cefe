package store

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"
)

// Completing jobs in a batch has the same result as River's own code, which is used if one of them failed.
func TestJobsCompletedTogether(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 89e6, time.FixedZone("", 3600))
	for _, c := range []struct {
		second        rivertype.JobState
		told          []int64
		secondWritten string
	}{
		{rivertype.JobStateCompleted, []int64{1, 2, 4}, "completed 2026-03-04 04:06:07.089"},
		{rivertype.JobStateRetryable, []int64{1, 2, 3, 4}, `retryable 2026-03-04 05:06:07.089 [{"error":"no"}]`},
	} {
		s := opened(t)
		for _, state := range []string{"running", "running", "cancelled", "running"} {
			if _, err := s.w.Exec(`INSERT INTO river_job (kind, queue, state, args, max_attempts, attempt, finalized_at)
			VALUES ('deliveries', 'deliveries', ?1, '{}', 3, 1, CASE ?1 WHEN 'cancelled' THEN '2026-01-01 00:00:00.000' END)`,
				state); err != nil {
				t.Fatal(err)
			}
		}
		p := &riverdriver.JobSetStateIfRunningManyParams{
			ID:              []int64{1, 2, 3, 4, 5}, // 5 does not exist
			Attempt:         make([]*int, 5),
			ErrData:         make([][]byte, 5),
			FinalizedAt:     []*time.Time{&at, &at, &at, &at, &at},
			MetadataDoMerge: make([]bool, 5),
			MetadataUpdates: make([][]byte, 5),
			ScheduledAt:     make([]*time.Time, 5),
			State:           slices.Repeat([]rivertype.JobState{rivertype.JobStateCompleted}, 5),
		}
		if p.State[1] = c.second; c.second == rivertype.JobStateRetryable {
			later := at.Add(time.Hour)
			p.ErrData[1], p.FinalizedAt[1], p.ScheduledAt[1] = []byte(`{"error":"no"}`), nil, &later
		}
		rows, err := s.driver().GetExecutor().JobSetStateIfRunningMany(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		var told []int64
		for _, r := range rows {
			if want := p.State[r.ID-1]; r.State != want && r.ID != 3 {
				t.Errorf("job %d: River hears of the state %s, want %s", r.ID, r.State, want)
			}
			told = append(told, r.ID)
		}
		slices.Sort(told)
		if d := cmp.Diff(c.told, told); d != "" {
			t.Errorf("River hears of (-want +got):\n%s", d)
		}
		written, err := collect(t.Context(), s.r, scanValue[string], `SELECT concat_ws(' ', state, finalized_at,
			CASE state WHEN 'retryable' THEN scheduled_at END, json(errors)) FROM river_job ORDER BY id`)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"completed 2026-03-04 04:06:07.089", c.secondWritten,
			"cancelled 2026-01-01 00:00:00.000", "completed 2026-03-04 04:06:07.089"}, written); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}
