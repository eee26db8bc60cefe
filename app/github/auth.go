package github

import (
	"fmt"
	"net/http"
)

// appAuth signs requests in as the app, and only those that go to GitHub.
type appAuth struct {
	next http.RoundTripper // signs with the private key
	host string
}

func (a *appAuth) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := onlyTo(a.host, req); err != nil {
		return nil, err
	}
	req = req.Clone(req.Context()) // next changes the headers
	return a.next.RoundTrip(req)
}

// installationAuth signs requests in with a token of the installation. A token
// that GitHub refuses is thrown away and the request sent once more with a
// fresh one.
type installationAuth struct {
	next   http.RoundTripper
	host   string
	tokens *tokenSource
}

func (a *installationAuth) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := onlyTo(a.host, req); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		token, err := a.tokens.token(req.Context())
		if err != nil {
			closeBody(req)
			return nil, err
		}
		signed := req.Clone(req.Context())
		signed.Header.Set("Authorization", "token "+token)
		signed.Header.Del("Cache-Control") // it was for the cache above
		resp, err := a.next.RoundTrip(signed)
		if err != nil || resp.StatusCode != http.StatusUnauthorized {
			return resp, err
		}
		a.tokens.drop(token)
		again, ok := rewound(req)
		if try == 2 || !ok {
			return resp, nil
		}
		discard(resp)
		req = again
	}
}

// onlyTo refuses to sign a request that a redirect sent to another host: the
// token would go there too.
func onlyTo(host string, req *http.Request) error {
	if req.URL.Host == host {
		return nil
	}
	closeBody(req)
	return fmt.Errorf("%w: %s", errForeignHost, req.URL.Host)
}
