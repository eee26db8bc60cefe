package runner

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/app/clientaddr"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// Limits of requests from runners.
const (
	wrongTokens  = 30               // burst of requests with a wrong token from one address; one more each second
	nextRequests = 60               // the same for polls of one runner
	uploads      = 4                // concurrent large bodies of results, and of turns
	smallBody    = 64 << 10         // maximum size of a body that waits for no others, in bytes
	takeWait     = 20 * time.Second // for the owner to add a turn to the transcript
	chunkTimeout = time.Minute      // timeout for each chunk of a commit or a large body
)

// Handler serves the HTTP API of runners, below [Prefix]. It is safe for concurrent use.
type Handler struct {
	*Dispatcher
	mux     *http.ServeMux
	room    *gateway.Room
	client  *http.Client // to models
	wrong   *clientaddr.Limiter
	polls   *clientaddr.Limiter
	uploads chan struct{} // slots for large results
	turns   chan struct{} // and for large turns, for which an agent waits
}

// NewHandler returns the handler of a dispatcher. Requests for models use memory from room.
func NewHandler(d *Dispatcher, room *gateway.Room) *Handler {
	h := &Handler{Dispatcher: d, mux: http.NewServeMux(), room: room, client: gateway.NewClient(),
		wrong: clientaddr.NewLimiter(wrongTokens, d.Now), polls: clientaddr.NewLimiter(nextRequests, d.Now),
		uploads: make(chan struct{}, uploads), turns: make(chan struct{}, uploads)}
	h.mux.HandleFunc("POST "+Prefix+NextPath, h.next)
	h.mux.HandleFunc("POST "+Prefix+NextTestsPath, h.next)
	for path, serve := range map[string]func(http.ResponseWriter, *http.Request, claim){
		"GET " + Prefix + WorkPath: h.work, "GET " + Prefix + BasePath: h.base,
		"POST " + Prefix + HeartbeatPath: h.heartbeat, "POST " + Prefix + TurnPath: h.turn,
		"POST " + Prefix + ChangePath: h.change, "GET " + Prefix + ChangePath: h.changeAnswer,
		"POST " + Prefix + ResultPath: h.result, "POST " + Prefix + ReleasePath: h.release,
		Prefix + ModelPath + "{number}/": h.model,
	} {
		h.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if a, ok := h.authenticate(w, r); ok {
				serve(w, r, a)
			}
		})
	}
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(Header, "1")
	h.mux.ServeHTTP(w, r)
}

// NotHere answers the requests of runners on a server that makes attempts itself. It does not set [Header], so that
// runners ask again.
func NotHere(w http.ResponseWriter, _ *http.Request) {
	writeError(w, http.StatusNotFound, "this server makes attempts itself; start it with --attempts-on runners to have "+
		"runners make them")
}

// writeError answers with an error that the runner shows to users.
func writeError(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// in the form that clients of models expect
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": why}})
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the runner may have disconnected
}

// bearerToken returns the token of a request.
func bearerToken(r *http.Request) string {
	if t, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return t
	}
	return r.Header.Get("X-Api-Key")
}

// unauthorized answers a request with an unknown token, and counts it against the limit of its address.
func (h *Handler) unauthorized(w http.ResponseWriter, r *http.Request, status int, why string) {
	client := clientaddr.Of(r)
	if !h.wrong.Allow(client) {
		if h.wrong.ShouldLog() {
			h.Logger.WarnContext(r.Context(), "too many wrong tokens of runners", "from", client)
		}
		w.Header().Set("Retry-After", "10")
		writeError(w, http.StatusTooManyRequests, "too many requests with a wrong token came from this address")
		return
	}
	writeError(w, status, why)
}

// unavailable answers a request after an error of the database, so that the runner retries.
func (h *Handler) unavailable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		h.Logger.ErrorContext(r.Context(), "a runner can't be answered", "path", r.URL.Path, "error", err)
	}
	w.Header().Set("Retry-After", "2")
	writeError(w, http.StatusServiceUnavailable, "the server's database did not answer; try again")
}

const (
	noToken = "this is not the token of a runner, or it was removed: `sia runner add` on the server makes one"
	notHeld = "the attempt is no longer this runner's: its heartbeats stopped for too long, or the attempt is over"
)

// claim is an attempt with the hash of its pass.
type claim struct {
	store.RunnerAttempt
	pass string
}

// authenticate returns the attempt of a request's pass. If ok is false, it has answered the request with an error. An
// invalid pass causes no write to the database.
func (h *Handler) authenticate(w http.ResponseWriter, r *http.Request) (a claim, ok bool) {
	token := bearerToken(r)
	if !isToken(token, passPrefix) {
		h.unauthorized(w, r, http.StatusUnauthorized, "this needs the token of an attempt")
		return a, false
	}
	a.pass = Hash(token)
	var err error
	if a.RunnerAttempt, err = h.Store.HeldAttempt(r.Context(), a.pass); err != nil {
		h.refuseAttempt(w, r, err)
		return a, false
	}
	return a, true
}

// refuseAttempt answers a request after an error about its attempt.
func (h *Handler) refuseAttempt(w http.ResponseWriter, r *http.Request, err error) {
	var known *sia.Error
	switch {
	case errors.Is(err, store.ErrNotFound):
		h.unauthorized(w, r, http.StatusGone, notHeld)
	case errors.As(err, &known) && known.Permanent:
		writeError(w, http.StatusConflict, known.Message)
	default:
		h.unavailable(w, r, err)
	}
}

// next assigns an attempt, or a run of tests, to a runner as soon as there is one that its request allows; see [Takes].
func (h *Handler) next(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	token := bearerToken(r)
	if !isToken(token, TokenPrefix) {
		h.unauthorized(w, r, http.StatusUnauthorized, noToken)
		return
	}
	runner, err := h.Store.RunnerByHash(ctx, Hash(token))
	switch {
	case errors.Is(err, store.ErrNotFound):
		h.unauthorized(w, r, http.StatusUnauthorized, noToken)
		return
	case err != nil:
		h.unavailable(w, r, err)
		return
	case !h.polls.Allow(runner.Name):
		w.Header().Set("Retry-After", "5")
		writeError(w, http.StatusTooManyRequests, "this runner asks too often")
		return
	}
	about, err := io.ReadAll(io.LimitReader(r.Body, MaxAbout))
	if err != nil {
		writeError(w, http.StatusBadRequest, "the request did not come whole")
		return
	}
	attempts := r.URL.Path != Prefix+NextTestsPath
	tests := !attempts || r.URL.Query().Has(CanTest)
	if err := h.Store.MarkRunnerSeen(ctx, runner.Name, clipAbout(string(about)), tests); err != nil {
		h.unavailable(w, r, err)
		return
	}
	h.assign(w, r, runner.Name, newPass(), attempts, tests)
}

// assign waits for an attempt, or with tests for a run of tests, and sends it to a runner.
func (h *Handler) assign(w http.ResponseWriter, r *http.Request, runner, pass string, attempts, tests bool) {
	ctx := r.Context() // without the timeout of the poll: canceling a query would close its connection
	var a store.RunnerAttempt
	found, err := h.await(ctx, LongPoll, func() (found bool, err error) {
		a, found, err = h.Store.ClaimAttempt(ctx, runner, Hash(pass), attempts, tests, h.Lease)
		return found, err
	})
	switch {
	case err != nil:
		h.unavailable(w, r, err)
	case !found:
		w.WriteHeader(http.StatusNoContent)
	default:
		h.changes.notify()
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(BodyTimeout))
		writeJSON(w, struct {
			Pass string          `json:"pass"`
			Work json.RawMessage `json:"work"`
		}{pass, a.Work})
	}
}

// work sends the input of an attempt to a client that has only its pass. It extends the lease by the timeout of the
// body.
func (h *Handler) work(w http.ResponseWriter, r *http.Request, a claim) {
	ctx := r.Context()
	if _, err := h.Store.RenewAttempt(ctx, a.pass, h.Lease+BodyTimeout); err != nil {
		h.refuseAttempt(w, r, err)
		return
	}
	work, err := h.Store.AttemptWork(ctx, a.pass)
	if err != nil {
		h.refuseAttempt(w, r, err)
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(BodyTimeout))
	writeJSON(w, json.RawMessage(work))
}

// base sends the commit that an attempt starts from, or the one that its tests are compared with.
func (h *Handler) base(w http.ResponseWriter, r *http.Request, a claim) {
	ctx := r.Context()
	t, err := h.Store.Task(ctx, a.Task)
	if err != nil {
		h.unavailable(w, r, err)
		return
	}
	commit := a.Start
	if r.URL.Query().Has(BaseOfTests) {
		var given struct{ Tests Tests }
		work, err := h.Store.AttemptWork(ctx, a.pass)
		if err == nil {
			err = json.Unmarshal(work, &given)
		}
		if err != nil {
			h.refuseAttempt(w, r, err)
			return
		}
		commit = given.Tests.Base
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	out := &deadlineWriter{w: w, control: http.NewResponseController(w)}
	if err := h.Mirror(t).WriteCommit(ctx, commit, out); err != nil {
		h.Logger.WarnContext(ctx, "a commit could not be sent to a runner", "effect", a.Key, "error", err)
		if out.began {
			panic(http.ErrAbortHandler) // so that the runner notices the truncation
		}
		status, why := commitError(err)
		writeError(w, status, why)
	}
}

// commitError returns the answer to a request for a commit that can't be sent. The runner retries unless no retry can
// help.
func commitError(err error) (status int, why string) {
	var (
		known   *sia.Error
		auth    *gitops.AuthError
		missing *gitops.NotFoundError
	)
	status = http.StatusUnprocessableEntity
	switch {
	case errors.As(err, &known) && known.Permanent:
		return status, known.Message
	case errors.As(err, &auth):
		return status, "GitHub refused the server access to the repository, which may be archived"
	case errors.As(err, &missing), errors.Is(err, gitops.ErrFetchTooLarge):
		return status, "GitHub lacks the commit that was asked for, or it is too large"
	case errors.Is(err, gitops.ErrTree):
		return status, "the files of the commit that was asked for are too many, or SIA can't work with them"
	}
	return http.StatusBadGateway, "the server can't send the commit that was asked for"
}

// deadlineWriter extends the write deadline for each chunk.
type deadlineWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	began   bool
}

// Write implements io.Writer.
func (p *deadlineWriter) Write(b []byte) (int, error) {
	p.began = true
	_ = p.control.SetWriteDeadline(time.Now().Add(chunkTimeout))
	return p.w.Write(b)
}

// heartbeat renews the lease of a runner.
func (h *Handler) heartbeat(w http.ResponseWriter, r *http.Request, a claim) {
	stop, err := h.Store.RenewAttempt(r.Context(), a.pass, h.Lease)
	if err != nil {
		h.refuseAttempt(w, r, err)
		return
	}
	writeJSON(w, Heartbeat{Stop: stop})
}

// release ends the lease of a runner that does not continue its attempt.
func (h *Handler) release(w http.ResponseWriter, r *http.Request, a claim) {
	if err := h.Store.ReleaseAttempt(r.Context(), a.pass, r.URL.Query().Get(ReleaseLost) != ""); err != nil {
		h.refuseAttempt(w, r, err)
		return
	}
	h.changes.notify()
	w.WriteHeader(http.StatusNoContent)
}
