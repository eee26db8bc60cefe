package llm

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/text"
)

// maxAnswerBytes bounds an answer that comes in one piece. Streams have bounds of their own.
const maxAnswerBytes = 32 << 20

// maxErrorBytes bounds what is read of an endpoint's words about an error.
const maxErrorBytes = 64 << 10

// errAnswerTooLarge ends the reading of an answer that exceeds maxAnswerBytes, or of a stream that exceeds its bounds.
var errAnswerTooLarge = errors.New("the answer is too large")

// redirectError says that the endpoint redirects elsewhere. Such redirects are not followed: the
// prompt and the key would go where nobody configured.
type redirectError struct{ to string }

func (e redirectError) Error() string {
	return "the endpoint redirects to " + e.to + "; configure the address that it redirects to"
}

// maxRedirects is how often one request is redirected.
const maxRedirects = 3

// checkRedirect follows redirects within an endpoint that ask for the same request again.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if req.URL.Scheme == first.URL.Scheme && req.URL.Host == first.URL.Host && req.Method == first.Method &&
		len(via) <= maxRedirects {
		return nil
	}
	return redirectError{req.URL.Scheme + "://" + req.URL.Host + req.URL.Path}
}

// seenAnswer is what one try saw of the HTTP answer.
type seenAnswer struct {
	status     int
	retryAfter time.Duration
	streamed   bool // the answer comes as events
	begun      bool // something of it came
	gateway    bool // what answers is a gateway that passes cache marks on
}

// see notes what the head of an answer says.
func (s *seenAnswer) see(resp *http.Response, now time.Time) {
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
	hc.Timeout, hc.CheckRedirect = 0, checkRedirect // each try has a timeout of its own, see Config.Timeout
	return hc
}

// longestWait is the most that an endpoint is taken to ask for.
const longestWait = 24 * time.Hour

// retryAfter reads how long an endpoint asks to wait: Retry-After, or retry-after-ms, which OpenAI and
// Azure send. Nonsense is 0.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 &&
		ms <= float64(longestWait/time.Millisecond) {
		return time.Duration(ms * float64(time.Millisecond))
	}
	wait, _ := text.RetryAfter(h.Get("Retry-After"), now)
	return min(wait, longestWait)
}
