package ghsim

import (
	"net/http"
	"slices"
	"strings"
)

// branches are the branch names, sorted.
func (r *repository) branches() []string {
	var bs []string
	for ref := range r.refs {
		if b, is := strings.CutPrefix(ref, "refs/heads/"); is {
			bs = append(bs, b)
		}
	}
	slices.Sort(bs)
	return bs
}

func (r *repository) protected(branch string) bool {
	return len(r.protection[branch])+len(r.rules[branch]) > 0
}

func (s *Server) shortBranchJSON(r *repository, branch string) object {
	sha := r.head(branch)
	return object{"name": branch, "commit": object{"sha": sha, "url": s.api("/repos/%s/commits/%s", r.fullName(), sha)}, "protected": r.protected(branch)}
}

func (s *Server) listBranches(c *call) (answer, error) {
	return page(c, c.repo.branches(), "", func(b string) object { return s.shortBranchJSON(c.repo, b) })
}

// branch is the branch that the request names, and its head.
func (c *call) branch() (string, string, error) {
	b := c.params["branch"]
	if sha := c.repo.head(b); sha != "" {
		return b, sha, nil
	}
	return "", "", &apiError{code: http.StatusNotFound, message: "Branch not found"}
}

func (s *Server) getBranch(c *call) (answer, error) {
	b, sha, err := c.branch()
	if err != nil {
		return answer{}, err
	}
	r := c.repo
	u := s.api("/repos/%s/branches/%s", r.fullName(), b)
	level := "off"
	contexts := []string{}
	if cs := r.protection[b]; len(cs) > 0 {
		level, contexts = "non_admins", cs
	}
	return ok(object{
		"name": b, "commit": s.commitJSON(r, s.git.facts(r.dir, sha)), "protected": r.protected(b), "protection_url": u + "/protection",
		"_links": object{"self": u, "html": s.html("/%s/tree/%s", r.fullName(), b)},
		"protection": object{"enabled": r.protected(b),
			"required_status_checks": object{"enforcement_level": level, "contexts": contexts, "checks": contextsJSON(contexts)}},
	}), nil
}

func contextsJSON(contexts []string) []object {
	out := []object{}
	for _, c := range contexts {
		out = append(out, object{"context": c, "app_id": nil})
	}
	return out
}

// policyJSON is a branch's required status checks.
func (s *Server) policyJSON(r *repository, branch string) (object, error) {
	contexts := r.protection[branch]
	if len(contexts) == 0 {
		return nil, &apiError{code: http.StatusNotFound, message: "Branch not protected", doc: "https://docs.github.com/rest/branches/branch-protection#get-branch-protection"}
	}
	u := s.api("/repos/%s/branches/%s/protection/required_status_checks", r.fullName(), branch)
	return object{"url": u, "contexts_url": u + "/contexts", "strict": false, "contexts": contexts, "checks": contextsJSON(contexts)}, nil
}

func (s *Server) getRequiredChecks(c *call) (answer, error) {
	b, _, err := c.branch()
	if err != nil {
		return answer{}, err
	}
	p, err := s.policyJSON(c.repo, b)
	if err != nil {
		return answer{}, err
	}
	return ok(p), nil
}

func (s *Server) getProtection(c *call) (answer, error) {
	b, _, err := c.branch()
	if err != nil {
		return answer{}, err
	}
	p, err := s.policyJSON(c.repo, b)
	if err != nil {
		return answer{}, err
	}
	u := s.api("/repos/%s/branches/%s/protection", c.repo.fullName(), b)
	off := object{"enabled": false}
	return ok(object{
		"url": u, "required_status_checks": p, "enforce_admins": object{"url": u + "/enforce_admins", "enabled": false},
		"required_signatures":     object{"url": u + "/required_signatures", "enabled": false},
		"required_linear_history": off, "allow_force_pushes": off, "allow_deletions": off, "block_creations": off,
		"required_conversation_resolution": off, "lock_branch": off, "allow_fork_syncing": off,
	}), nil
}

// getRules is GET /repos/{owner}/{repo}/rules/branches/{branch}; as on GitHub a
// branch that does not exist has rules too.
func (s *Server) getRules(c *call) (answer, error) {
	contexts := c.repo.rules[c.params["branch"]]
	out := []object{}
	if len(contexts) > 0 {
		checks := []object{}
		for _, x := range contexts {
			checks = append(checks, object{"context": x})
		}
		out = append(out, object{"type": "required_status_checks", "ruleset_source_type": "Repository", "ruleset_source": c.repo.fullName(),
			"ruleset_id": c.repo.ruleset, "parameters": object{"strict_required_status_checks_policy": false,
				"do_not_enforce_on_create": false, "required_status_checks": checks}})
	}
	return ok(out), nil
}

func (s *Server) refJSON(r *repository, ref string) object {
	sha := r.refs[ref]
	return object{"ref": ref, "node_id": nodeID("REF", r.id) + pathEscape(ref), "url": s.api("/repos/%s/git/%s", r.fullName(), ref),
		"object": object{"type": "commit", "sha": sha, "url": s.api("/repos/%s/git/commits/%s", r.fullName(), sha)}}
}

func (s *Server) getRef(c *call) (answer, error) {
	ref := "refs/" + c.params["ref"]
	if c.repo.refs[ref] == "" {
		return answer{}, notFound()
	}
	return ok(s.refJSON(c.repo, ref)), nil
}

func (s *Server) listMatchingRefs(c *call) (answer, error) {
	var refs []string
	for _, ref := range sortedKeys(c.repo.refs) {
		if strings.HasPrefix(ref, "refs/"+c.params["ref"]) {
			refs = append(refs, ref)
		}
	}
	return page(c, refs, "", func(ref string) object { return s.refJSON(c.repo, ref) })
}

// deleteRef is DELETE /repos/{owner}/{repo}/git/refs/{ref}.
func (s *Server) deleteRef(c *call) (answer, error) {
	ref := "refs/" + c.params["ref"]
	if c.repo.refs[ref] == "" {
		return answer{}, unprocessable("Reference does not exist")
	}
	return answer{code: http.StatusNoContent}, s.moveRef(c.repo, c.actor(), ref, "")
}

// createRef is POST /repos/{owner}/{repo}/git/refs.
func (s *Server) createRef(c *call) (answer, error) {
	var in struct{ Ref, SHA string }
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	sha, known := s.commitOf(c.repo, in.SHA)
	switch {
	case !strings.HasPrefix(in.Ref, "refs/heads/") && !strings.HasPrefix(in.Ref, "refs/tags/"):
		return answer{}, unprocessable("Reference name must start with 'refs/heads' or 'refs/tags'")
	case c.repo.refs[in.Ref] != "":
		return answer{}, unprocessable("Reference already exists")
	case !known:
		return answer{}, unprocessable("Object does not exist")
	}
	if err := s.moveRef(c.repo, c.actor(), in.Ref, sha); err != nil {
		return answer{}, unprocessable("Reference name is not valid")
	}
	return created(s.refJSON(c.repo, in.Ref)), nil
}
