package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Defaults of [Config].
const (
	DefaultBaseURL   = "https://api.openai.com/v1"
	DefaultWindow    = 128_000
	DefaultMaxOutput = 8_192
	DefaultTimeout   = 10 * time.Minute
	DefaultFirst     = 3 * time.Minute
	DefaultIdle      = time.Minute
	DefaultRetries   = 4
)

// longThoughts are the tokens that an answer may have once one was cut off while the model thought, where none are
// configured.
const longThoughts = 4 * DefaultMaxOutput

// Config describes one model at one endpoint.
type Config struct {
	Name string // for people and logs, such as "coder"; empty: Model
	// up to, not including, /chat/completions, /responses or /messages; empty: OpenAI's. It may end in
	// Azure's ?api-version=….
	BaseURL string
	APIKey  string // may be empty for an endpoint that needs none
	Model   string // as the endpoint names it; required

	Protocol  Protocol // the dialect; empty: ProtocolAuto
	Reasoning string   // how much it reasons, such as "high", in the endpoint's words; empty: as it does by itself
	Memory    *Memory  // what was learned of endpoints; nil: one of its own

	Price     Price
	Window    int           // tokens of context, output included; 0: DefaultWindow
	MaxOutput int           // tokens; 0: DefaultMaxOutput, and longThoughts where the model thinks longer
	Timeout   time.Duration // of one try, in all; 0: DefaultTimeout
	// longest silence before the model's words, in which it may think, and within a call; 0: DefaultFirst, or three
	// tenths of a Timeout that is longer than usual
	First   time.Duration
	Idle    time.Duration // longest silence in the midst of its words; 0: DefaultIdle
	Retries int           // tries after the first; 0: DefaultRetries; negative: none

	HTTPClient *http.Client // its Transport and Jar are used; nil: http.DefaultTransport
	Logger     *slog.Logger // nil: nothing is logged
	// Observe is told of every call that has ended, with its retries; nil: nobody is. It must be safe for
	// concurrent use. The context is that of who asked.
	Observe func(context.Context, Call)

	Now   func() time.Time                           // nil: time.Now
	Sleep func(context.Context, time.Duration) error // nil: a timer; must return the context's error when it ends first
	Rand  func() float64                             // in [0, 1), for jitter; nil: math/rand
}

// Call is a call that has ended, for those who count.
type Call struct {
	Client string    // Config.Name
	Failed ErrorKind // empty: it was answered, or what asked no longer waits
	Ended  bool      // what asked no longer waits: the context ended
	Usage  Usage     // of the answer and of tries that broke off
	Took   time.Duration

	Model    string // Config.Model
	Provider string // who made the dialect that was spoken: openai or anthropic
	Host     string // of the endpoint
	Finish   string // Response.Finish
}

// Client calls one model. It is safe for concurrent use.
type Client struct {
	cfg   Config
	grown int    // tokens of an answer where the model thinks longer than Config.MaxOutput
	query string // that each address ends in, with its ?: Azure's api-version
	http  *http.Client
	log   *slog.Logger
	apart conversationsApart
}

// apiVersion is the query that Azure's addresses end in
// (https://learn.microsoft.com/azure/ai-foundry/openai/reference).
var apiVersion = lazyregexp.New(`^\?api-version=[\w.-]{1,40}$`)

// New checks cfg and returns a client. It makes no call.
func New(cfg Config) (*Client, error) {
	if cfg.Model == "" {
		return nil, errors.New("configure model: no model is named; set its name as the endpoint spells it")
	}
	cfg.Name, cfg.APIKey = cmp.Or(cfg.Name, cfg.Model), strings.TrimSpace(cfg.APIKey)
	base, query, _ := strings.Cut(cmp.Or(cfg.BaseURL, DefaultBaseURL), "?")
	if cfg.BaseURL = strings.TrimRight(base, "/"); query != "" {
		query = "?" + query
	}
	u, err := url.Parse(cfg.BaseURL + query)
	switch {
	case err != nil: // its text may hold a password: leave it out
		return nil, fmt.Errorf("configure model %s: the endpoint's address is not a URL", cfg.Name)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, fmt.Errorf("configure model %s: the endpoint's address must begin with https:// or http:// and name a "+
			"host", cfg.Name)
	case u.User != nil, u.Fragment != "", query != "" && !apiVersion.MatchString(query):
		return nil, fmt.Errorf("configure model %s: the endpoint's address must not hold a user, fragment or query, "+
			"but for Azure's api-version; set the key as the API key", cfg.Name)
	}
	if cfg.Window < 0 || cfg.MaxOutput < 0 || cfg.Timeout < 0 || cfg.First < 0 || cfg.Idle < 0 || cfg.Price.negative() {
		return nil, fmt.Errorf("configure model %s: window, output limit, timeout and prices must not be negative", cfg.Name)
	}
	if cfg.Protocol, err = ParseProtocol(string(cfg.Protocol)); err != nil {
		return nil, fmt.Errorf("configure model %s: %w", cfg.Name, err)
	}
	if cfg.Memory == nil {
		cfg.Memory = &Memory{}
	}
	cfg.Window = cmp.Or(cfg.Window, DefaultWindow)
	grown := min(cmp.Or(cfg.MaxOutput, longThoughts), cfg.Window/2)
	cfg.MaxOutput = min(cmp.Or(cfg.MaxOutput, DefaultMaxOutput), cfg.Window/2)
	cfg.Timeout = cmp.Or(cfg.Timeout, DefaultTimeout)
	cfg.First = min(cmp.Or(cfg.First, max(DefaultFirst, cfg.Timeout*3/10)), cfg.Timeout)
	cfg.Idle = min(cmp.Or(cfg.Idle, DefaultIdle), cfg.Timeout)
	cfg.Retries = max(0, cmp.Or(cfg.Retries, DefaultRetries))
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Sleep == nil {
		cfg.Sleep = sleepFor
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Float64
	}
	c := &Client{cfg: cfg, grown: grown, query: query, log: cfg.Logger.With("model", cfg.Name)}
	c.http = c.httpClient()
	return c, nil
}

// Key names the model at its endpoint, for [NewMemory].
func (c *Client) Key() string { return c.cfg.BaseURL + " " + c.cfg.Model }

// Learned is what the endpoint was found to want or to refuse.
func (c *Client) Learned() Learned { return c.cfg.Memory.of(c.Key()) }

// Weaker is what the model works without, for people: as learned, and the effort that it is configured with.
func (c *Client) Weaker() []string {
	l := c.Learned()
	if less := l.lessEffort(c.cfg.Reasoning); less != "" {
		l.Weaker = append(l.Weaker, less)
	}
	return l.Weaker
}

// Protocol is the dialect in which the model is asked as things stand.
func (c *Client) Protocol() Protocol { return c.protocolOf(c.Learned()) }

// Model is the model's name as the endpoint spells it.
func (c *Client) Model() string { return c.cfg.Model }

// Price is what the model costs.
func (c *Client) Price() Price { return c.cfg.Price }

// Window is the model's context in tokens, output included: as configured, or fewer where
// the endpoint was found to have fewer.
func (c *Client) Window() int {
	if n := c.Learned().Window; n > 0 {
		return min(c.cfg.Window, n)
	}
	return c.cfg.Window
}

// MaxOutput is the greatest number of tokens that a call may produce, at most
// half of Window.
func (c *Client) MaxOutput() int {
	l := c.Learned()
	if l.Window > 0 {
		return min(c.maxOutput(l), l.Window/4)
	}
	return c.maxOutput(l)
}

// maxOutput is how many tokens SIA allows an answer.
func (c *Client) maxOutput(l Learned) int {
	if l.wants(formLongThoughts) {
		return c.grown
	}
	return c.cfg.MaxOutput
}

// Complete makes one call and waits for the whole answer. The answer comes as a
// stream where the endpoint can do that. So a dead connection is noticed within
// Config.First, and a call that ctx ends stops costing at once.
//
// It tries again what may succeed, at most Config.Retries times. It gives up at
// once when the endpoint asks to wait longer than a minute, or longer than the
// context's deadline allows; [Error.RetryAfter] then says how long. When ctx
// ends, the error wraps its cause and is no [Error]. Every other error is one.
//
// With a Schema the answer's object stands in Response.JSON, whichever way the
// endpoint was asked. The caller checks whether it satisfies the schema. When no
// object can be found, the error is of [KindMalformed], and the Response still says
// what came and what it cost. With every error, Response.Lost says what was used by
// tries that broke off.
func (c *Client) Complete(ctx context.Context, req Request) (Response, error) {
	return c.completeWith(ctx, req, c.cfg.Retries)
}

func (c *Client) completeWith(ctx context.Context, req Request, retries int) (resp Response, err error) {
	if len(req.Messages) == 0 {
		return Response{}, &Error{Client: c.cfg.Name, Kind: KindBadRequest, Message: "the request has no messages"}
	}
	started := c.cfg.Now()
	defer func() { c.observe(ctx, started, resp, err) }()
	resp, tries, err := c.callRetrying(ctx, req, retries, started)
	if err != nil {
		return resp, err
	}
	c.log.DebugContext(ctx, "model answered", "input", resp.Usage.Input, "cached", resp.Usage.CachedInput,
		"cache_write", resp.Usage.CacheWrite, "output", resp.Usage.Output, "finish", resp.Finish,
		"tries", tries, "took", c.cfg.Now().Sub(started))
	if req.Schema == nil {
		return resp, nil
	}
	resp.JSON, err = ExtractJSON(resp.Message.Content)
	if err != nil {
		return resp, &Error{Client: c.cfg.Name, Kind: KindMalformed, Tries: tries, Message: c.scrubText(err.Error()),
			Err: err}
	}
	return resp, nil
}

// observe tells who counts of a call.
func (c *Client) observe(ctx context.Context, started time.Time, resp Response, err error) {
	if c.cfg.Observe == nil {
		return
	}
	call := Call{Client: c.cfg.Name, Usage: resp.Usage.Add(resp.Lost), Took: c.cfg.Now().Sub(started),
		Model: c.cfg.Model, Provider: "openai", Finish: resp.Finish}
	if u, err := url.Parse(c.cfg.BaseURL); err == nil {
		call.Host = u.Hostname()
	}
	if c.Protocol() == ProtocolMessages {
		call.Provider = "anthropic"
	}
	var known *Error
	if errors.As(err, &known) {
		call.Failed = known.Kind
	}
	call.Ended = err != nil && call.Failed == ""
	c.cfg.Observe(ctx, call)
}
