package ghsim

import (
	"slices"
)

func (s *Server) addStatus(r *repository, a actor, st *status) {
	st.id, st.by, st.at = s.newID(), a.user, s.now()
	r.statuses = append(r.statuses, st)
	s.note(Entry{Kind: "status", Actor: a.user.login, Repo: r.fullName(), Ref: st.context, SHA: st.sha, Detail: st.state})
	facts := s.git.facts(r.dir, st.sha)
	branches := []object{}
	for _, b := range r.branches() {
		if r.head(b) == st.sha {
			branches = append(branches, s.shortBranchJSON(r, b))
		}
	}
	commit := s.commitJSON(r, facts)
	commit["commit"].(object)["verification"] = object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil}
	s.emit(r, a, "status", "", object{
		"id": st.id, "sha": st.sha, "name": r.fullName(), "target_url": orNull(st.url), "avatar_url": s.userJSON(st.by)["avatar_url"],
		"context": st.context, "description": orNull(st.description), "state": st.state, "commit": commit, "branches": branches,
		"created_at": stamp(st.at), "updated_at": stamp(st.at),
	})
}

func (s *Server) statusJSON(r *repository, st *status) object {
	return object{
		"id": st.id, "node_id": nodeID("SC", st.id), "url": s.api("/repos/%s/statuses/%s", r.fullName(), st.sha),
		"avatar_url": s.userJSON(st.by)["avatar_url"], "state": st.state, "description": orNull(st.description), "target_url": orNull(st.url),
		"context": st.context, "created_at": stamp(st.at), "updated_at": stamp(st.at),
	}
}

func (s *Server) statusFullJSON(r *repository, st *status) object {
	o := s.statusJSON(r, st)
	o["creator"] = s.userJSON(st.by)
	return o
}

func (s *Server) createStatus(c *call) (answer, error) {
	var in struct {
		State       string  `json:"state"`
		TargetURL   *string `json:"target_url"`
		Description *string `json:"description"`
		Context     string  `json:"context"`
	}
	if err := c.decode(&in); err != nil {
		return answer{}, err
	}
	sha, known := s.commitOf(c.repo, c.params["sha"])
	switch {
	case !known:
		return answer{}, unprocessable("No commit found for SHA: " + c.params["sha"])
	case !slices.Contains([]string{"error", "failure", "pending", "success"}, in.State):
		return answer{}, invalid("Status", "state", "invalid", "")
	case in.Description != nil && len([]rune(*in.Description)) > 140:
		return answer{}, invalid("Status", "description", "custom", "description is too long (maximum is 140 characters)")
	}
	st := &status{sha: sha, context: in.Context, state: in.State}
	if st.context == "" {
		st.context = "default"
	}
	if in.Description != nil {
		st.description = *in.Description
	}
	if in.TargetURL != nil {
		st.url = *in.TargetURL
	}
	s.addStatus(c.repo, c.actor(), st)
	return created(s.statusFullJSON(c.repo, st)), nil
}

// statusesOf are a commit's statuses, newest first.
func statusesOf(r *repository, sha string) []*status {
	var sts []*status
	for _, st := range slices.Backward(r.statuses) {
		if st.sha == sha {
			sts = append(sts, st)
		}
	}
	return sts
}

func (s *Server) listStatuses(c *call) (answer, error) {
	sha, found := s.commitOf(c.repo, c.params["ref"])
	if !found {
		return answer{}, notFound()
	}
	return page(c, statusesOf(c.repo, sha), "", func(st *status) object { return s.statusFullJSON(c.repo, st) })
}

// combinedStatus is the newest status of each context, and their sum: failure
// when one failed or erred, pending when one is pending or there is none.
func (s *Server) combinedStatus(c *call) (answer, error) {
	sha, found := s.commitOf(c.repo, c.params["ref"])
	if !found {
		return answer{}, notFound()
	}
	seen := map[string]bool{}
	var sts []*status
	state := "success"
	for _, st := range statusesOf(c.repo, sha) {
		if seen[st.context] {
			continue
		}
		seen[st.context] = true
		sts = append(sts, st)
		switch {
		case st.state == "failure" || st.state == "error":
			state = "failure"
		case st.state == "pending" && state == "success":
			state = "pending"
		}
	}
	if len(sts) == 0 {
		state = "pending"
	}
	a, err := page(c, sts, "statuses", func(st *status) object { return s.statusJSON(c.repo, st) })
	o := a.value.(object)
	o["state"], o["sha"] = state, sha
	o["repository"] = s.repoLiteJSON(c.repo)
	o["commit_url"] = s.api("/repos/%s/commits/%s", c.repo.fullName(), sha)
	o["url"] = s.api("/repos/%s/commits/%s/status", c.repo.fullName(), sha)
	return a, err
}
