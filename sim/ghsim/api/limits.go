package api

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// defaultLimit is GitHub's limit of requests per hour for an installation.
const defaultLimit = 5000

// limits are the primary rate limits, with a window for each caller and resource: GraphQL has a separate limit.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
type limits struct {
	max     int // per hour and caller
	windows map[string]*window
}

// window counts requests until reset.
type window struct {
	used  int
	reset time.Time
}

func (l *limits) window(caller string, now time.Time) *window {
	w := l.windows[caller]
	if w == nil || !now.Before(w.reset) {
		w = &window{reset: now.Add(time.Hour).Truncate(time.Second)}
		l.windows[caller] = w
	}
	return w
}

func installationCaller(id int64) string { return fmt.Sprintf("installation %d", id) }

// window is that of the call's caller.
func (c *call) window() *window {
	caller := "anonymous"
	switch {
	case c.user != nil:
		caller = "user " + c.user.User.Login
	case c.token != nil:
		caller = installationCaller(c.token.Inst.ID)
	case c.app != nil:
		caller = fmt.Sprintf("app %d", c.app.ID)
	}
	return c.limits.window(caller+" "+c.resource(), c.world.Now())
}

// resource is the rate limit resource of the call.
func (c *call) resource() string {
	if strings.HasSuffix(c.r.URL.Path, "/graphql") {
		return "graphql"
	}
	return "core"
}

// exhausted refuses a call beyond the limit. GraphQL reports that in an answer of 200.
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#exceeding-the-rate-limit
// https://github.com/yanyongyu/githubkit/issues/271
func (c *call) exhausted() (answer, error) {
	if c.resource() == "graphql" && c.token != nil {
		return ok(object{"errors": []object{{"type": "RATE_LIMIT", "code": "graphql_rate_limit",
			"message": fmt.Sprintf("API rate limit already exceeded for installation ID %d.", c.token.Inst.ID)}}}), nil
	}
	return answer{}, &refusal.Error{Code: http.StatusForbidden,
		Message: "API rate limit exceeded for installation. If you reach out to GitHub Support for help, please include " +
			"the request ID.",
		Doc: "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api"}
}

// ExhaustRateLimit uses up an installation's primary rate limit of a resource, core or graphql, until the simulator's
// clock reaches reset.
func (h *Handler) ExhaustRateLimit(installation int64, resource string, reset time.Time) {
	h.world.Lock()
	defer h.world.Unlock()
	h.limits.windows[installationCaller(installation)+" "+resource] = &window{used: h.limits.max, reset: reset}
}

// SetRateLimit sets the limit of requests per hour for each installation and app; default 5000.
func (h *Handler) SetRateLimit(perHour int) {
	h.world.Lock()
	defer h.world.Unlock()
	h.limits.max = perHour
}

// ForgetRequests resets every rate limit.
func (h *Handler) ForgetRequests() {
	h.world.Lock()
	defer h.world.Unlock()
	clear(h.limits.windows)
}

// getRateLimit answers without counting against the limit.
func getRateLimit(c *call) (answer, error) {
	w, limit := c.window(), c.limits.max
	core := object{"limit": limit, "used": w.used, "remaining": max(0, limit-w.used), "reset": w.reset.Unix()}
	return ok(object{"rate": core,
		"resources": object{"core": core, "search": core, "graphql": core, "integration_manifest": core}}), nil
}
