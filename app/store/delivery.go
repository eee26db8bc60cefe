package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"github.com/sia-bot/sia/sia"
)

// Delivery is one webhook as GitHub sent it
// (https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers).
type Delivery struct {
	GUID         string // X-GitHub-Delivery
	Event        string // X-GitHub-Event
	Action       string // "" for events without one
	Installation int64
	Repo         string // owner/name; "" for events of no repository
	Body         []byte // at most 64 MiB
	Received     time.Time
}

// deliveriesArgs has the arguments of the job that processes an installation's deliveries that were saved together. The
// cost of a job in River does not depend on the number of its deliveries.
type deliveriesArgs struct {
	GUIDs []string `json:"guids"`
}

// Kind names the job for River.
func (deliveriesArgs) Kind() string { return "deliveries" }

// KindAliases names the job of earlier versions for a single delivery. An existing database may have such jobs, and
// servers of those versions may still insert them.
func (deliveriesArgs) KindAliases() []string { return []string{"delivery"} }

// UnmarshalJSON decodes the arguments of both kinds.
func (a *deliveriesArgs) UnmarshalJSON(b []byte) error {
	var read struct {
		GUIDs []string
		GUID  string
	}
	err := json.Unmarshal(b, &read)
	if a.GUIDs = read.GUIDs; read.GUID != "" {
		a.GUIDs = []string{read.GUID}
	}
	return err
}

// InsertOpts puts the job into its queue.
func (deliveriesArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueDeliveries, MaxAttempts: jobAttempts}
}

// SaveDelivery writes a delivery and the job that processes it, in one
// transaction; when it returns nil both survive a crash of the process. For a known
// GUID it writes nothing and fresh is false, unless the delivery was given up:
// then it is processed again.
//
// Concurrent calls share a transaction. When ctx ends first, the
// delivery may have been saved nevertheless.
func (s *DeliveryStore) SaveDelivery(ctx context.Context, d Delivery) (fresh bool, err error) {
	if d.GUID == "" {
		return false, errors.New("save a delivery: it has no GUID")
	}
	body, err := pack(d.Body)
	if err != nil {
		return false, fmt.Errorf("save delivery %s: %w", d.GUID, err)
	}
	d.Body = body
	saving := &savedDelivery{Delivery: d}
	if err := s.inbox.do(ctx, saving); err != nil {
		if ctx.Err() != nil {
			err = &sia.Error{Op: "save delivery " + d.GUID, Err: err,
				Message: "the database " + s.name() + " took longer than the sender waited"}
		}
		return false, s.explain("save delivery "+d.GUID, err)
	}
	return saving.fresh, nil
}

// savedDelivery is a delivery with a packed body; fresh is set if it was new.
type savedDelivery struct {
	Delivery
	fresh bool
}

// saveDeliveries writes deliveries, and a job for each installation that has new ones.
func (s *DeliveryStore) saveDeliveries(ctx context.Context, all []*savedDelivery) error {
	return s.write(ctx, "save deliveries", func(tx *sql.Tx) error {
		first := make(map[string]*savedDelivery, len(all))
		var unique []*savedDelivery // without duplicate GUIDs
		for _, d := range all {
			if d.fresh = false; first[d.GUID] == nil {
				first[d.GUID] = d
				unique = append(unique, d)
			}
		}
		var fresh []Delivery
		for len(unique) > 0 {
			n, rows, args := s.deliveryRows(unique)
			guids, err := collect(ctx, tx, scanValue[string], `INSERT INTO deliveries
				(guid, event, action, installation_id, repo, body, received_at) `+rows+`
				ON CONFLICT (guid) DO UPDATE SET state = 'pending', tries = 0, error = '',
					body = excluded.body, received_at = excluded.received_at
				WHERE deliveries.state = 'failed' RETURNING guid`, args...)
			if err != nil {
				return err
			}
			for _, guid := range guids { // those that were new or had been given up
				first[guid].fresh = true
				fresh = append(fresh, first[guid].Delivery)
			}
			unique = unique[n:]
		}
		return s.insertDeliveryJobs(ctx, tx, deliveryJobs(fresh))
	})
}

// deliveryLane returns the lane for deliveries of an installation.
func deliveryLane(installation int64) string {
	return laneName(queueDeliveries, installation, 0, false)
}

// deliveryJob returns the job for deliveries of an installation.
func deliveryJob(installation int64, guids ...string) river.InsertManyParams {
	return river.InsertManyParams{Args: deliveriesArgs{guids},
		InsertOpts: &river.InsertOpts{Queue: deliveryLane(installation)}}
}

// deliveryJobs returns the jobs for deliveries, of groupSize at most.
func deliveryJobs(all []Delivery) (jobs []river.InsertManyParams) {
	var installations []int64 // in the order of their first deliveries
	guids := map[int64][]string{}
	for _, d := range all {
		if guids[d.Installation] == nil {
			installations = append(installations, d.Installation)
		}
		guids[d.Installation] = append(guids[d.Installation], d.GUID)
	}
	for _, id := range installations {
		for some := range slices.Chunk(guids[id], groupSize) {
			jobs = append(jobs, deliveryJob(id, some...))
		}
	}
	return jobs
}

// insertDeliveryJobs inserts jobs for deliveries.
func (s *DB) insertDeliveryJobs(ctx context.Context, tx *sql.Tx, jobs []river.InsertManyParams) error {
	if len(jobs) == 0 {
		return nil
	}
	s.jobQueues.add(tx, queueDeliveries)
	_, err := s.jobs.InsertManyFastTx(ctx, tx, jobs)
	return err
}

// deliveryRow is a delivery with its state.
type deliveryRow struct {
	Delivery
	state string
	tries int
}

func (s *DeliveryStore) delivery(ctx context.Context, guid string) (deliveryRow, error) {
	d := deliveryRow{Delivery: Delivery{GUID: guid}}
	err := s.r.QueryRowContext(ctx, `SELECT event, action, installation_id, repo, body, received_at, state, tries
		FROM deliveries WHERE guid = ?`, guid).Scan(&d.Event, &d.Action, &d.Installation, &d.Repo,
		packedColumn{&d.Body}, timeColumn{&d.Received}, &d.state, &d.tries)
	return d, s.explain("load delivery "+guid, orNotFound(err))
}

// LatestDelivery returns the delivery that was saved last, without its body; the error wraps [ErrNotFound] if there is
// none.
func (s *DeliveryStore) LatestDelivery(ctx context.Context) (Delivery, error) {
	return load(ctx, s.DB, "load the latest delivery", func(from row) (d Delivery, err error) {
		err = from.Scan(&d.GUID, &d.Event, &d.Action, &d.Installation, &d.Repo, timeColumn{&d.Received})
		return d, err
	}, `SELECT guid, event, action, installation_id, repo, received_at FROM deliveries ORDER BY id DESC LIMIT 1`)
}

// Arrived returns those of the deliveries that are in the database.
func (s *DeliveryStore) Arrived(ctx context.Context, guids []string) (map[string]bool, error) {
	return s.existing(ctx, "look which deliveries arrived", `SELECT guid FROM deliveries WHERE guid `+s.inList(texts),
		jsonArray[string](guids))
}

// SaveAnswered records that every delivery that was acknowledged to GitHub by a time is in the database.
func (s *DeliveryStore) SaveAnswered(ctx context.Context, at time.Time) error {
	return s.exec(ctx, "note which deliveries arrived", `INSERT INTO delivery_marks (name, at) VALUES ('answered', ?)
		ON CONFLICT (name) DO UPDATE SET at = excluded.at`, micros(at))
}

// Answered returns the time that SaveAnswered recorded; zero: the database is new.
func (s *DeliveryStore) Answered(ctx context.Context) (at time.Time, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT at FROM delivery_marks WHERE name = 'answered'`).Scan(timeColumn{&at})
	return at, s.explain("look until when deliveries arrived", ignoreNoRows(err))
}

// PruneDeliveries deletes finished deliveries that were received before a time, and what was heard before it in
// repositories without an open task that began at most a day later: looks find the comments of an open task again. A
// redelivery after that counts as new, so keep deliveries for longer than GitHub
// offers to redeliver them (3 days,
// https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks).
//
// It deletes in batches, like PruneTranscripts: a day may have a million, and a long transaction blocks writers.
func (s *DeliveryStore) PruneDeliveries(ctx context.Context, before time.Time) (n int64, err error) {
	if err := s.exec(ctx, "prune what was heard", `DELETE FROM heard WHERE at < ? AND NOT EXISTS (SELECT 1 FROM tasks t
		WHERE t.repo_id = heard.repo_id AND t.created_at <= heard.at + ? AND t.state NOT IN (?, ?))`,
		micros(before), (24 * time.Hour).Microseconds(), sia.Passed, sia.Stopped); err != nil {
		return 0, err
	}
	return s.inBatches(ctx, "prune deliveries", `DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries
		WHERE state IN ('done', 'failed') AND received_at < ? LIMIT ?)`, micros(before))
}
