package github

import (
	"bytes"
	"fmt"
	"net/http"
	"time"
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
		resp, err := a.send(req, token)
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

// send sends a request with a token. Where a new one is refused it waits, and sends the request again with the same:
// another would be newer still.
func (a *installationAuth) send(req *http.Request, token string) (*http.Response, error) {
	for wait := time.Second; ; wait *= 2 {
		signed := req.Clone(req.Context())
		signed.Header.Set("Authorization", "token "+token)
		signed.Header.Del("Cache-Control") // it was for the cache above
		resp, err := a.next.RoundTrip(signed)
		if err != nil || wait > newTokenWait || !a.tokens.isNew(token) ||
			resp.StatusCode != http.StatusUnauthorized && !saysNotAccessible(resp) {
			return resp, err
		}
		again, ok := rewound(req)
		if !ok {
			return resp, nil
		}
		discard(resp)
		if err := a.tokens.app.cfg.Sleep(req.Context(), wait); err != nil {
			return nil, err
		}
		req = again
	}
}

// saysNotAccessible reports whether a token is refused for what it may not do.
func saysNotAccessible(resp *http.Response) bool {
	if resp.StatusCode != http.StatusForbidden {
		return false
	}
	body, _ := beginning(resp)
	return bytes.Contains(bytes.ToLower(body), []byte("not accessible by integration"))
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
