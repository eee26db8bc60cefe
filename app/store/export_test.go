package store

import "context"

// What is asked of tables that grow, for tests of how it is answered.
const (
	EndedTasksQuery = endedTasksQuery
	FlipsQuery      = flipsQuery
	AllFlipsQuery   = allFlipsQuery
	SpentByAllQuery = spentByAllQuery
	ChangedQuery    = changedQuery
)

// LooksQuery is what [TaskStore.Looks] asks for n temperatures.
var LooksQuery = looksQuery

// TasksQuery is what [TaskStore.Tasks] asks.
var TasksQuery = tasksQuery

// FindQuery is what [TaskStore.FindTasks] asks, and OpenQuery what [TaskStore.CountOpen] asks.
func (s *Store) FindQuery(v Visibility, f Find) (query string, args []any) { return s.findQuery(v, f) }
func (s *Store) OpenQuery(v Visibility) (query string, args []any)         { return s.openQuery(v) }

// AmongQuery is what [Store.Arrived] asks.
func (s *Store) AmongQuery() string {
	return `SELECT guid FROM deliveries WHERE guid ` + s.inList(texts)
}

// SaveTogether saves deliveries in one transaction, as those are that arrive at once. fresh are the new ones' GUIDs.
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
