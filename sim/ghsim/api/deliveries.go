package api

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/sia-bot/sia/sim/ghsim/delivery"
	"github.com/sia-bot/sia/sim/ghsim/payload"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

func getHookConfig(c *call) (answer, error) {
	if c.app.Hook == nil {
		return answer{}, refusal.NotFound()
	}
	return ok(object{"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": c.app.Hook.URL}), nil
}

func shapeDelivery(d *delivery.Delivery) object {
	o := object{"id": d.ID, "guid": d.GUID, "delivered_at": payload.Stamp(d.At), "redelivery": d.Redelivery,
		"duration": d.Duration.Seconds(), "status": d.Status, "status_code": d.StatusCode, "event": d.Event,
		"action":          payload.OrNull(d.Action),
		"installation_id": nil, "repository_id": nil}
	if d.Installation != 0 {
		o["installation_id"] = d.Installation
	}
	if d.RepositoryID != 0 {
		o["repository_id"] = d.RepositoryID
	}
	return o
}

// listDeliveries pages with a cursor, as GitHub does: the id of the last delivery of the previous page.
func listDeliveries(c *call) (answer, error) {
	ds := c.queue.Attempted(c.app.ID)
	switch status := c.query.Get("status"); status {
	case "success", "failure":
		ds = slices.DeleteFunc(ds, func(d *delivery.Delivery) bool {
			return d.StatusCode < 200 || d.StatusCode > 599 || d.StatusCode >= 400 != (status == "failure")
		})
	}
	if cur := c.query.Get("cursor"); cur != "" {
		n := slices.IndexFunc(ds, func(d *delivery.Delivery) bool { return strconv.FormatInt(d.ID, 10) == cur })
		if n < 0 {
			return answer{}, &refusal.Error{Code: http.StatusBadRequest, Message: "Invalid cursor"}
		}
		ds = ds[n+1:]
	}
	per := 30
	if n, err := strconv.Atoi(c.query.Get("per_page")); err == nil && n > 0 {
		per = min(n, 100)
	}
	a := answer{code: http.StatusOK}
	if len(ds) > per {
		ds = ds[:per]
		q := c.query
		q.Set("cursor", strconv.FormatInt(ds[per-1].ID, 10))
		a.header = map[string]string{"Link": "<" + c.world.URL() + c.r.URL.Path + "?" + q.Encode() + `>; rel="next"`}
	}
	a.value = payload.List(ds, shapeDelivery)
	return a, nil
}

func (c *call) delivery() (*delivery.Delivery, error) {
	return one(c.queue.Attempted(c.app.ID), func(d *delivery.Delivery) bool { return d.ID == c.id("id") })
}

// redeliver sends a delivery again, with the same GUID.
func redeliver(c *call, d *delivery.Delivery) (answer, error) {
	c.queue.Redeliver(d)
	return answer{code: http.StatusAccepted, value: object{}}, nil
}
