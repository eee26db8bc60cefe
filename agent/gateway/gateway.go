package gateway

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of a call.
const (
	maxRequest    = 16 << 20         // bytes
	maxAnswer     = 64 << 20         // bytes
	beginWithin   = 10 * time.Minute // until an answer begins, where Config.Begin does not say
	takeWithin    = time.Minute      // until the program takes a piece of an answer
	bytesPerToken = 3                // fewer than there really are, so that estimates are not too low
)

// Usage is what a call took, in tokens. Cached, which was read from the endpoint's cache,
// and Written, which was written to it, are parts of Input.
type Usage struct{ Input, Cached, Written, Output int }

// Call is one call that a meter let through.
type Call struct {
	Prompt int   // estimated tokens
	Input  int   // tokens that are reserved for the prompt; below Prompt: so many as that
	Most   int   // tokens that the answer may have
	Held   int64 // the meter's own: what it set aside
}

// errSilent ends a call that the endpoint does not begin to answer.
var errSilent = errors.New("the endpoint is silent")

// ErrAskAgain is that nobody could tell whether a call may be made. The program that asks tries again, and the attempt
// goes on.
var ErrAskAgain = errors.New("ask again")

// Meter pays. Its methods are called concurrently.
type Meter interface {
	// Reserve asks whether a call may be made, and how long its answer may be. prompt
	// estimates the prompt in tokens. want is how many tokens the program asked for, 0
	// when it did not say. An error refuses the call, in words for people; one that wraps ErrAskAgain for now.
	Reserve(prompt, want int) (Call, error)
	// Settle ends a reservation with what the call took. That is nothing when the
	// endpoint refused it or was never reached, and all that was reserved when nobody
	// told.
	Settle(c Call, u Usage)
}

// Config is what a gateway is made of.
type Config struct {
	Upstream string       // base URL of the endpoint, such as https://api.openai.com/v1
	Key      string       // its key; "": none is sent
	Model    string       // the one model
	Token    string       // what the program has in place of the key; each attempt has its own
	Meter    Meter        // required
	Room     *Room        // that it shares with other gateways; nil: one of its own
	Client   *http.Client // nil: [NewClient]
	// longest wait until an answer begins; an answer that is not streamed begins when it is whole; 0: ten minutes
	Begin  time.Duration
	Logger *slog.Logger // nil: nothing is logged
}

// Gateway forwards calls of one attempt. It is an http.Handler.
type Gateway struct {
	Config
	upstream *url.URL

	mu     sync.Mutex
	closed bool
	status int    // of the endpoint's last answer; 0: it gave none
	failed string // how the endpoint last failed, for people
}

// New checks c.
func New(c Config) (*Gateway, error) {
	u, err := url.Parse(strings.TrimRight(c.Upstream, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("make model gateway: %q is not the address of an endpoint", c.Upstream)
	}
	if c.Model == "" || c.Token == "" || c.Meter == nil {
		return nil, errors.New("make model gateway: a model, a token and a meter are needed")
	}
	if c.Client == nil {
		c.Client = NewClient()
	}
	if c.Room == nil {
		c.Room = &Room{}
	}
	c.Begin = cmp.Or(c.Begin, beginWithin)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Gateway{Config: c, upstream: u}, nil
}

// NewClient is what gateways ask endpoints with. Several may share one, and its connections.
func NewClient() *http.Client {
	return &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Close refuses every call from now on.
func (g *Gateway) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// Failed is how the endpoint last failed; empty when its last answer was one.
func (g *Gateway) Failed() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed
}

// Status is the HTTP status of the endpoint's last answer; 0 when it gave none.
func (g *Gateway) Status() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.status
}

// ServeHTTP forwards one call.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	closed := g.closed
	g.mu.Unlock()
	p, known := protocols[strings.TrimPrefix(r.URL.Path, "/v1")]
	switch {
	case closed:
		refuse(w, http.StatusForbidden, "the attempt is over")
	case !g.authorized(r):
		refuse(w, http.StatusUnauthorized, "this is not the attempt's key")
	case r.Method == http.MethodGet && strings.TrimPrefix(r.URL.Path, "/v1") == "/models":
		send(w, http.StatusOK, map[string]any{"object": "list",
			"data": []any{map[string]any{"id": g.Model, "object": "model", "owned_by": "sia"}}})
	case !known || r.Method != http.MethodPost:
		refuse(w, http.StatusNotFound, "the gateway has POST /v1/chat/completions, /v1/responses and /v1/messages, and "+
			"nothing else")
	default:
		g.call(w, r, p)
	}
}

func (g *Gateway) authorized(r *http.Request) bool {
	token := cmp.Or(r.Header.Get("X-Api-Key"), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	return subtle.ConstantTimeCompare([]byte(token), []byte(g.Token)) == 1
}

// call reads, rewrites, reserves, forwards and settles.
func (g *Gateway) call(w http.ResponseWriter, r *http.Request, p protocol) {
	body, release, err := g.readBody(w, r)
	if err != nil {
		refuseBody(w, err)
		return
	}
	defer release()
	q, err := g.parse(p, body)
	if err != nil {
		refuse(w, http.StatusBadRequest, "the request is not JSON of the protocol, or asks for what is not passed on: "+
			err.Error())
		return
	}
	if q.model != g.Model {
		refuse(w, http.StatusForbidden,
			fmt.Sprintf("this attempt asks the model %q and no other; the request names %.100q", g.Model, q.model))
		return
	}
	call, err := g.Meter.Reserve(len(body)/bytesPerToken, q.want)
	switch {
	case errors.Is(err, ErrAskAgain):
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	case err != nil:
		refuse(w, http.StatusPaymentRequired, err.Error())
		return
	}
	used := Usage{} // for as long as nothing was sent
	defer func() { g.Meter.Settle(call, used) }()
	resp, sent, err := g.askAdapting(r, q, call.Most)
	release()
	if err != nil {
		if sent {
			used = newCounter(false).usage(call, false)
		}
		why := "can't be reached"
		if errors.Is(err, errSilent) {
			why = fmt.Sprintf("did not begin to answer within %s", g.Begin)
		}
		if r.Context().Err() == nil {
			g.note(0, "the endpoint "+why)
		}
		g.Logger.WarnContext(r.Context(), "model gateway: endpoint not reached", "error", err)
		refuse(w, http.StatusBadGateway, "the model's endpoint "+why)
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode < 300 {
		g.note(resp.StatusCode, "")
	} else {
		g.note(resp.StatusCode, "the endpoint answered "+resp.Status)
	}
	used = g.pass(w, resp, call)
}

// parse reads a request, one at a time on this server.
func (g *Gateway) parse(p protocol, body []byte) (request, error) {
	g.Room.reading.Lock()
	defer g.Room.reading.Unlock()
	return p.parse(body)
}

// refuseBody refuses a request that was not read to its end.
func refuseBody(w http.ResponseWriter, err error) {
	w.Header().Set("Connection", "close")
	switch {
	case errors.Is(err, errFull):
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, err.Error())
	case errors.Is(err, errLarge):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request has more than %d bytes", maxRequest))
	default:
		refuse(w, http.StatusRequestTimeout, fmt.Sprintf("the request did not come within %s", bodyWithin))
	}
}

// The headers that go through, in either direction. The protocols need them, and none
// says who asks.
var (
	passedAsk    = []string{"Content-Type", "Accept", "Anthropic-Version"}
	passedAnswer = []string{"Content-Type", "Retry-After", "Request-Id", "X-Request-Id"}
)

// passedBetas are the previews of Anthropic's protocol that go through, without their
// dates: those that say how an agent's conversation is written. Others change what a
// token costs, or where things run.
var passedBetas = []string{"claude-code", "interleaved-thinking", "fine-grained-tool-streaming", "context-management",
	"mid-conversation-tool-changes", "thinking-token-count", "thinking-display-updates", "advanced-tool-use", "effort",
	"prompt-caching", "structured-outputs", "token-efficient-tools"}

// betas are those of the header's values that go through.
func betas(h http.Header) string {
	var kept []string
	for _, b := range strings.Split(strings.Join(h.Values("Anthropic-Beta"), ","), ",") {
		b = strings.TrimSpace(b)
		if name := strings.TrimRight(b, "0123456789-"); slices.Contains(passedBetas, name) {
			kept = append(kept, b)
		}
	}
	return strings.Join(kept, ",")
}

// address is where the endpoint has a protocol. Anthropic's is always below a version, which its own libraries add.
func (g *Gateway) address(p protocol) string {
	base := g.upstream
	if n, is := strings.CutPrefix(path.Base(base.Path), "v"); p.path == messagesPath &&
		(!is || n == "" || strings.Trim(n, "0123456789") != "") {
		base = base.JoinPath("v1")
	}
	return base.JoinPath(p.path).String()
}

// askAdapting forwards a request, and once more where the endpoint refuses a field that the program did not write. It
// remembers what was right.
func (g *Gateway) askAdapting(r *http.Request, q request, most int) (_ *http.Response, sent bool, _ error) {
	endpoint := g.Upstream + " " + g.Model
	before := g.Room.refusedBy(endpoint)
	without := before
	for {
		body, added, err := q.rewritten(most, without)
		if err != nil {
			return nil, false, err
		}
		resp, sent, err := g.ask(r, q.protocol, body)
		if err != nil {
			return resp, sent, err
		}
		if resp.StatusCode < 300 && len(without) > len(before) {
			g.Room.refuses(endpoint, without)
		}
		name := refusedOf(resp, added)
		if name == "" {
			return resp, sent, nil
		}
		resp.Body.Close()
		without = append(slices.Clone(without), name)
	}
}

// maxRefusal bounds what is read of an endpoint's words about a request, in bytes.
const maxRefusal = 64 << 10

// refusedOf is the one of some fields that an endpoint refuses; empty: none. The answer can be read all the same.
func refusedOf(resp *http.Response, fields []string) string {
	if resp.StatusCode != http.StatusBadRequest && resp.StatusCode != http.StatusUnprocessableEntity {
		return ""
	}
	words, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	resp.Body = readAgain{io.MultiReader(bytes.NewReader(words), resp.Body), resp.Body}
	if err != nil {
		return ""
	}
	for _, name := range fields {
		if bytes.Contains(words, []byte(name)) {
			return name
		}
	}
	return ""
}

// readAgain is a body with its beginning, which was read.
type readAgain struct {
	io.Reader
	io.Closer
}

// ask forwards a request, once: the program that asks has its own way of trying again.
// sent says that the endpoint may have it, whether it answered or not.
func (g *Gateway) ask(r *http.Request, p protocol, body []byte) (resp *http.Response, sent bool, err error) {
	var wrote atomic.Bool
	ctx, giveUp := context.WithCancelCause(r.Context())
	silent := time.AfterFunc(g.Begin, func() { giveUp(errSilent) })
	defer silent.Stop() // from then on the answer may take as long as the program waits for it
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { wrote.Store(true) }})
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, g.address(p), bytes.NewReader(body))
	if err != nil {
		return nil, false, err
	}
	for _, name := range passedAsk {
		if v := r.Header.Get(name); v != "" {
			out.Header.Set(name, v)
		}
	}
	if b := betas(r.Header); b != "" {
		out.Header.Set("Anthropic-Beta", b)
	}
	out.Header.Set("User-Agent", "sia")
	if g.Key != "" {
		if g.upstream.RawQuery != "" { // Azure's api-version; it wants the key so
			out.Header.Set("Api-Key", g.Key)
		}
		if p.path == messagesPath {
			out.Header.Set("X-Api-Key", g.Key)
		}
		if g.upstream.Hostname() != "api.anthropic.com" || p.path != messagesPath { // which wants it in that header alone
			out.Header.Set("Authorization", "Bearer "+g.Key)
		}
	}
	if resp, err = g.Client.Do(out); err != nil && errors.Is(context.Cause(ctx), errSilent) {
		err = errSilent
	}
	return resp, wrote.Load(), err
}

// pass passes an answer on as it comes and returns what it took.
func (g *Gateway) pass(w http.ResponseWriter, resp *http.Response, call Call) Usage {
	for _, name := range passedAnswer {
		if v := resp.Header.Get(name); v != "" {
			w.Header().Set(name, v)
		}
	}
	w.WriteHeader(resp.StatusCode)
	count := newCounter(strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream"))
	control := http.NewResponseController(w)
	buf := make([]byte, 32<<10)
	whole := false
	for passed := 0; passed < maxAnswer; {
		n, err := resp.Body.Read(buf)
		passed += n
		count.add(buf[:n])
		if n > 0 {
			_ = control.SetWriteDeadline(time.Now().Add(takeWithin)) // a server's connection has one
			if _, werr := w.Write(buf[:n]); werr != nil {
				break // the program is gone; what came so far was made all the same
			}
			_ = control.Flush()
		}
		if err != nil {
			whole = errors.Is(err, io.EOF)
			if !whole && !errors.Is(err, context.Canceled) {
				g.note(resp.StatusCode, "the endpoint's answer broke off")
			}
			break
		}
	}
	if resp.StatusCode >= 300 {
		return Usage{}
	}
	return count.usage(call, whole)
}

func (g *Gateway) note(status int, failed string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.status, g.failed = status, failed
}

// refuse answers with an error as all three protocols understand it.
func refuse(w http.ResponseWriter, status int, why string) {
	send(w, status, map[string]any{"type": "error",
		"error": map[string]any{"type": "sia_gateway", "code": "sia_gateway", "message": "SIA: " + why}})
}

func send(w http.ResponseWriter, status int, v any) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(takeWithin)) // the server's may be over
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the program may be gone
}
