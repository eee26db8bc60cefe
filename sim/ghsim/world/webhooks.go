package world

import (
	"encoding/json"
	"log/slog"
	"maps"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/delivery"
	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/payload"
)

// announcer records events in the journal, and sends them to apps as webhooks.
type announcer struct {
	hub     *model.Hub
	shape   *payload.Shaper
	journal *journal.Journal
	queue   *delivery.Queue
	log     *slog.Logger
}

// note records an action in a repository.
func (n *announcer) note(r *model.Repository, a model.Actor, e journal.Entry) {
	e.Actor, e.Repo = a.User.Login, r.FullName()
	n.journal.Note(e)
}

// noteInstallation records an account's action on an installation.
func (n *announcer) noteInstallation(i *model.Installation, action string) {
	n.journal.Note(journal.Entry{Kind: "installation." + action, Actor: i.Account.Login, Ref: i.App.Slug,
		Number: int(i.ID)})
}

// event is the payload of a repository's event, without the installation.
func (n *announcer) event(r *model.Repository, a model.Actor, action string, body object) object {
	body = maps.Clone(body)
	if action != "" {
		body["action"] = action
	}
	body["repository"], body["sender"] = n.shape.Repository(r), n.shape.User(a.User)
	return body
}

// emit sends an event of a repository to every app installed on it, and returns its payload.
func (n *announcer) emit(r *model.Repository, a model.Actor, event, action string, body object) object {
	body = n.event(r, a, action, body)
	for _, i := range n.hub.Installed(r) {
		n.emitTo(i, r, event, body)
	}
	return body
}

// emitTo sends an event of a repository to one installation's app.
func (n *announcer) emitTo(i *model.Installation, r *model.Repository, event string, body object) {
	if i.App.Hook == nil || !slices.Contains(i.App.Events, event) {
		return
	}
	body = maps.Clone(body)
	body["installation"] = object{"id": i.ID, "node_id": payload.NodeID("MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9u", i.ID)}
	n.deliver(i.App, delivery.Delivery{Event: event, Installation: i.ID, Repo: r.FullName(), RepositoryID: r.ID}, body)
}

// emitInstallation sends an event about an installation to its app, with the account as sender.
func (n *announcer) emitInstallation(i *model.Installation, event, action string, body object) {
	body = maps.Clone(body)
	body["action"], body["sender"] = action, n.shape.User(i.Account)
	inst := n.shape.Installation(i)
	delete(inst, "client_id")
	body["installation"] = inst
	n.deliver(i.App, delivery.Delivery{Event: event, Installation: i.ID}, body)
}

func (n *announcer) deliver(a *model.App, d delivery.Delivery, body object) {
	if a.Hook == nil {
		return
	}
	text, err := json.Marshal(body)
	if err != nil {
		n.log.Error("webhook payload does not marshal", "event", d.Event, "error", err)
		return
	}
	d.Action, _ = body["action"].(string)
	d.Payload = text
	n.queue.Send(a.Hook, d)
}

// SetHook points an app's webhook at url and sends it a ping; an empty url
// removes it.
func (w *World) SetHook(a *model.App, url, secret string) {
	if url == "" {
		a.Hook = nil
		return
	}
	if a.Hook == nil {
		a.Hook = &delivery.Hook{ID: w.NextID(), AppID: a.ID, Made: w.Now()}
	}
	a.Hook.URL, a.Hook.Secret = url, secret
	h := a.Hook
	w.deliver(a, delivery.Delivery{Event: "ping"}, object{
		"zen": "Half measures are as bad as nothing at all.", "hook_id": h.ID, "hook": object{
			"type": "App", "id": h.ID, "name": "web", "active": true, "app_id": a.ID, "events": a.Events,
			"config":     object{"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": url},
			"created_at": payload.Stamp(h.Made), "updated_at": payload.Stamp(w.Now()), "url": w.shape.API("/app/hook/config"),
			"ping_url": w.shape.API("/app/hook/pings"), "deliveries_url": w.shape.API("/app/hook/deliveries"),
		}})
}
