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

// extendedMaxOutput is the maximum number of tokens of an answer, unless configured, once an answer was cut off while
// the model was thinking.
const extendedMaxOutput = 4 * DefaultMaxOutput

// Config describes one model at one endpoint.
type Config struct {
	Name string // for users and logs, such as "coder"; empty: Model
	// base URL, without /chat/completions, /responses or /messages; empty: OpenAI's. It may end in Azure's
	// ?api-version=….
	BaseURL string
	APIKey  string // may be empty for an endpoint without authentication
	Model   string // the endpoint's name of the model; required

	Protocol  Protocol // dialect; empty: ProtocolAuto
	Reasoning string   // reasoning effort, such as "high", in the endpoint's terms; empty: the model's default
	Memory    *Memory  // lessons about endpoints; nil: a new one

	Price     Price
	Window    int           // context window in tokens, output included; 0: DefaultWindow
	MaxOutput int           // tokens; 0: DefaultMaxOutput, or extendedMaxOutput if the model thinks longer
	Timeout   time.Duration // of one try; 0: DefaultTimeout
	// maximum silence before the text, while the model may think, and within a call; 0: DefaultFirst, or three tenths of
	// Timeout if that is longer
	First   time.Duration
	Idle    time.Duration // maximum silence within the text; 0: DefaultIdle
	Retries int           // retries after the first try; 0: DefaultRetries; negative: none

	HTTPClient *http.Client // only its Transport and Jar are used; nil: http.DefaultTransport
	Logger     *slog.Logger // nil: no logging
	// Observe, if not nil, is called after every call, including its retries, with the caller's context. It must be safe
	// for concurrent use.
	Observe func(context.Context, Call)

	Now   func() time.Time                           // nil: time.Now
	Sleep func(context.Context, time.Duration) error // nil: a timer; must return the context's error if that ends first
	Rand  func() float64                             // random number in [0, 1), for jitter; nil: math/rand
}

// Call describes a call that has ended, for metrics.
type Call struct {
	Client string    // Config.Name
	Failed ErrorKind // empty: it was answered or canceled
	Ended  bool      // canceled: the caller's context ended
	Usage  Usage     // of the answer and of failed tries
	Took   time.Duration

	Model    string // Config.Model
	Provider string // vendor of the dialect: openai or anthropic
	Host     string // of the endpoint
	Finish   string // Response.Finish
}

// Client calls one model. It is safe for concurrent use.
type Client struct {
	cfg            Config
	extendedOutput int    // maximum tokens of an answer if the model thinks longer than Config.MaxOutput
	query          string // query of each URL, with its ?: Azure's api-version
	http           *http.Client
	log            *slog.Logger
	restricted     conversationRestrictions
}

// apiVersion matches the query of Azure's URLs (https://learn.microsoft.com/azure/ai-foundry/openai/reference).
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
	case err != nil: // its text may contain a password, so it is left out
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
	extended := min(cmp.Or(cfg.MaxOutput, extendedMaxOutput), cfg.Window/2)
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
	c := &Client{cfg: cfg, extendedOutput: extended, query: query, log: cfg.Logger.With("model", cfg.Name)}
	c.http = c.httpClient()
	return c, nil
}

// Key identifies the model at its endpoint, for [NewMemory].
func (c *Client) Key() string { return c.cfg.BaseURL + " " + c.cfg.Model }

// Learned returns the lessons about the endpoint.
func (c *Client) Learned() Learned { return c.cfg.Memory.of(c.Key()) }

// Weaker returns the features that the model works without, for users: those in Learned, and a refused reasoning
// effort.
func (c *Client) Weaker() []string {
	l := c.Learned()
	if less := l.lessEffort(c.cfg.Reasoning); less != "" {
		l.Weaker = append(l.Weaker, less)
	}
	return l.Weaker
}

// Protocol returns the current dialect for the model.
func (c *Client) Protocol() Protocol { return c.protocolOf(c.Learned()) }

// Model returns the endpoint's name of the model.
func (c *Client) Model() string { return c.cfg.Model }

// Price returns the price of the model.
func (c *Client) Price() Price { return c.cfg.Price }

// Window returns the model's context window in tokens, output included: as configured, or as learned if that is
// smaller.
func (c *Client) Window() int {
	if n := c.Learned().Window; n > 0 {
		return min(c.cfg.Window, n)
	}
	return c.cfg.Window
}

// MaxOutput returns the maximum number of output tokens of a call, at most half of Window.
func (c *Client) MaxOutput() int {
	l := c.Learned()
	if l.Window > 0 {
		return min(c.maxOutput(l), l.Window/4)
	}
	return c.maxOutput(l)
}

// maxOutput returns the configured or extended maximum number of output tokens.
func (c *Client) maxOutput(l Learned) int {
	if l.uses(formExtendedOutput) {
		return c.extendedOutput
	}
	return c.cfg.MaxOutput
}

// Complete makes one call and waits for the complete answer. It streams the answer if the endpoint supports that, so
// that a dead connection is noticed within Config.First and a canceled call stops costing money at once.
//
// It retries temporary errors, at most Config.Retries times. It gives up if the endpoint asks to wait longer than a
// minute, or longer than the context's deadline; [Error.RetryAfter] then holds the time. If ctx ends, the error wraps
// its cause. All other errors are of type [Error].
//
// With a Schema, Response.JSON holds the answer's object, regardless of how the endpoint was asked. The caller must
// validate it. If the answer has no object, the error is of [KindMalformed], and the Response holds the answer and its
// cost. On any error, Response.Lost is the usage of tries that broke off.
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
	if err != nil && resp.isEmpty() && resp.Finish == FinishContentFilter {
		err = errWithheld
	}
	if err != nil {
		return resp, &Error{Client: c.cfg.Name, Kind: KindMalformed, Tries: tries, Message: c.scrubText(err.Error()),
			Err: err}
	}
	return resp, nil
}

// CallTo describes a call to a model, without its result.
func CallTo(c Config, p Protocol) Call {
	call := Call{Client: c.Name, Model: c.Model, Provider: "openai"}
	if u, err := url.Parse(c.BaseURL); err == nil {
		call.Host = u.Hostname()
	}
	if p == ProtocolMessages {
		call.Provider = "anthropic"
	}
	return call
}

// observe calls Config.Observe.
func (c *Client) observe(ctx context.Context, started time.Time, resp Response, err error) {
	if c.cfg.Observe == nil {
		return
	}
	call := CallTo(c.cfg, c.Protocol())
	call.Usage, call.Took, call.Finish = resp.Usage.Add(resp.Lost), c.cfg.Now().Sub(started), resp.Finish
	var known *Error
	if errors.As(err, &known) {
		call.Failed = known.Kind
	}
	call.Ended = err != nil && call.Failed == ""
	c.cfg.Observe(ctx, call)
}
