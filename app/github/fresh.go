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

	"github.com/sia-bot/sia/app/expiring"
)

const (
	// freshPeriod is how long some of GitHub's replicas may not have a new object; a 404 within it is temporary.
	freshPeriod = 30 * time.Second
	// freshRetryAfter is the wait before asking again.
	freshRetryAfter = 2 * time.Second
)

// errNotReplicated reports that GitHub does not find an object that was just created.
var errNotReplicated = errors.New("GitHub does not find what was made a moment ago")

// freshTransport remembers the paths of created objects, and turns a 404 on them into a temporary error.
type freshTransport struct {
	next    http.RoundTripper
	created *expiring.Map[string, bool]
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
		return nil, errNotReplicated
	}
	return resp, nil
}

// remember stores the path of the created object, and leaves the body readable.
func (t *freshTransport) remember(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	resp.Body.Close()
	if err != nil {
		return err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var made struct {
		URL      string `json:"url"`
		IssueURL string `json:"issue_url"` // of a pull request, which is an issue as well
	}
	_ = json.Unmarshal(body, &made) // a body that is no object has no address
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

func (t *freshTransport) put(path string) { t.created.Put(strings.ToLower(path), true) }

// isFresh reports whether a path, or one of its parents, was created recently.
func (t *freshTransport) isFresh(path string) bool {
	path = strings.ToLower(path)
	for strings.Contains(path, "/repos/") {
		if _, ok := t.created.Get(path); ok {
			return true
		}
		path = path[:strings.LastIndexByte(path, '/')]
	}
	return false
}

// Pushed records that the app has just pushed a commit to a branch: for moments, some of GitHub's replicas don't have
// it.
func (r *Repo) Pushed(branch, sha string) {
	if r.fresh == nil {
		return
	}
	root := r.app.api.Path + "repos/" + r.repo.String()
	for _, path := range []string{"/git/ref/heads/" + branch, "/branches/" + branch, "/commits/" + sha} {
		r.fresh.put(root + path)
	}
}
