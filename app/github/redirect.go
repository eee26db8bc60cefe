package github

import (
	"errors"
	"fmt"
	"net/http"
)

// maxRedirects bounds how often one write is sent on.
const maxRedirects = 3

var errRedirects = errors.New("a redirect leads on and on")

// redirector sends a write on to where GitHub says its repository is now, as the
// same write: net/http would make a GET of it. Reads it leaves to net/http.
//
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
type redirector struct{ next http.RoundTripper }

func (r *redirector) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet || req.Method == http.MethodHead {
		return r.next.RoundTrip(req)
	}
	for try := 0; ; try++ {
		resp, err := r.next.RoundTrip(req)
		if err != nil || !sentOn(resp.StatusCode) {
			return resp, err
		}
		to, err := resp.Location()
		if err != nil {
			return resp, nil //nolint:nilerr // it says no address: the answer itself is the refusal
		}
		discard(resp)
		if to.Host != req.URL.Host || to.Scheme != req.URL.Scheme {
			return nil, fmt.Errorf("%w: %s", errForeignHost, to.Host)
		}
		again, ok := rewound(req)
		if !ok || try == maxRedirects {
			return nil, errRedirects
		}
		again = again.Clone(req.Context())
		again.URL = to
		req = again
	}
}

// sentOn reports whether an answer asks for the same request elsewhere.
func sentOn(code int) bool {
	switch code {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}
