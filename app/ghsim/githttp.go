package ghsim

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var gitPath = regexp.MustCompile(`^/([\w.-]+)/([\w.-]+?)(?:\.git)?(/info/refs|/git-upload-pack|/git-receive-pack|/HEAD|/objects/.*)$`)

func isGit(path string) bool { return gitPath.MatchString(path) }

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
      echo "refusing to allow a GitHub App to create or update workflow \` + "`$file\\`" + ` without \` + "`workflows\\`" + ` permission" >&2
      status=1
    fi
  fi
done
exit $status
`

// serveGit serves git's smart HTTP protocol through git http-backend.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request) {
	lost := s.fault(r)
	if lost != nil && !lost.After {
		lost.write(w)
		return
	}
	m := gitPath.FindStringSubmatch(r.URL.EscapedPath())
	write := m[3] == "/git-receive-pack" || r.URL.Query().Get("service") == "git-receive-pack"
	repo, a, env, code := s.gitAccess(r, m[1]+"/"+m[2], write)
	if code != 0 {
		if code == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		}
		http.Error(w, http.StatusText(code), code)
		return
	}
	push := m[3] == "/git-receive-pack"
	if push {
		select { // one receive-pack at a time, so that what moved is known to be its doing
		case repo.push <- struct{}{}:
			defer func() { <-repo.push }()
		case <-r.Context().Done():
			return
		}
	}
	r, done, err := withLength(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer done()
	r2 := r.Clone(r.Context())
	r2.URL = &url.URL{Path: "/" + filepath.Base(repo.dir) + m[3], RawQuery: r.URL.RawQuery}
	r2.Header.Del("Authorization")
	h := &cgi.Handler{
		Path: filepath.Join(s.git.exec, "git-http-backend"), Dir: repo.dir,
		Env: append(append(s.git.env(), "GIT_PROJECT_ROOT="+s.git.root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER="+a.user.login,
			"GIT_PROTOCOL="+r.Header.Get("Git-Protocol")), env...),
		Stderr: io.Discard,
	}
	if !push {
		h.ServeHTTP(w, r2)
		return
	}
	rec := &reply{header: http.Header{}, code: http.StatusOK} // the answer waits until the push has had its consequences
	h.ServeHTTP(rec, r2)
	s.mu.Lock()
	if err := s.refsMoved(repo, a); err != nil {
		s.log.Error("after a push", "repo", repo.fullName(), "error", err)
	}
	s.mu.Unlock()
	if lost != nil {
		lost.write(w) // the push happened, and nobody hears of it
		return
	}
	rec.sendTo(w)
}

// gitAccess says which repository a git request is for and whose it is, or the
// HTTP status that refuses it.
func (s *Server) gitAccess(r *http.Request, name string, write bool) (*repository, actor, []string, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	repo := s.repos[lower(name)]
	raw := credentials(r)
	if raw == "" {
		if repo != nil && !repo.private && !write {
			return repo, actor{user: repo.owner}, nil, 0
		}
		return nil, actor{}, nil, http.StatusUnauthorized
	}
	t, err := s.authToken(raw)
	if err != nil {
		return nil, actor{}, nil, http.StatusUnauthorized
	}
	level := "read"
	if write {
		level = "write"
	}
	switch {
	case repo == nil || !t.has(repo):
		return nil, actor{}, nil, http.StatusNotFound
	case !t.may("contents", level):
		return nil, actor{}, nil, http.StatusForbidden
	}
	var env []string
	if !t.may("workflows", "write") {
		env = append(env, "GHSIM_NO_WORKFLOWS=1")
	}
	var protected []string
	for _, of := range []map[string][]string{repo.protection, repo.rules} {
		for b := range of {
			protected = append(protected, "refs/heads/"+b)
		}
	}
	slices.Sort(protected)
	env = append(env, "GHSIM_PROTECTED="+strings.Join(slices.Compact(protected), " "))
	return repo, actor{t.inst.app.bot, t.inst.app, t.inst}, env, 0
}

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
