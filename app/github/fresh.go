package github

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// freshFor is how long what was just made may still be unknown to some of
	// GitHub's servers; a 404 within it is asked again.
	freshFor = 30 * time.Second
	// freshLater is when to ask again.
	freshLater = 2 * time.Second
)

// errFresh says that GitHub does not find what it was just told.
var errFresh = errors.New("GitHub does not find what was made a moment ago")

// freshTransport remembers what was made, by its path, and makes a temporary error
// of a 404 on it.
type freshTransport struct {
	next http.RoundTripper
	made *expiringMap[string, bool]
}

func (t *freshTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusCreated && req.Method == http.MethodPost:
		return resp, t.remember(resp)
	case resp.StatusCode == http.StatusNotFound && req.Method != http.MethodDelete && t.isFresh(req.URL.Path):
		discard(resp)
		return nil, errFresh
	}
	return resp, nil
}

// remember reads where the object that was made is, and puts the answer back.
func (t *freshTransport) remember(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	resp.Body.Close()
	if err != nil {
		return err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var made struct {
		URL      string `json:"url"`
		IssueURL string `json:"issue_url"` // of a pull request: the same as an issue
	}
	_ = json.Unmarshal(body, &made) // what is no object has no address
	addresses := []string{made.URL}
	if strings.Contains(made.URL, "/pulls/") {
		addresses = append(addresses, made.IssueURL)
	}
	for _, address := range addresses {
		if u, err := url.Parse(address); err == nil && strings.Contains(u.Path, "/repos/") {
			t.put(u.Path)
		}
	}
	return nil
}

func (t *freshTransport) put(path string) { t.made.put(strings.ToLower(path), true) }

// isFresh reports whether a path, or what it is below, was made a moment ago.
func (t *freshTransport) isFresh(path string) bool {
	path = strings.ToLower(path)
	for strings.Contains(path, "/repos/") {
		if _, ok := t.made.get(path); ok {
			return true
		}
		path = path[:strings.LastIndexByte(path, '/')]
	}
	return false
}

// Pushed tells that the app has just pushed a commit to a branch: for a moment,
// not every server of GitHub has heard of them.
func (r *Repo) Pushed(branch, sha string) {
	if r.err != nil {
		return
	}
	root := r.app.api.Path + "repos/" + r.repo.String()
	for _, path := range []string{"/git/ref/heads/" + branch, "/branches/" + branch, "/commits/" + sha} {
		r.fresh.put(root + path)
	}
}
