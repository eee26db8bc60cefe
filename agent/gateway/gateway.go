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
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sia-bot/sia/agent/llm/usage"
)

// Limits of a call.
const (
	maxRequest          = 16 << 20         // bytes
	maxAnswer           = 64 << 20         // bytes
	maxError            = 1 << 20          // bytes of the text of an endpoint's error
	defaultBeginTimeout = 10 * time.Minute // default of Config.Begin
	writeTimeout        = time.Minute      // for the program to read a piece of an answer
	bytesPerToken       = 3                // below the real value, so that estimates are not too low
	tokensPerImage      = 5_000            // above the real value
	defaultWindow       = 200_000          // default of Config.Window
)

// Usage is the usage of a call.
type Usage = usage.Tokens

// Call is a call that a meter allowed.
type Call struct {
	Prompt int   // estimated tokens
	Input  int   // tokens reserved for the prompt; if below Prompt, Prompt is used
	Most   int   // maximum tokens of the answer
	Held   int64 // for the meter: its reservation
}

// errTimeout ends a call to which the endpoint does not respond in time.
var errTimeout = errors.New("the endpoint is silent")

// ErrUnavailable means that the meter is temporarily unavailable. The program retries, and the attempt continues.
var ErrUnavailable = errors.New("ask again")

// Meter controls the budget. Its methods may be called concurrently.
type Meter interface {
	// Reserve decides whether a call may be made, and the maximum length of its answer. prompt is the estimated prompt in
	// tokens, at least Config.Window if it has a document; want is the number of tokens that the program requested, or 0.
	// An error refuses the call, with a message for users; if it wraps ErrUnavailable, only temporarily.
	Reserve(prompt, want int) (Call, error)
	// Settle ends a reservation with the usage of the call: zero if the endpoint refused it or was not reached, or the
	// whole reservation if the usage is unknown.
	Settle(c Call, u Usage)
}

// Config is the configuration of a gateway.
type Config struct {
	Upstream string       // base URL of the endpoint, such as https://api.openai.com/v1
	Key      string       // API key; "": none
	Model    string       // the only allowed model
	Window   int          // its context window in tokens, which a document may fill; 0: 200,000
	Token    string       // the program's API key for the gateway, unique to the attempt
	Meter    Meter        // required
	Room     *Room        // shared capacity; nil: its own
	Client   *http.Client // nil: [NewClient]
	// maximum wait for the start of an answer, which is its end unless it is streamed; 0: ten minutes
	Begin  time.Duration
	Logger *slog.Logger // nil: no logging
	// Observe is called after the end of each call that the meter allowed; nil: nobody observes them. It may be called
	// concurrently.
	Observe func(context.Context, Ended)
}

// Ended describes a call that has ended.
type Ended struct {
	Call   Call
	Usage  Usage         // as it was settled
	Took   time.Duration // with the repetitions without a refused field
	Path   string        // of its protocol, such as /messages
	Status int           // of the endpoint's response; 0: it was not reached, or its answer broke off
	Hungup bool          // the program did not wait for the end
}

// Gateway forwards the calls of one attempt. It is an http.Handler.
type Gateway struct {
	Config
	upstream *url.URL

	mu     sync.Mutex
	closed bool
	failed string // how the endpoint last failed, for users
}

// New checks c and returns a gateway.
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
	c.Window = cmp.Or(c.Window, defaultWindow)
	c.Begin = cmp.Or(c.Begin, defaultBeginTimeout)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Observe == nil {
		c.Observe = func(context.Context, Ended) {}
	}
	return &Gateway{Config: c, upstream: u}, nil
}

// NewClient returns an HTTP client for gateways. Several may share one, with its connections.
func NewClient() *http.Client {
	return &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Close makes the gateway refuse further calls.
func (g *Gateway) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// Failed returns how the endpoint last failed; empty: its last response was a success.
func (g *Gateway) Failed() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed
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

// call reads, filters, reserves, forwards and settles a call.
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
	call, err := g.Meter.Reserve(q.prompt(len(body), g.Window), q.want)
	switch {
	case errors.Is(err, ErrUnavailable):
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	case err != nil:
		refuse(w, http.StatusPaymentRequired, err.Error())
		return
	}
	end, began := Ended{Call: call, Path: p.path}, time.Now() // without usage until the request is sent
	defer func() {
		g.Meter.Settle(call, end.Usage)
		end.Took, end.Hungup = time.Since(began), r.Context().Err() != nil
		g.Observe(r.Context(), end)
	}()
	resp, sent, err := g.sendAdapting(r, q, call.Most)
	release()
	if err != nil {
		if sent {
			end.Usage = new(counter).usage(call, false)
		}
		why := "can't be reached"
		if errors.Is(err, errTimeout) {
			why = fmt.Sprintf("did not begin to answer within %s", g.Begin)
		}
		if r.Context().Err() == nil {
			g.note("the endpoint " + why)
		}
		g.Logger.WarnContext(r.Context(), "model gateway: endpoint not reached", "error", err)
		refuse(w, http.StatusBadGateway, "the model's endpoint "+why)
		return
	}
	defer resp.Body.Close()
	failed := ""
	if resp.StatusCode >= 300 {
		failed = "the endpoint answered " + resp.Status
	}
	g.note(failed)
	var broke bool
	if end.Usage, broke = g.pass(w, p, resp, call); broke {
		g.note("the endpoint's answer broke off")
		return
	}
	end.Status = resp.StatusCode
}

// parse parses a request. Only one is parsed at a time on this server.
func (g *Gateway) parse(p protocol, body []byte) (request, error) {
	g.Room.reading.Lock()
	defer g.Room.reading.Unlock()
	return p.parse(body)
}

// refuseBody responds to a request that could not be read.
func refuseBody(w http.ResponseWriter, err error) {
	w.Header().Set("Connection", "close")
	switch {
	case errors.Is(err, errFull):
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, err.Error())
	case errors.Is(err, errLarge):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request has more than %d bytes", maxRequest))
	default:
		refuse(w, http.StatusRequestTimeout, fmt.Sprintf("the request did not come within %s", bodyTimeout))
	}
}

// Headers that are passed on, in either direction. The protocols need them, and none identifies the caller.
var (
	requestHeaders  = []string{"Content-Type", "Accept", "Anthropic-Version"}
	responseHeaders = []string{"Content-Type", "Retry-After", "Request-Id", "X-Request-Id"}
)

// allowedBetas are the beta features of Anthropic's protocol that are passed on, without their dates: those for the
// format of an agent's conversation. Others change the price of tokens, or where code runs.
var allowedBetas = []string{"claude-code", "interleaved-thinking", "fine-grained-tool-streaming", "context-management",
	"mid-conversation-tool-changes", "thinking-token-count", "thinking-display-updates", "advanced-tool-use", "effort",
	"prompt-caching", "structured-outputs", "token-efficient-tools"}

// betas returns the header's values that are passed on.
func betas(h http.Header) string {
	var kept []string
	for _, b := range strings.Split(strings.Join(h.Values("Anthropic-Beta"), ","), ",") {
		b = strings.TrimSpace(b)
		if name := strings.TrimRight(b, "0123456789-"); slices.Contains(allowedBetas, name) {
			kept = append(kept, b)
		}
	}
	return strings.Join(kept, ",")
}

// address returns the endpoint's URL for a protocol. Anthropic's always includes a version, which its own libraries
// add.
func (g *Gateway) address(p protocol) string {
	base := g.upstream
	if n, is := strings.CutPrefix(path.Base(base.Path), "v"); p.path == MessagesPath &&
		(!is || n == "" || strings.Trim(n, "0123456789") != "") {
		base = base.JoinPath("v1")
	}
	return base.JoinPath(p.path).String()
}

// sendAdapting forwards a request. If the endpoint refuses a field that the gateway added, it repeats the request, and
// records the field once that works.
func (g *Gateway) sendAdapting(r *http.Request, q request, limit int) (_ *http.Response, sent bool, _ error) {
	endpoint := g.Upstream + " " + g.Model
	before := g.Room.refusedBy(endpoint)
	without := before
	for {
		body, added, err := q.rewritten(limit, without)
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
		name := refusedField(resp, added)
		if name == "" {
			return resp, sent, nil
		}
		resp.Body.Close()
		without = append(slices.Clone(without), name)
	}
}

// maxRefusal is the maximum size of an endpoint's error that is read, in bytes.
const maxRefusal = 64 << 10

// refusedField returns the field that an endpoint refuses; empty: none. The body can still be read afterwards.
func refusedField(resp *http.Response, fields []string) string {
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

// readAgain is a body with a restored start.
type readAgain struct {
	io.Reader
	io.Closer
}

// ask forwards a request once, since the program retries on its own. sent reports whether the endpoint may have
// received it.
func (g *Gateway) ask(r *http.Request, p protocol, body []byte) (resp *http.Response, sent bool, err error) {
	var wrote atomic.Bool
	ctx, giveUp := context.WithCancelCause(r.Context())
	silent := time.AfterFunc(g.Begin, func() { giveUp(errTimeout) })
	defer silent.Stop() // after that, only the program limits the wait
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { wrote.Store(true) }})
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, g.address(p), bytes.NewReader(body))
	if err != nil {
		return nil, false, err
	}
	for _, name := range requestHeaders {
		if v := r.Header.Get(name); v != "" {
			out.Header.Set(name, v)
		}
	}
	if b := betas(r.Header); b != "" {
		out.Header.Set("Anthropic-Beta", b)
	}
	out.Header.Set("User-Agent", "sia")
	if g.Key != "" {
		if g.upstream.RawQuery != "" { // Azure's api-version; it requires this header
			out.Header.Set("Api-Key", g.Key)
		}
		if p.path == MessagesPath {
			out.Header.Set("X-Api-Key", g.Key)
		}
		if g.upstream.Hostname() != "api.anthropic.com" || p.path != MessagesPath { // requires that header only
			out.Header.Set("Authorization", "Bearer "+g.Key)
		}
	}
	if resp, err = g.Client.Do(out); err != nil && errors.Is(context.Cause(ctx), errTimeout) {
		err = errTimeout
	}
	return resp, wrote.Load(), err
}

// pass passes on an answer as a stream and returns its usage, and whether it broke off.
func (g *Gateway) pass(w http.ResponseWriter, p protocol, resp *http.Response, call Call) (u Usage, broke bool) {
	for _, name := range responseHeaders {
		if v := resp.Header.Get(name); v != "" {
			w.Header().Set(name, v)
		}
	}
	if resp.StatusCode >= 300 {
		return Usage{}, g.passError(w, resp)
	}
	w.WriteHeader(resp.StatusCode)
	count := &counter{stream: strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream"),
		beside: p.path == MessagesPath}
	control := http.NewResponseController(w)
	buf := make([]byte, 32<<10)
	whole := false
	for passed := 0; passed < maxAnswer; {
		n, err := resp.Body.Read(buf)
		passed += n
		count.add(buf[:n])
		if n > 0 {
			_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // a server's connection has one
			if _, werr := w.Write(buf[:n]); werr != nil {
				break // the program is gone; the answer so far still counts
			}
			_ = control.Flush()
		}
		if err != nil {
			whole = errors.Is(err, io.EOF)
			broke = !whole && !errors.Is(err, context.Canceled)
			break
		}
	}
	return count.usage(call, whole), broke
}

// passError passes on an error without the API key, which some endpoints repeat, and reports whether it broke off. It
// drops the text of one that is incomplete or too long, which may end within the key.
func (g *Gateway) passError(w http.ResponseWriter, resp *http.Response) (broke bool) {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxError+1))
	if err != nil || len(text) > maxError {
		text = nil
	}
	if key := strings.TrimSpace(g.Key); len(key) >= minSecret {
		text = keyPattern(key).ReplaceAll(text, []byte("***"))
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // a server's connection has one
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(text) // the program may be gone
	return err != nil && !errors.Is(err, context.Canceled)
}

// minSecret is the minimum size of an API key that is masked, in bytes. Endpoints without authentication are given "x",
// "key" or "token", which are words in their errors.
const minSecret = 6

// keyPattern returns a pattern that matches a key, also within a string of JSON.
func keyPattern(key string) *regexp.Regexp {
	var b strings.Builder
	for _, r := range key {
		fmt.Fprintf(&b, `(?:\\?%s|\\u(?i:%04x))`, regexp.QuoteMeta(string(r)), r)
	}
	return regexp.MustCompile(b.String())
}

func (g *Gateway) note(failed string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed = failed
}

// refuse responds with an error that is valid in all three protocols.
func refuse(w http.ResponseWriter, status int, why string) {
	send(w, status, map[string]any{"type": "error",
		"error": map[string]any{"type": "sia_gateway", "code": "sia_gateway", "message": "SIA: " + why}})
}

func send(w http.ResponseWriter, status int, v any) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // the server's may have passed
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the program may be gone
}
