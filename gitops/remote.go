package gitops

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// TokenFunc returns the token for one request. It is called for every request, so it should cache a valid token. Safe
// for concurrent use.
type TokenFunc func(ctx context.Context) (string, error)

// Remote is a repository on a server.
type Remote struct {
	// Key is the repository's permanent name in the cache, such as "<installation>/<repository id>". Repositories with
	// different access rights need different keys.
	Key string
	// URL is the clone URL, http or https, without user and password.
	URL string
	// Token is sent as basic authentication of the user "x-access-token", as GitHub requires for installation tokens. Nil
	// sends no credentials.
	Token TokenFunc
	// Other returns another token to try after the server answered 404 to the token refused. After a 401, expired is
	// true, and it is called once: the token expired or was revoked. "" gives up. If Other is nil, a 404 or 401 is final.
	Other func(ctx context.Context, refused string, expired bool) (string, error)
	// Took is called with a token from Other that the server accepted. It may be nil.
	Took func(token string)
}

// repositoryURL parses and checks the URL of a remote.
func repositoryURL(r Remote) (*url.URL, error) {
	u, err := url.Parse(r.URL)
	switch {
	case err != nil: // the cause quotes the URL, which may hold a password
		return nil, errors.New("remote URL cannot be parsed")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("remote URL must be http or https, got scheme %q", u.Scheme)
	case u.User != nil:
		return nil, errors.New("remote URL must have no user and password")
	case r.Key == "":
		return nil, errors.New("remote has no key")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}, nil
}

var shaPattern = regexp.MustCompile(`^[0-9a-f]{40}$`)

// parseSHA accepts only a full SHA-1 in lower case: the result is used in requests and file names.
func parseSHA(sha string) (plumbing.Hash, error) {
	if !shaPattern.MatchString(sha) {
		return plumbing.ZeroHash, fmt.Errorf("commit id %q: want 40 hexadecimal digits", cleanText(sha, 60))
	}
	return plumbing.NewHash(sha), nil
}

// branchRef returns the full name of a branch, if git allows it.
func branchRef(branch string) (string, error) {
	name := plumbing.NewBranchReferenceName(branch)
	if err := name.Validate(); err != nil || strings.ContainsAny(branch, " ~^:?*[\\\x7f") || len(branch) > 240 {
		return "", fmt.Errorf("branch name %q is not one that git allows", cleanText(branch, 80))
	}
	return name.String(), nil
}

// cleanText makes untrusted text fit for one line of a log: control characters become spaces, and it has at most limit
// bytes.
func cleanText(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) }),
		" ")
	s = strings.ToValidUTF8(s, "�")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}
