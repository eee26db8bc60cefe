package git

import (
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
)

var requestPath = regexp.MustCompile(`^/([\w.-]+)/([\w.-]+?)(?:\.git)?` +
	`(/info/refs|/git-upload-pack|/git-receive-pack)$`)

// Request is one request of git's smart HTTP protocol.
type Request struct {
	Repo  string // owner/name
	Write bool   // it pushes, or asks for the refs before a push
	Push  bool   // it carries the push itself
	rest  string // of the path, after the repository
}

// ParseRequest reads a request's repository and operation; ok is false for a request that is not git's.
func ParseRequest(r *http.Request) (req Request, ok bool) {
	m := requestPath.FindStringSubmatch(r.URL.EscapedPath())
	if m == nil {
		return Request{}, false
	}
	push := m[3] == "/git-receive-pack"
	return Request{Repo: m[1] + "/" + m[2], Push: push, rest: m[3],
		Write: push || r.URL.Query().Get("service") == "git-receive-pack"}, true
}

// Access is the permissions of a request's sender.
type Access struct {
	Dir         string // of the repository
	User        string
	Protected   []string // full names of the refs that can't be pushed to
	NoForce     []string // full names of the refs that only move forward
	Queued      []string // full names of the branches of pull requests in a merge queue
	NoWorkflows bool     // workflow files can't be changed
	FileSize    int      // the most bytes of a pushed file; 0: no limit
	Secret      string   // what no pushed file may contain; empty: no restriction
}

// Serve answers a request as git http-backend does, which would need another process each time.
// https://git-scm.com/docs/http-protocol
func (g *Store) Serve(w http.ResponseWriter, r *http.Request, req Request, a Access) {
	service, kind, args := strings.TrimPrefix(req.rest, "/"), "result", []string{"--stateless-rpc", "."}
	body, typed := r.Body, r.Header.Get("Content-Type") == "application/x-"+service+"-request"
	if req.rest == "/info/refs" {
		service, kind, args = r.URL.Query().Get("service"), "advertisement", append(args, "--http-backend-info-refs")
		body, typed = http.NoBody, true
	}
	switch {
	case service != "git-upload-pack" && service != "git-receive-pack":
		http.Error(w, "Please upgrade your git client.", http.StatusForbidden)
		return
	case r.Method != map[bool]string{true: http.MethodGet, false: http.MethodPost}[kind == "advertisement"]:
		http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
		return
	case !typed:
		http.Error(w, http.StatusText(http.StatusUnsupportedMediaType), http.StatusUnsupportedMediaType)
		return
	case r.Header.Get("Content-Encoding") == "gzip":
		z, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = z
	}
	w.Header().Set("Content-Type", "application/x-"+service+"-"+kind)
	w.Header().Set("Cache-Control", "no-cache, max-age=0, must-revalidate")
	protocol := r.Header.Get("Git-Protocol")
	if kind == "advertisement" && !strings.Contains(protocol, "version=2") {
		line := "# service=" + service + "\n"
		fmt.Fprintf(w, "%04x%s0000", len(line)+len("0000"), line)
	}
	args = append([]string{strings.TrimPrefix(service, "git-")}, args...)
	env := []string{"GIT_PROTOCOL=" + protocol, "GIT_COMMITTER_NAME=" + a.User, "GIT_COMMITTER_EMAIL=" + a.User + "@http",
		"GHSIM_PROTECTED=" + strings.Join(a.Protected, " "), fmt.Sprintf("GHSIM_FILE_SIZE=%d", a.FileSize),
		"GHSIM_SECRET=" + a.Secret, "GHSIM_NO_FORCE=" + strings.Join(a.NoForce, " "),
		"GHSIM_QUEUED=" + strings.Join(a.Queued, " ")}
	switch {
	case a.NoWorkflows:
		env = append(env, "GHSIM_NO_WORKFLOWS=1")
	case len(a.Protected)+len(a.NoForce)+len(a.Queued)+a.FileSize == 0 && a.Secret == "": // there is nothing to refuse
		args = append([]string{"-c", "core.hooksPath=/dev/null"}, args...)
	}
	// A push continues when the client disconnects.
	ctx, cancel := context.WithTimeout(g.ctx, gitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout = a.Dir, append(g.env(), env...), body, w
	_ = cmd.Run() // the answer has begun, with git's messages
}

// preReceive refuses what GitHub refuses: pushes of apps to protected branches, and to those in a merge queue, forced
// pushes where a rule forbids them, changes of workflows by apps without the workflows permission, files that are too
// large, and secrets.
// https://github.com/git-lfs/git-lfs/issues/6330
// https://github.com/Commando-X/vuln-bank/issues/53
// https://github.com/SharezoneApp/sharezone-app/pull/605
// https://github.com/dependabot/dependabot-core/pull/9439
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
  for p in $GHSIM_QUEUED; do
    if [ "$ref" = "$p" ]; then
      cat >&2 <<END
error: GH006: Protected branch update failed for $ref.
error: A pull request for this branch has been added to a merge queue. Branches that
are queued for merging cannot be updated. To modify this branch, dequeue the
associated pull request.
END
      status=1
    fi
  done
  case $new in *[!0]*) ;; *) continue ;; esac
  for p in $GHSIM_NO_FORCE; do
    case $old in *[!0]*) ;; *) continue ;; esac
    if [ "$ref" = "$p" ] && ! git merge-base --is-ancestor $old $new; then
      echo "error: GH013: Repository rule violations found for $ref." >&2
      echo "Review all repository rules at https://github.com/acme/shop/rules" >&2
      echo "" >&2
      echo "- Cannot force-push to this branch" >&2
      status=1
    fi
  done
  if [ "${GHSIM_FILE_SIZE:-0}" -gt 0 ]; then
    sizes="$(git rev-list --objects $new --not --all |
      git cat-file --batch-check='%(objecttype) %(objectsize) %(rest)')"
    large=$(echo "$sizes" | while read type size path; do
      [ "$type" = blob ] && [ $size -gt $GHSIM_FILE_SIZE ] || continue
      echo "error: File $path is $size bytes; this exceeds GitHub's file size limit of $GHSIM_FILE_SIZE bytes"
    done)
    if [ -n "$large" ]; then
      echo "error: Trace: 5d1c3a4e0f7b2968d1c3a4e0f7b2968d" >&2
      echo "error: See https://gh.io/lfs for more information." >&2
      echo "$large" >&2
      echo "error: GH001: Large files detected. You may want to try Git Large File Storage." >&2
      status=1
    fi
  fi
  found=
  [ -n "$GHSIM_SECRET" ] && found=$(git grep -n -F -e "$GHSIM_SECRET" $new -- | cut -d: -f2,3 | head -n 1)
  if [ -n "$found" ]; then
    line="$(printf '%100s' '' | sed 's/ /—/g')"
    cat >&2 <<END
error: GH013: Repository rule violations found for $ref.

- GITHUB PUSH PROTECTION
  $line
    Resolve the following violations before pushing again

    - Push cannot contain secrets


     (?) Learn how to resolve a blocked push
     https://docs.github.com/code-security/secret-scanning/working-with-secret-scanning-and-push-protection/` +
	`working-with-push-protection-from-the-command-line#resolving-a-blocked-push


      —— A Token of Ours $line
       locations:
         - commit: $new
           path: $found

       (?) To push, remove secret from commit(s) or follow this URL to allow the secret.
       https://github.com/acme/shop/security/secret-scanning/unblock-secret/1
END
    status=1
  fi
  if [ -n "$GHSIM_NO_WORKFLOWS" ]; then
    case $old in *[!0]*) range="$old $new" ;; *)
      range="$(git merge-base HEAD $new 2>/dev/null || git hash-object -t tree /dev/null) $new" ;;
    esac
    files=$(git diff-tree -r --name-only $range -- .github/workflows 2>/dev/null)
    if [ -n "$files" ]; then
      file=$(echo "$files" | head -n 1)
      echo "refusing to allow a GitHub App to create or update workflow \` + "`$file\\`" +
	` without \` + "`workflows\\`" + ` permission" >&2
      status=1
    fi
  fi
done
exit $status
`
