package web

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Bounds of live pages. A browser reconnects by itself when its connection ends, and gets missed changes at once.
const (
	maxStreams       = 256 // open at once, in all
	maxViewerStreams = 8   // per viewer
	streamLifetime   = 10 * time.Minute
	lookEvery        = time.Second
	heartbeat        = 15 // checks without a change between two heartbeats
	writeWithin      = 10 * time.Second
	retryAfterMS     = 3000
)

// live sends server-sent events to open pages when something changed. Safe for concurrent use.
type live struct {
	pulse  func(r *http.Request, id sia.TaskID, page string) (string, error)
	ending <-chan struct{}
	log    *slog.Logger

	mu   sync.Mutex
	open map[string]int // open connections, by viewer
	all  int
}

func newLive(
	pulse func(*http.Request, sia.TaskID, string) (string, error), ending <-chan struct{}, log *slog.Logger,
) *live {
	return &live{pulse: pulse, ending: ending, log: log, open: map[string]int{}}
}

// enter reserves a connection for a viewer; false if none is free.
func (l *live) enter(who string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= maxStreams || l.open[who] >= maxViewerStreams {
		return false
	}
	l.all++
	l.open[who]++
	return true
}

func (l *live) leave(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.open[who]--; l.open[who] == 0 {
		delete(l.open, who)
	}
}

// serve sends "changed" whenever a visible task, or the content of the named page, changed; without either, it follows
// all visible tasks and changes of policies. An event's id is the new state.
func (l *live) serve(w http.ResponseWriter, r *http.Request) {
	v, id, page := viewer.From(r.Context()), sia.TaskID(r.URL.Query().Get("task")), r.URL.Query().Get("page")
	pulse, err := l.pulse(r, id, page)
	switch {
	case errors.Is(err, store.ErrNotFound):
		http.Error(w, "There is no such page, or it is not yours to see.", http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, "The database does not answer. Try again.", http.StatusServiceUnavailable)
		return
	}
	who := fmt.Sprintf("%t %d", v.Operator, v.Actor.ID)
	if !l.enter(who) {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "Too many pages are open at once; close some, or load the page again to see what changed.",
			http.StatusTooManyRequests)
		return
	}
	defer l.leave(who)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy must not buffer events
	to := stream{w, http.NewResponseController(w)}
	_ = to.rc.SetReadDeadline(time.Now().Add(2 * streamLifetime)) // the server's deadline would end the connection
	last := r.Header.Get("Last-Event-ID")
	switch q := r.URL.Query(); {
	case last != "":
	case q.Has("since"):
		last = text.Clip(text.OneLine(q.Get("since")), 100) // the state shown on the page; a line break would end the event
	default:
		last = pulse
	}
	if !to.send("retry: %d\nid: %s\n\n", retryAfterMS, last) {
		return
	}
	l.watch(r, to, id, page, last)
}

// watch polls for changes until the time limit, or until the connection ends.
func (l *live) watch(r *http.Request, to stream, id sia.TaskID, page, last string) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for look := range int(streamLifetime / lookEvery) {
		pulse, err := l.pulse(r, id, page)
		switch {
		case err != nil:
			if r.Context().Err() == nil {
				l.log.WarnContext(r.Context(), "live page ended", "task", id, "error", err)
			}
			return
		case pulse != last:
			last = pulse
			if !to.send("event: changed\nid: %s\ndata: %s\n\n", pulse, pulse) {
				return
			}
		case look%heartbeat == 0:
			if !to.send(": at work\n\n") {
				return
			}
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-l.ending:
			return
		}
	}
}

// stream is a connection to a browser.
type stream struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

// send writes at once; false if the connection is closed.
func (s stream) send(format string, args ...any) bool {
	_ = s.rc.SetWriteDeadline(time.Now().Add(writeWithin)) // a writer without deadlines is bounded by streamLifetime
	if _, err := fmt.Fprintf(s.w, format, args...); err != nil {
		return false
	}
	return s.rc.Flush() == nil
}
