package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/access"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// call is one API request in progress, with the lock held.
type call struct {
	*Handler
	r      *http.Request
	params map[string]string
	query  url.Values
	body   []byte
	app    *model.App          // for an app's JSON Web Token
	token  *access.Token       // for an installation's token
	user   *access.PersonToken // for a person's token
	client *model.App          // for an app's client id and secret
	repo   *model.Repository
	reads  bool // a POST that changes nothing
	points int  // rate limit points; 0: one
}

// answer is the result of a handler.
type answer struct {
	code   int // default 200
	value  any // marshalled as JSON; nil: no body
	header map[string]string
}

func ok(v any) answer { return answer{code: http.StatusOK, value: v} }

func created(v any) answer { return answer{code: http.StatusCreated, value: v} }

// actor is the user of the request, or an installation's bot.
func (c *call) actor() model.Actor {
	if c.token.User != nil {
		return model.Actor{User: c.token.User, App: c.token.Inst.App, Inst: c.token.Inst}
	}
	return model.Actor{User: c.token.Inst.App.Bot, App: c.token.Inst.App, Inst: c.token.Inst}
}

// decode reads the request body; an empty one leaves v alone.
func (c *call) decode(v any) error {
	if len(bytes.TrimSpace(c.body)) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.body, v); err != nil {
		return &refusal.Error{Code: http.StatusBadRequest, Message: "Problems parsing JSON"}
	}
	return nil
}

// id is a numeric path parameter; 0 matches nothing.
func (c *call) id(name string) int64 {
	n, _ := strconv.ParseInt(c.params[name], 10, 64)
	return n
}

// need answers 403 when the token lacks a permission.
func (c *call) need(permission, level string) error {
	if !c.token.May(permission, level) {
		return refusal.NotAccessible()
	}
	return nil
}

// encode writes the answer with ETag and rate limit headers. An answer that the client already has is 304 and not
// counted; an ETag is valid only for the token that received it.
// https://github.com/github/docs/issues/34689
func (c *call) encode(rep *reply, a answer, rt *route) {
	h := rep.header
	for k, v := range a.header {
		h.Set(k, v)
	}
	code := a.code
	if code == 0 {
		code = http.StatusOK
	}
	var body []byte
	switch v := a.value.(type) {
	case nil:
	case plain:
		body = []byte(v)
		h.Set("Content-Type", "text/plain; charset=utf-8")
	default:
		body, _ = json.Marshal(v)
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	if c.r.Method == http.MethodGet && code == http.StatusOK {
		sum := sha256.Sum256(append([]byte(h.Get("Link")+c.r.Header.Get("Authorization")), body...))
		tag := `W/"` + hex.EncodeToString(sum[:16]) + `"`
		h.Set("ETag", tag)
		if tagMatches(c.r.Header.Get("If-None-Match"), tag) {
			code, body = http.StatusNotModified, nil
			h.Del("Content-Type")
		}
	}
	win := c.window()
	counted := code != http.StatusNotModified && (rt == nil || rt.pattern != "/rate_limit")
	if counted {
		win.used = max(win.used, min(win.used+max(c.points, 1), c.limits.max))
	}
	h.Set("X-RateLimit-Limit", strconv.Itoa(c.limits.max))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(0, c.limits.max-win.used)))
	h.Set("X-RateLimit-Used", strconv.Itoa(win.used))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(win.reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", c.resource())
	rep.code = code
	rep.body.Write(body)
}

func tagMatches(header, tag string) bool {
	for _, t := range strings.Split(header, ",") {
		t = strings.TrimSpace(t)
		if t == "*" || strings.TrimPrefix(t, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// plain is an answer that is text and not JSON.
type plain string
