package github

import (
	"errors"
	"fmt"
	"net/http"
)

// maxRedirects is the maximum number of redirects of one write.
const maxRedirects = 3

var errTooManyRedirects = errors.New("a redirect leads on and on")

// redirector follows GitHub's redirects of a write to a moved repository with the same method; net/http would turn it
// into a GET. It leaves redirects of reads to net/http.
//
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
type redirector struct{ next http.RoundTripper }

func (r *redirector) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodGet || req.Method == http.MethodHead {
		return r.next.RoundTrip(req)
	}
	for try := 0; ; try++ {
		resp, err := r.next.RoundTrip(req)
		if err != nil || !isRedirect(resp.StatusCode) {
			return resp, err
		}
		to, err := resp.Location()
		if err != nil {
			return resp, nil //nolint:nilerr // without an address, the response is the refusal
		}
		discard(resp)
		if to.Host != req.URL.Host || to.Scheme != req.URL.Scheme {
			return nil, fmt.Errorf("%w: %s", errForeignHost, to.Host)
		}
		again, ok := rewind(req)
		if !ok || try == maxRedirects {
			return nil, errTooManyRedirects
		}
		again = again.Clone(req.Context())
		again.URL = to
		req = again
	}
}

// isRedirect reports whether a status asks for the same request at another address.
func isRedirect(code int) bool {
	switch code {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}
