package github

import (
	"bytes"
	"fmt"
	"net/http"
	"time"
)

// appAuth authenticates requests as the app. It refuses requests to other hosts than GitHub.
type appAuth struct {
	next http.RoundTripper // signs with the private key
	host string
}

func (a *appAuth) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := checkHost(a.host, req); err != nil {
		return nil, err
	}
	req = req.Clone(req.Context()) // next changes the headers
	return a.next.RoundTrip(req)
}

// installationAuth authenticates requests with a token of the installation. It discards a token that GitHub refuses,
// and retries the request once with a fresh one.
type installationAuth struct {
	next   http.RoundTripper
	host   string
	tokens *tokenSource
}

func (a *installationAuth) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := checkHost(a.host, req); err != nil {
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
		again, ok := rewind(req)
		if try == 2 || !ok {
			return resp, nil
		}
		discard(resp)
		req = again
	}
}

// send sends a request with a token. If a new token is refused, it waits and retries with the same one: another would
// be newer still.
func (a *installationAuth) send(req *http.Request, token string) (*http.Response, error) {
	for wait := time.Second; ; wait *= 2 {
		signed := req.Clone(req.Context())
		signed.Header.Set("Authorization", "token "+token)
		signed.Header.Del("Cache-Control") // meant for our cache
		resp, err := a.next.RoundTrip(signed)
		if err != nil || wait > newTokenWait || !a.tokens.isNew(token) ||
			resp.StatusCode != http.StatusUnauthorized && !isNotAccessible(resp) {
			return resp, err
		}
		again, ok := rewind(req)
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

// isNotAccessible reports whether a token is refused for a lack of permissions.
func isNotAccessible(resp *http.Response) bool {
	if resp.StatusCode != http.StatusForbidden {
		return false
	}
	body, _ := peekBody(resp)
	return bytes.Contains(bytes.ToLower(body), []byte("not accessible by integration"))
}

// checkHost refuses to authenticate a request that a redirect sent to another host, which would get the token.
func checkHost(host string, req *http.Request) error {
	if req.URL.Host == host {
		return nil
	}
	closeBody(req)
	return fmt.Errorf("%w: %s", errForeignHost, req.URL.Host)
}
