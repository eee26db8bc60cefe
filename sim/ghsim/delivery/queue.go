// Package delivery sends an application its webhooks, signed and one at a time in order, records the answers, and
// drops, duplicates or holds deliveries for tests.
// Start reading at [Queue].
package delivery

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/monitor"
)

// Delivery is one webhook delivery, or one attempt at it when it was redelivered.
type Delivery struct {
	ID           int64
	GUID         string // the same for redeliveries and duplicates
	Event        string
	Action       string
	Installation int64
	Repo         string // owner/name; empty for installation events
	RepositoryID int64  // 0 for installation events
	At           time.Time
	Redelivery   bool
	Payload      []byte

	Done           bool   // it was attempted
	StatusCode     int    // of the application's answer; 502 when there was none, 504 on timeout
	Status         string // "OK", "failed to connect to host", "timed out", …
	Duration       time.Duration
	Answer         string
	ResponseHeader http.Header

	hook *Hook
}

// Hook is an app's webhook: the target of its deliveries.
type Hook struct {
	ID          int64
	AppID       int64
	URL, Secret string
	Made        time.Time
	pending     []*Delivery
	running     bool
}

// Registry gives new deliveries their ids and their time.
type Registry interface {
	NextID() int64
	Now() time.Time
}

// Queue keeps all deliveries under the monitor's lock and sends them in the
// background, one at a time for each hook.
type Queue struct {
	mon  *monitor.Monitor
	reg  Registry
	log  *slog.Logger
	sent []*Delivery

	drop, duplicate, hold func(Delivery) bool
	held                  []*Delivery
	divert                func(Delivery) // receives deliveries; nil: they are sent over HTTP
}

// New is a queue without deliveries.
func New(mon *monitor.Monitor, reg Registry, log *slog.Logger) *Queue {
	return &Queue{mon: mon, reg: reg, log: log}
}

// All are all webhook deliveries in the order in which they were made,
// those waiting and held included.
func (q *Queue) All() []Delivery {
	q.mon.Lock()
	defer q.mon.Unlock()
	var ds []Delivery
	for _, d := range q.sent {
		ds = append(ds, *d)
	}
	return ds
}

// kept is how long a delivery can be read and redelivered.
// https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks
const kept = 3 * 24 * time.Hour

// Attempted are an app's kept deliveries that were attempted, newest first; the lock is held.
func (q *Queue) Attempted(appID int64) []*Delivery {
	var ds []*Delivery
	for _, d := range slices.Backward(q.sent) {
		if d.hook.AppID == appID && d.Done && q.reg.Now().Sub(d.At) <= kept {
			ds = append(ds, d)
		}
	}
	return ds
}

// Send delivers to a hook; the lock is held. The queue sets the id, the GUID and the time.
func (q *Queue) Send(h *Hook, d Delivery) {
	d.ID, d.GUID, d.At, d.hook = q.reg.NextID(), NewGUID(), q.reg.Now(), h
	q.sent = append(q.sent, &d)
	if q.hold != nil && q.hold(d) {
		q.held = append(q.held, &d)
		return
	}
	q.release(&d)
}

// Redeliver sends a delivery again, with the same GUID; the lock is held.
func (q *Queue) Redeliver(d *Delivery) {
	again := &Delivery{ID: q.reg.NextID(), GUID: d.GUID, Event: d.Event, Action: d.Action, Installation: d.Installation,
		Repo: d.Repo, RepositoryID: d.RepositoryID, At: q.reg.Now(), Redelivery: true, Payload: d.Payload, hook: d.hook}
	q.sent = append(q.sent, again)
	if !q.lost(again) {
		q.enqueue(again)
	}
}

// lost marks a delivery that is to be dropped as failed; the lock is held.
func (q *Queue) lost(d *Delivery) bool {
	if q.drop == nil || !q.drop(*d) {
		return false
	}
	d.Done, d.StatusCode, d.Status = true, http.StatusBadGateway, "failed to connect to host"
	return true
}

// release passes a delivery to its hook's sender, unless it is to be dropped.
func (q *Queue) release(d *Delivery) {
	if q.lost(d) {
		return
	}
	q.enqueue(d)
	if q.duplicate != nil && q.duplicate(*d) {
		again := *d
		again.ID = q.reg.NextID()
		q.sent = append(q.sent, &again)
		q.enqueue(&again)
	}
}

func (q *Queue) enqueue(d *Delivery) {
	if q.mon.Closed() {
		return
	}
	if q.divert != nil {
		d.Done, d.StatusCode, d.Status = true, http.StatusAccepted, "OK"
		q.divert(*d)
		return
	}
	d.hook.pending = append(d.hook.pending, d)
	if !d.hook.running {
		d.hook.running = true
		q.mon.Go(func() { q.sendAll(d.hook) })
	}
}

// NewGUID is a random UUID, version 4.
func NewGUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
