package llm

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/text"
)

// maxAnswerBytes is the maximum size of an answer that is not streamed. Streams have limits of their own.
const maxAnswerBytes = 32 << 20

// maxErrorBytes is the maximum size of an error that is read.
const maxErrorBytes = 64 << 10

// errAnswerTooLarge means that an answer exceeds maxAnswerBytes, or a stream its limits.
var errAnswerTooLarge = errors.New("the answer is too large")

// redirectError means that the endpoint redirects to another host or method. Such redirects are not followed: they
// would send the prompt and the key to an unconfigured host.
type redirectError struct{ to string }

func (e redirectError) Error() string {
	return "the endpoint redirects to " + e.to + "; configure the address that it redirects to"
}

// maxRedirects is the maximum number of redirects of a request.
const maxRedirects = 3

// checkRedirect allows redirects to the same host with the same method.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if req.URL.Scheme == first.URL.Scheme && req.URL.Host == first.URL.Host && req.Method == first.Method &&
		len(via) <= maxRedirects {
		return nil
	}
	return redirectError{req.URL.Scheme + "://" + req.URL.Host + req.URL.Path}
}

// responseMeta is the metadata of the response to one try.
type responseMeta struct {
	status     int
	retryAfter time.Duration
	streamed   bool // the answer is a stream of events
	started    bool // part of the body was received
	gateway    bool // the endpoint is a gateway that passes on cache marks
}

// record records the header of a response.
func (s *responseMeta) record(resp *http.Response, now time.Time) {
	s.status = resp.StatusCode
	s.streamed = strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
	s.retryAfter = retryAfter(resp.Header, now)
	s.gateway = resp.Header.Get("X-Litellm-Version") != "" // https://docs.litellm.ai/docs/proxy/response_headers
}

func (c *Client) httpClient() *http.Client {
	hc := &http.Client{}
	if c.cfg.HTTPClient != nil {
		*hc = *c.cfg.HTTPClient
	}
	hc.Timeout, hc.CheckRedirect = 0, checkRedirect // each try has its own timeout, see Config.Timeout
	return hc
}

// maxRetryAfter is the maximum wait that an endpoint can ask for.
const maxRetryAfter = 24 * time.Hour

// retryAfter returns how long an endpoint asks to wait: Retry-After, or retry-after-ms from OpenAI and Azure; 0: unset
// or invalid.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 &&
		ms <= float64(maxRetryAfter/time.Millisecond) {
		return time.Duration(ms * float64(time.Millisecond))
	}
	wait, _ := text.RetryAfter(h.Get("Retry-After"), now)
	return min(wait, maxRetryAfter)
}
