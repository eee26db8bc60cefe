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

// TokenFunc returns the token for one request. It is called for every request,
// so it should keep a token that is still valid. Safe for concurrent use.
type TokenFunc func(ctx context.Context) (string, error)

// Remote is a repository on a server.
type Remote struct {
	// Key names the repository in the cache for as long as it lives, such as
	// "<installation>/<repository id>". Repositories with different rights of
	// access need different keys.
	Key string
	// URL is the clone URL, http or https. A user and password in it are used
	// when Token is nil, and never shown or stored.
	URL string
	// Token is sent as basic authentication of the user "x-access-token", as GitHub
	// wants it of the installation of an app. Nil asks without credentials.
	Token TokenFunc
	// Other gives another token to try after the server answered 404 to a request with the token
	// refused, or 401, once: then it is expired or was revoked. "" gives up. Nil tries none: what is
	// not found is not there.
	Other func(ctx context.Context, refused string, expired bool) (string, error)
	// Took gets a token of Other's that the server took. Nil where nobody wants to know.
	Took func(token string)
}

// remoteEndpoint is where a remote is found, without credentials.
type remoteEndpoint struct {
	base     *url.URL
	password func(ctx context.Context) (user, password string, err error) // nil = ask without
}

func parseRemote(r Remote) (remoteEndpoint, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		// The cause quotes the URL, which may hold a password.
		return remoteEndpoint{}, errors.New("remote URL cannot be parsed")
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return remoteEndpoint{}, fmt.Errorf("remote URL must be http or https, got scheme %q", u.Scheme)
	}
	if r.Key == "" {
		return remoteEndpoint{}, errors.New("remote has no key")
	}
	e := remoteEndpoint{}
	if user := u.User; user != nil {
		e.password = func(context.Context) (string, string, error) {
			p, _ := user.Password()
			return user.Username(), p, nil
		}
	}
	if r.Token != nil {
		e.password = func(ctx context.Context) (string, string, error) {
			t, err := r.Token(ctx)
			return "x-access-token", t, err
		}
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	e.base = u
	return e, nil
}

// credentials are the user and the password of a request; none where it is made without.
func (e remoteEndpoint) credentials(ctx context.Context) (user, password string, err error) {
	if e.password == nil {
		return "", "", nil
	}
	user, password, err = e.password(ctx)
	if err != nil {
		return "", "", fmt.Errorf("get token: %w", err)
	}
	return user, password, nil
}

var shaPattern = regexp.MustCompile(`^[0-9a-f]{40}$`)

// parseSHA accepts a full SHA-1 in lower case and nothing else: what it lets
// through goes into requests and file names.
func parseSHA(sha string) (plumbing.Hash, error) {
	if !shaPattern.MatchString(sha) {
		return plumbing.ZeroHash, fmt.Errorf("commit id %q: want 40 hexadecimal digits", cleanText(sha, 60))
	}
	return plumbing.NewHash(sha), nil
}

// branchRef is the full name of a branch, when git would allow it.
func branchRef(branch string) (string, error) {
	name := plumbing.NewBranchReferenceName(branch)
	if err := name.Validate(); err != nil || strings.ContainsAny(branch, " ~^:?*[\\\x7f") || len(branch) > 240 {
		return "", fmt.Errorf("branch name %q is not one that git allows", cleanText(branch, 80))
	}
	return name.String(), nil
}

// cleanText makes a stranger's text fit for one line of a log: control characters
// become spaces and it ends after at most limit bytes.
func cleanText(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) }),
		" ")
	s = strings.ToValidUTF8(s, "�")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}
