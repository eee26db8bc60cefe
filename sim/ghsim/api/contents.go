package api

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/payload"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// contents is GET /repos/{owner}/{repo}/contents/{path}?ref=: a file, or the list
// of a directory.
func contents(c *call) (answer, error) {
	ref := cmp.Or(c.query.Get("ref"), c.repo.DefaultBranch)
	sha, found := c.world.CommitOf(c.repo, ref)
	if !found {
		return answer{}, &refusal.Error{Code: http.StatusNotFound, Message: "No commit found for the ref " + ref}
	}
	p := strings.Trim(c.params["path"], "/")
	if p == "" {
		return directory(c, sha, ref, "")
	}
	e, err := c.git.EntryAt(c.repo.Dir, sha, p)
	if err != nil {
		return answer{}, refusal.NotFound()
	}
	if e.Kind == "tree" {
		return directory(c, sha, ref, p)
	}
	b, err := c.git.Blob(c.repo.Dir, e.SHA)
	if err != nil {
		return answer{}, err
	}
	if a := c.r.Header.Get("Accept"); strings.Contains(a, ".raw") {
		return answer{code: http.StatusOK, value: plain(b)}, nil
	}
	o := c.shape.Entry(c.repo, ref, e)
	o["encoding"], o["content"] = "base64", wrapped(b)
	return ok(o), nil
}

func directory(c *call, sha, ref, p string) (answer, error) {
	es, err := c.git.List(c.repo.Dir, sha, p, false)
	if err != nil {
		return answer{}, err
	}
	return ok(payload.List(es, func(e git.Entry) object { return c.shape.Entry(c.repo, ref, e) })), nil
}

// wrapped is base64 in lines of 60, as GitHub sends it.
func wrapped(b []byte) string {
	text := base64.StdEncoding.EncodeToString(b)
	var out strings.Builder
	for len(text) > 0 {
		n := min(60, len(text))
		out.WriteString(text[:n] + "\n")
		text = text[n:]
	}
	return out.String()
}
