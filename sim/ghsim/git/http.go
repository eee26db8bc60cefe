package git

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var requestPath = regexp.MustCompile(`^/([\w.-]+)/([\w.-]+?)(?:\.git)?` +
	`(/info/refs|/git-upload-pack|/git-receive-pack|/HEAD|/objects/.*)$`)

// Request is one request of git's smart HTTP protocol.
type Request struct {
	Repo  string // owner/name
	Write bool   // it pushes, or asks what it may push to
	Push  bool   // it carries the push itself
	rest  string // of the path, after the repository
}

// ParseRequest reads which repository a request is for and what it wants there;
// ok is false for a request that is not git's.
func ParseRequest(r *http.Request) (req Request, ok bool) {
	m := requestPath.FindStringSubmatch(r.URL.EscapedPath())
	if m == nil {
		return Request{}, false
	}
	push := m[3] == "/git-receive-pack"
	return Request{Repo: m[1] + "/" + m[2], Push: push, rest: m[3],
		Write: push || r.URL.Query().Get("service") == "git-receive-pack"}, true
}

// Access is what whoever sent a request may do.
type Access struct {
	Dir         string // of the repository
	User        string
	Protected   []string // full names of the refs that can't be pushed to
	NoWorkflows bool     // workflow files can't be changed
}

// Serve answers a request through git http-backend.
func (g *Store) Serve(w http.ResponseWriter, r *http.Request, req Request, a Access) {
	r, done, err := withLength(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer done()
	inside := r.Clone(r.Context())
	inside.URL = &url.URL{Path: "/" + filepath.Base(a.Dir) + req.rest, RawQuery: r.URL.RawQuery}
	inside.Header.Del("Authorization")
	env := append(g.env(), "GIT_PROJECT_ROOT="+g.root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER="+a.User,
		"GIT_PROTOCOL="+r.Header.Get("Git-Protocol"), "GHSIM_PROTECTED="+strings.Join(a.Protected, " "))
	if a.NoWorkflows {
		env = append(env, "GHSIM_NO_WORKFLOWS=1")
	}
	backend := &cgi.Handler{Path: filepath.Join(g.exec, "git-http-backend"), Dir: a.Dir, Env: env, Stderr: io.Discard}
	backend.ServeHTTP(w, inside)
}

// preReceive refuses what GitHub refuses: pushes of apps to protected branches,
// and changes of workflows by apps without the workflows permission.
const preReceive = `#!/bin/sh
status=0
while read old new ref; do
  for p in $GHSIM_PROTECTED; do
    if [ "$ref" = "$p" ]; then
      echo "error: GH006: Protected branch update failed for $ref." >&2
      echo "error: Required status checks are expected." >&2
      status=1
    fi
  done
  case $new in *[!0]*) ;; *) continue ;; esac
  if [ -n "$GHSIM_NO_WORKFLOWS" ]; then
    case $old in *[!0]*) range="$old $new" ;; *)
      range="$(git merge-base HEAD $new 2>/dev/null || git hash-object -t tree /dev/null) $new" ;;
    esac
    file=$(git diff-tree -r --name-only $range -- .github/workflows 2>/dev/null | head -n 1)
    if [ -n "$file" ]; then
      echo "refusing to allow a GitHub App to create or update workflow \` + "`$file\\`" +
	` without \` + "`workflows\\`" + ` permission" >&2
      status=1
    fi
  fi
done
exit $status
`

// withLength gives a chunked request a length, which CGI wants.
func withLength(r *http.Request) (*http.Request, func(), error) {
	if r.ContentLength >= 0 {
		return r, func() {}, nil
	}
	f, err := os.CreateTemp("", "ghsim-push-")
	if err != nil {
		return nil, nil, fmt.Errorf("keeping a push: %w", err)
	}
	done := func() { f.Close(); os.Remove(f.Name()) }
	n, err := io.Copy(f, r.Body)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		done()
		return nil, nil, fmt.Errorf("reading a push: %w", err)
	}
	r2 := r.Clone(r.Context())
	r2.Body, r2.ContentLength, r2.TransferEncoding = f, n, nil
	r2.Header.Del("Transfer-Encoding")
	return r2, done, nil
}
