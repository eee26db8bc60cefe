// Package api is the REST API of a simulated GitHub, and the little GraphQL that REST lacks: routes, authentication,
// permissions, pagination, conditional requests, rate limits and errors. It checks permissions and parses requests;
// package world carries out the changes, and package payload formats the objects.
//
// Routes follow https://docs.github.com/en/rest (API version 2022-11-28). Start reading at routes.go; handler.go
// handles a request.
package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/access"
	"github.com/sia-bot/sia/sim/ghsim/delivery"
	"github.com/sia-bot/sia/sim/ghsim/fault"
	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/payload"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
	"github.com/sia-bot/sia/sim/ghsim/world"
)

// maxBody is the largest request body the API takes, in bytes.
const maxBody = 25 << 20

// object is one JSON object of an answer.
type object = map[string]any

// Config configures the API. Every field is required.
type Config struct {
	World  *world.World
	Shaper *payload.Shaper
	Git    *git.Store
	Desk   *access.TokenIssuer
	Queue  *delivery.Queue
	Faults *fault.Rules
	Logger *slog.Logger

	Journal *journal.Journal
}

// Handler answers REST and GraphQL requests, and requests for logs and artifacts to which REST answers point.
type Handler struct {
	world  *world.World
	shape  *payload.Shaper
	git    *git.Store
	issuer *access.TokenIssuer
	queue  *delivery.Queue
	faults *fault.Rules
	log    *slog.Logger
	routes []route

	journal *journal.Journal

	// guarded by the world's lock
	limits limits
	files  map[string]fileAddress // by the secret part of the address
	lag    lag
	calls  []Call
	after  []func(Call)

	merging map[string]bool // merges being computed, by repository, pull request, head and base
}

// New returns the API of a world.
func New(cfg Config) *Handler {
	return &Handler{world: cfg.World, shape: cfg.Shaper, git: cfg.Git, issuer: cfg.Desk, queue: cfg.Queue,
		faults: cfg.Faults, log: cfg.Logger, routes: routeTable(), journal: cfg.Journal,
		limits: limits{max: defaultLimit, windows: map[string]*window{}}, files: map[string]fileAddress{},
		merging: map[string]bool{}}
}

// Handles reports whether a request is for the API.
func Handles(r *http.Request) bool {
	_, ok := routePath(r.URL.EscapedPath())
	return ok || strings.HasPrefix(r.URL.EscapedPath(), filePrefix)
}

// routePath is the part of an escaped path that routes match.
func routePath(path string) (string, bool) {
	switch {
	case path == "/api/graphql" || path == "/api/v3/graphql":
		return "/graphql", true
	case path == "/api/v3" || strings.HasPrefix(path, "/api/v3/"):
		return strings.TrimPrefix(path, "/api/v3"), true
	}
	return "", false
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ok := routePath(r.URL.EscapedPath())
	if !ok {
		h.serveFile(w, r)
		return
	}
	entry := Call{Method: r.Method, Path: r.URL.RequestURI()}
	f := h.faults.For(r)
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
			http.Error(w, "request body: "+err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
	}
	rep := &reply{header: http.Header{}}
	if f == nil || f.After {
		h.answer(rep, r, path, body, &entry)
	}
	if f != nil {
		entry.Fault, entry.Status, entry.Conditional = true, max(f.Status, 0), false
	}
	h.logCall(&entry)
	if f != nil {
		f.Write(w)
		return
	}
	rep.sendTo(w)
}

// reply buffers an answer until the lock is released.
type reply struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

// sendTo sends the buffered answer.
func (r *reply) sendTo(w http.ResponseWriter) {
	for k, v := range r.header {
		w.Header()[k] = v
	}
	w.WriteHeader(r.code)
	w.Write(r.body.Bytes())
}

// answer authenticates, routes, handles and encodes.
func (h *Handler) answer(rep *reply, r *http.Request, path string, body []byte, entry *Call) {
	h.world.Lock()
	defer h.world.Unlock()
	c := &call{Handler: h, r: r, query: r.URL.Query(), body: body}
	var a answer
	rt, params, known := match(h.routes, r.Method, h.byID(path))
	err := c.authenticate()
	switch {
	case err != nil:
	case rt == nil && known:
		err = &refusal.Error{Code: http.StatusMethodNotAllowed, Message: "Method Not Allowed"}
	case rt == nil:
		err = refusal.NotFound()
	default:
		entry.Pattern, c.params = rt.pattern, params
		if c.window().used >= h.limits.max && rt.pattern != "/rate_limit" {
			a, err = c.exhausted()
		} else if err = c.authorize(rt); err == nil {
			if err = c.lags(); err == nil {
				a, err = rt.handle(c)
			}
		}
	}
	entry.Reads = c.reads || r.Method == http.MethodGet
	if c.token != nil {
		entry.Installation = c.token.Inst.ID
	}
	rep.header.Set("X-GitHub-Media-Type", "github.v3; format=json")
	rep.header.Set("X-GitHub-Request-Id", fmt.Sprintf("%04X:%06X", h.world.LastID()&0xffff, len(h.calls)+1))
	rep.header.Set("X-GitHub-Api-Version-Selected", "2022-11-28")
	rep.header.Set("Cache-Control", "private, max-age=60, s-maxage=60")
	rep.header.Set("Vary", "Accept, Authorization, Cookie, X-GitHub-OTP")
	if err != nil {
		a = h.errorAnswer(err)
	}
	c.encode(rep, a, rt)
	entry.Status, entry.Conditional = rep.code, rep.code == http.StatusNotModified
}

// errorAnswer is an error in GitHub's format.
func (h *Handler) errorAnswer(err error) answer {
	var e *refusal.Error
	if !errors.As(err, &e) {
		h.log.Error("simulator", "error", err)
		e = &refusal.Error{Code: http.StatusInternalServerError, Message: "Server Error: " + err.Error()}
	}
	a := answer{code: e.Code, value: e.Body()}
	if e.Location != "" {
		a.header = map[string]string{"Location": e.Location}
	}
	return a
}
