package ghsim

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// plain is an answer that is text and not JSON.
type plain string

// contents is GET /repos/{owner}/{repo}/contents/{path}?ref=: a file, or the list
// of a directory.
func (s *Server) contents(c *call) (answer, error) {
	ref := c.query.Get("ref")
	if ref == "" {
		ref = c.repo.defaultBranch
	}
	sha, found := s.commitOf(c.repo, ref)
	if !found {
		return answer{}, &apiError{code: http.StatusNotFound, message: "No commit found for the ref " + ref}
	}
	p := strings.Trim(c.params["path"], "/")
	if p == "" {
		return s.directory(c, sha, ref, "")
	}
	e, err := s.git.entryAt(c.repo.dir, sha, p)
	if err != nil {
		return answer{}, notFound()
	}
	if e.kind == "tree" {
		return s.directory(c, sha, ref, p)
	}
	b, err := s.git.run(c.repo.dir, nil, nil, "cat-file", "blob", e.sha)
	if err != nil {
		return answer{}, err
	}
	if a := c.r.Header.Get("Accept"); strings.Contains(a, ".raw") {
		return answer{code: http.StatusOK, value: plain(b)}, nil
	}
	o := s.entryJSON(c.repo, ref, e)
	o["encoding"], o["content"] = "base64", wrapped(b)
	return ok(o), nil
}

func (s *Server) directory(c *call, sha, ref, p string) (answer, error) {
	es, err := s.git.ls(c.repo.dir, sha, p, false)
	if err != nil {
		return answer{}, err
	}
	out := []object{}
	for _, e := range es {
		out = append(out, s.entryJSON(c.repo, ref, e))
	}
	return ok(out), nil
}

func (s *Server) entryJSON(r *repository, ref string, e treeEntry) object {
	p := (&url.URL{Path: e.path}).EscapedPath()
	self := s.api("/repos/%s/contents/%s?ref=%s", r.fullName(), p, url.QueryEscape(ref))
	kind, html, git, download := "file", "blob", "blobs", any(s.html("/%s/raw/%s/%s", r.fullName(), ref, p))
	if e.kind == "tree" {
		kind, html, git, download = "dir", "tree", "trees", nil
	}
	page := s.html("/%s/%s/%s/%s", r.fullName(), html, ref, p)
	gitURL := s.api("/repos/%s/git/%s/%s", r.fullName(), git, e.sha)
	return object{
		"type": kind, "name": path.Base(e.path), "path": e.path, "sha": e.sha, "size": e.size, "url": self, "html_url": page,
		"git_url": gitURL, "download_url": download, "_links": object{"self": self, "git": gitURL, "html": page},
	}
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
