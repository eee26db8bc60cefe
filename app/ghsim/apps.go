package ghsim

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
)

// appJSON is an app as payloads carry it.
func (s *Server) appJSON(a *app) object {
	events := a.events
	if events == nil {
		events = []string{}
	}
	return object{
		"id": a.id, "node_id": nodeID("A", a.id), "slug": a.slug, "owner": s.userJSON(a.owner), "name": a.name, "description": "",
		"external_url": s.url, "html_url": s.html("/apps/%s", a.slug), "created_at": stamp(a.made), "updated_at": stamp(a.made),
		"permissions": a.permissions, "events": events,
	}
}

// integrationJSON is an app as the REST API answers it.
func (s *Server) integrationJSON(a *app) object {
	o := s.appJSON(a)
	o["client_id"] = a.clientID
	return o
}

func (s *Server) appOrNull(a *app) any {
	if a == nil {
		return nil
	}
	return s.appJSON(a)
}

func (s *Server) installationJSON(i *installation) object {
	kind := i.account.kind
	if kind != "Organization" {
		kind = "User"
	}
	return object{
		"id": i.id, "account": s.userJSON(i.account), "repository_selection": i.selection(),
		"access_tokens_url": s.api("/app/installations/%d/access_tokens", i.id), "repositories_url": s.api("/installation/repositories"),
		"html_url": s.html("/settings/installations/%d", i.id), "app_id": i.app.id, "app_slug": i.app.slug, "client_id": i.app.clientID,
		"target_id": i.account.id, "target_type": kind, "permissions": i.permissions, "events": i.app.events,
		"created_at": stamp(i.made), "updated_at": stamp(i.updated), "single_file_name": nil, "has_multiple_single_files": false,
		"single_file_paths": []string{}, "suspended_at": stamp(i.suspended), "suspended_by": s.userOrNull(i.suspendedBy),
	}
}

func (s *Server) getApp(c *call) (answer, error) {
	n := 0
	for _, i := range s.insts {
		if i.app == c.app && !i.removed {
			n++
		}
	}
	o := s.integrationJSON(c.app)
	o["installations_count"] = n
	return ok(o), nil
}

func (s *Server) listInstallations(c *call) (answer, error) {
	var is []*installation
	for _, id := range slices.Sorted(maps.Keys(s.insts)) {
		if i := s.insts[id]; i.app == c.app && !i.removed {
			is = append(is, i)
		}
	}
	return page(c, is, "", s.installationJSON)
}

func (c *call) installation() (*installation, error) {
	i := c.s.insts[c.id("id")]
	if i == nil || i.app != c.app || i.removed {
		return nil, notFound()
	}
	return i, nil
}

func (s *Server) getInstallation(c *call) (answer, error) {
	i, err := c.installation()
	if err != nil {
		return answer{}, err
	}
	return ok(s.installationJSON(i)), nil
}

func (s *Server) getRepoInstallation(c *call) (answer, error) {
	for _, i := range s.insts {
		if i.app == c.app && !i.removed && i.has(c.repo) {
			return ok(s.installationJSON(i)), nil
		}
	}
	return answer{}, notFound()
}

// getOwnerInstallation is GET /users/{name}/installation and its like for
// organizations.
func (s *Server) getOwnerInstallation(c *call) (answer, error) {
	for _, i := range s.insts {
		if i.app == c.app && !i.removed && lower(i.account.login) == lower(c.params["name"]) {
			return ok(s.installationJSON(i)), nil
		}
	}
	return answer{}, notFound()
}

func (s *Server) getHookConfig(c *call) (answer, error) {
	if c.app.hook == nil {
		return answer{}, notFound()
	}
	return ok(object{"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": c.app.hook.url}), nil
}

// deliveriesOf are an app's deliveries, newest first.
func (s *Server) deliveriesOf(a *app) []*delivery {
	var ds []*delivery
	for _, d := range s.sent {
		if d.hook.app == a && d.Done {
			ds = append(ds, d)
		}
	}
	slices.Reverse(ds)
	return ds
}

func (s *Server) deliveryJSON(d *delivery) object {
	o := object{"id": d.ID, "guid": d.GUID, "delivered_at": stamp(d.At), "redelivery": d.Redelivery,
		"duration": d.duration.Seconds(), "status": d.Status, "status_code": d.StatusCode, "event": d.Event, "action": orNull(d.Action),
		"installation_id": nil, "repository_id": nil}
	if d.Installation != 0 {
		o["installation_id"] = d.Installation
	}
	if d.repositoryID != 0 {
		o["repository_id"] = d.repositoryID
	}
	return o
}

// listDeliveries pages with a cursor, as GitHub does: the id after which the
// next page begins.
func (s *Server) listDeliveries(c *call) (answer, error) {
	ds := s.deliveriesOf(c.app)
	if cur := c.query.Get("cursor"); cur != "" {
		n := slices.IndexFunc(ds, func(d *delivery) bool { return itoa(d.ID) == cur })
		if n < 0 {
			return answer{}, &apiError{code: http.StatusBadRequest, message: "Invalid cursor"}
		}
		ds = ds[n+1:]
	}
	per := 30
	if n := atoi(c.query.Get("per_page")); n > 0 {
		per = min(n, 100)
	}
	a := answer{code: http.StatusOK}
	if len(ds) > per {
		ds = ds[:per]
		q := c.query
		q.Set("cursor", itoa(ds[per-1].ID))
		a.header = map[string]string{"Link": "<" + s.url + c.r.URL.Path + "?" + q.Encode() + `>; rel="next"`}
	}
	out := []object{}
	for _, d := range ds {
		out = append(out, s.deliveryJSON(d))
	}
	a.value = out
	return a, nil
}

func (c *call) delivery() (*delivery, error) {
	for _, d := range c.s.deliveriesOf(c.app) {
		if d.ID == c.id("id") {
			return d, nil
		}
	}
	return nil, notFound()
}

func (s *Server) getDelivery(c *call) (answer, error) {
	d, err := c.delivery()
	if err != nil {
		return answer{}, err
	}
	o := s.deliveryJSON(d)
	sent := http.Header{}
	d.setHeaders(sent, d.hook.secret)
	o["url"] = d.hook.url
	o["request"] = object{"headers": flat(sent), "payload": json.RawMessage(d.Payload)}
	o["response"] = object{"headers": flat(d.header), "payload": d.answer}
	return ok(o), nil
}

func flat(h http.Header) object {
	o := object{}
	for k := range h {
		o[k] = h.Get(k)
	}
	return o
}

// redeliver sends a delivery again, with the same GUID.
func (s *Server) redeliver(c *call) (answer, error) {
	d, err := c.delivery()
	if err != nil {
		return answer{}, err
	}
	again := &delivery{hook: d.hook, Delivery: Delivery{ID: s.newID(), GUID: d.GUID, Event: d.Event, Action: d.Action,
		Installation: d.Installation, Repo: d.Repo, At: s.now(), Redelivery: true, Payload: d.Payload, repositoryID: d.repositoryID}}
	s.sent = append(s.sent, again)
	s.enqueue(again)
	return answer{code: http.StatusAccepted, value: object{}}, nil
}
