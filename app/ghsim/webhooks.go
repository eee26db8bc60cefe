package ghsim

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Delivery is one webhook delivery, or one attempt at it when it was redelivered.
type Delivery struct {
	ID           int64
	GUID         string // the same for redeliveries and duplicates
	Event        string
	Action       string
	Installation int64
	Repo         string // owner/name; empty for installation events
	At           time.Time
	Redelivery   bool
	Done         bool   // it was attempted
	StatusCode   int    // of the application's answer; 502 when there was none, 504 on timeout
	Status       string // "OK", "failed to connect to host", "timed out", …
	Payload      []byte

	duration     time.Duration
	repositoryID int64
	answer       string
	header       http.Header
}

// delivery is a Delivery with where it goes.
type delivery struct {
	Delivery
	hook *hook
}

// hook is an app's webhook: deliveries are sent one at a time, in order.
type hook struct {
	id          int64
	app         *app
	url, secret string
	made        time.Time
	pending     []*delivery
	running     bool
}

const deliveryTimeout = 10 * time.Second // https://docs.github.com/en/webhooks/using-webhooks/handling-webhook-deliveries

// Deliveries are all webhook deliveries in the order in which they were made,
// those waiting and held included.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ds []Delivery
	for _, d := range s.sent {
		ds = append(ds, d.Delivery)
	}
	return ds
}

func (s *Server) setHook(a *app, url, secret string) {
	if url == "" {
		a.hook = nil
		return
	}
	if a.hook == nil {
		a.hook = &hook{id: s.newID(), app: a, made: s.now()}
	}
	a.hook.url, a.hook.secret = url, secret
	h := a.hook
	body := object{"zen": "Half measures are as bad as nothing at all.", "hook_id": h.id, "hook": object{
		"type": "App", "id": h.id, "name": "web", "active": true, "app_id": a.id, "events": a.events,
		"config":     object{"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": url},
		"created_at": stamp(h.made), "updated_at": stamp(s.now()), "url": s.api("/app/hook/config"),
		"ping_url": s.api("/app/hook/pings"), "deliveries_url": s.api("/app/hook/deliveries"),
	}}
	s.deliver(a, nil, nil, "ping", body)
}

// emit sends an event of a repository to every app installed on it.
func (s *Server) emit(r *repository, a actor, event, action string, body object) {
	for _, i := range s.installed(r) {
		s.emitTo(i, r, a, event, action, body)
	}
}

// installed are the installations that receive a repository's events, in order.
func (s *Server) installed(r *repository) []*installation {
	var is []*installation
	for _, id := range slices.Sorted(maps.Keys(s.insts)) {
		if i := s.insts[id]; i.has(r) && !i.removed && i.suspended.IsZero() {
			is = append(is, i)
		}
	}
	return is
}

// emitTo sends an event of a repository to one installation's app.
func (s *Server) emitTo(i *installation, r *repository, a actor, event, action string, body object) {
	if i.app.hook == nil || !slices.Contains(i.app.events, event) {
		return
	}
	b := maps.Clone(body)
	if action != "" {
		b["action"] = action
	}
	b["repository"], b["sender"] = s.repoJSON(r), s.userJSON(a.user)
	b["installation"] = object{"id": i.id, "node_id": nodeID("MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9u", i.id)}
	s.deliver(i.app, i, r, event, b)
}

// emitInstallation sends an event about an installation to its app.
func (s *Server) emitInstallation(i *installation, a actor, event, action string, body object) {
	b := maps.Clone(body)
	b["action"], b["sender"] = action, s.userJSON(a.user)
	inst := s.installationJSON(i)
	delete(inst, "client_id")
	b["installation"] = inst
	s.deliver(i.app, i, nil, event, b)
}

func (s *Server) deliver(a *app, i *installation, r *repository, event string, body object) {
	if a.hook == nil {
		return
	}
	payload, err := json.Marshal(body)
	if err != nil {
		s.log.Error("webhook payload does not marshal", "event", event, "error", err)
		return
	}
	d := &delivery{hook: a.hook, Delivery: Delivery{ID: s.newID(), GUID: newGUID(), Event: event, At: s.now(), Payload: payload}}
	d.Action, _ = body["action"].(string)
	if i != nil {
		d.Installation = i.id
	}
	if r != nil {
		d.Repo, d.repositoryID = r.fullName(), r.id
	}
	s.sent = append(s.sent, d)
	if s.hooks.hold != nil && s.hooks.hold(d.Delivery) {
		s.hooks.held = append(s.hooks.held, d)
		return
	}
	s.queue(d)
}

// queue hands a delivery to its hook's sender; the mutex is held.
func (s *Server) queue(d *delivery) {
	if s.hooks.drop != nil && s.hooks.drop(d.Delivery) && !d.Redelivery {
		d.Done, d.StatusCode, d.Status = true, http.StatusBadGateway, "failed to connect to host"
		return
	}
	s.enqueue(d)
	if s.hooks.duplicate != nil && s.hooks.duplicate(d.Delivery) && !d.Redelivery {
		again := *d
		again.ID = s.newID()
		s.sent = append(s.sent, &again)
		s.enqueue(&again)
	}
}

func (s *Server) enqueue(d *delivery) {
	if s.closed {
		return
	}
	s.begin()
	d.hook.pending = append(d.hook.pending, d)
	if !d.hook.running {
		d.hook.running = true
		s.wg.Go(func() { s.sendAll(d.hook) })
	}
}

// sendAll sends a hook's deliveries until none is waiting.
func (s *Server) sendAll(h *hook) {
	for {
		s.mu.Lock()
		if len(h.pending) == 0 {
			h.running = false
			s.mu.Unlock()
			return
		}
		d := h.pending[0]
		h.pending = h.pending[1:]
		url, secret := h.url, h.secret
		s.mu.Unlock()

		res := s.send(d, url, secret)

		s.mu.Lock()
		d.Done, d.StatusCode, d.Status = true, res.code, res.status
		d.duration, d.answer, d.header = res.took, res.body, res.header
		s.end()
		s.mu.Unlock()
	}
}

type sendResult struct {
	code   int
	status string
	took   time.Duration
	body   string
	header http.Header
}

func (s *Server) send(d *delivery, url, secret string) sendResult {
	began := s.now()
	ctx, cancel := context.WithTimeout(s.ctx, deliveryTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(d.Payload))
	if err != nil {
		return sendResult{code: http.StatusBadGateway, status: err.Error()}
	}
	d.setHeaders(req.Header, secret)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.log.Warn("webhook delivery was not answered", "event", d.Event, "action", d.Action, "error", err)
		if ctx.Err() != nil {
			return sendResult{code: http.StatusGatewayTimeout, status: "timed out", took: s.now().Sub(began)}
		}
		return sendResult{code: http.StatusBadGateway, status: "failed to connect to host", took: s.now().Sub(began)}
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	status := "OK"
	if resp.StatusCode >= 400 {
		status = fmt.Sprintf("Invalid HTTP Response: %d", resp.StatusCode)
	}
	return sendResult{resp.StatusCode, status, s.now().Sub(began), string(body), resp.Header}
}

// setHeaders sets a delivery's headers.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
func (d *delivery) setHeaders(h http.Header, secret string) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "*/*")
	h.Set("User-Agent", "GitHub-Hookshot/ghsim")
	h.Set("X-GitHub-Event", d.Event)
	h.Set("X-GitHub-Delivery", d.GUID)
	h.Set("X-GitHub-Hook-ID", strconv.FormatInt(d.hook.id, 10))
	h.Set("X-GitHub-Hook-Installation-Target-Type", "integration")
	h.Set("X-GitHub-Hook-Installation-Target-ID", strconv.FormatInt(d.hook.app.id, 10))
	if secret != "" {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(d.Payload)
		h.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
}

// newGUID is a random UUID, version 4.
func newGUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
