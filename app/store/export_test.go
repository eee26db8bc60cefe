package store

import (
	"context"
	"time"

	"github.com/sia-bot/sia/sia"
)

// Queries of tables that grow, for tests of their plans.
const (
	EndedTasksQuery = endedTasksQuery
	FlipsQuery      = flipsQuery
	AllFlipsQuery   = allFlipsQuery
	SpentByAllQuery = spentByAllQuery
	ChangedQuery    = changedQuery
)

// LooksQuery is the query of [TaskStore.Looks] for n temperatures.
var LooksQuery = looksQuery

// UnchangedQuery is the query by which tasks, and their transcripts, are pruned.
var UnchangedQuery = unchangedQuery("TRUE")

// TasksQuery is the query of [TaskStore.Tasks].
var TasksQuery = tasksQuery

// OpenIn is the filter of the tasks that a halt pauses.
var OpenIn = openIn

// FindQuery is the query of [TaskStore.FindTasks], OpenQuery that of [TaskStore.CountOpen], and PulseQuery that of
// [TaskStore.Pulse] for all tasks.
func (s *Store) FindQuery(v Visibility, f Find) (query string, args []any) { return s.findQuery(v, f) }
func (s *Store) OpenQuery(v Visibility) (query string, args []any)         { return s.openQuery(v) }
func (s *Store) PulseQuery(v Visibility) (query string, args []any)        { return s.pulseQuery(v) }

// LastDecisionsQuery is the query of [DecisionStore.LastDecisions].
func (s *Store) LastDecisionsQuery(v Visibility, typ sia.DecisionType) (query string, args []any) {
	return s.lastDecisionsQuery(v, 0, typ, 20)
}

// AmongQuery is the query of [Store.Arrived].
func (s *Store) AmongQuery() string {
	return `SELECT guid FROM deliveries WHERE guid ` + s.inList(texts)
}

// SaveTogether saves deliveries in one transaction, like concurrent calls of SaveDelivery. fresh has the GUIDs of the
// new ones.
func (s *Store) SaveTogether(ctx context.Context, all ...Delivery) (fresh []string, err error) {
	var saving []*savedDelivery
	for _, d := range all {
		if d.Body, err = pack(d.Body); err != nil {
			return nil, err
		}
		saving = append(saving, &savedDelivery{Delivery: d})
	}
	err = s.saveDeliveries(ctx, saving)
	for _, d := range saving {
		if d.fresh {
			fresh = append(fresh, d.GUID)
		}
	}
	return fresh, err
}

// CostsQuery is the query of [CreditStore.Costs] for one period.
func (s *Store) CostsQuery(v Visibility, from, to time.Time) (query string, args []any) {
	return s.costsQuery(v, from, to, "repo_id", "TRUE", " WHEN TRUE THEN 0")
}
