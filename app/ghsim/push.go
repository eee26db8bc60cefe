package ghsim

import (
	"maps"
	"slices"
	"strings"
)

// moveRef moves one ref (an empty SHA deletes it) and announces it; the mutex is
// held.
func (s *Server) moveRef(r *repository, a actor, ref, sha string) error {
	old := r.refs[ref]
	if old == sha {
		return nil
	}
	if err := s.git.setRef(r.dir, ref, sha, old); err != nil {
		return err
	}
	if sha == "" {
		delete(r.refs, ref)
	} else {
		r.refs[ref] = sha
	}
	s.refMoved(r, a, ref, old, sha)
	return nil
}

// refsMoved compares a repository's refs with what was last announced and does
// what GitHub does about each that moved; the mutex is held.
func (s *Server) refsMoved(r *repository, a actor) error {
	now, err := s.git.refs(r.dir)
	if err != nil {
		return err
	}
	before := r.refs
	r.refs = now
	names := map[string]bool{}
	for ref := range before {
		names[ref] = true
	}
	for ref := range now {
		names[ref] = true
	}
	for _, ref := range slices.Sorted(maps.Keys(names)) {
		if before[ref] != now[ref] {
			s.refMoved(r, a, ref, before[ref], now[ref])
		}
	}
	return nil
}

// refMoved announces one push: the push event, pull requests whose head moved,
// check suites, workflow runs.
func (s *Server) refMoved(r *repository, a actor, ref, old, new string) {
	branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
	forced := old != "" && new != "" && !s.git.isAncestor(r.dir, old, new)
	kind := "push"
	switch {
	case old == "":
		kind = "push.created"
	case new == "":
		kind = "push.deleted"
	case forced:
		kind = "push.forced"
	}
	r.pushed = s.now()
	s.note(Entry{Kind: kind, Actor: a.user.login, Repo: r.fullName(), Ref: strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/"), SHA: new})
	s.emitRefEvent(r, a, ref, old, new)
	s.emit(r, a, "push", "", s.pushJSON(r, a, ref, old, new, forced))
	if !isBranch {
		return
	}
	pulls := slices.DeleteFunc(slices.Clone(r.issues), func(i *issue) bool {
		return i.pull == nil || i.state != "open" || i.pull.head != branch
	})
	for _, i := range pulls {
		s.headMoved(r, a, i, old, new)
	}
	if new == "" {
		return
	}
	s.requestSuites(r, a, branch, old, new)
	s.startWorkflows(r, a, "push", branch, new)
	if len(pulls) > 0 {
		s.startWorkflows(r, a, "pull_request", branch, new)
	}
}

// headMoved is a push to an open pull request's branch.
func (s *Server) headMoved(r *repository, a actor, i *issue, old, new string) {
	if new == "" {
		s.setState(r, i, a, "closed", "")
		return
	}
	i.pull.headSHA, i.updated = new, s.now()
	if base := r.head(i.pull.base); base != "" {
		i.pull.baseSHA = base
	}
	s.note(Entry{Kind: "pull_request.synchronize", Actor: a.user.login, Repo: r.fullName(), Number: i.number, Ref: i.pull.head, SHA: new})
	s.emit(r, a, "pull_request", "synchronize", object{"number": i.number, "before": old, "after": new, "pull_request": s.pullJSON(r, i)})
}

// emitRefEvent is the create or delete event of a branch or tag.
func (s *Server) emitRefEvent(r *repository, a actor, ref, old, new string) {
	if old != "" && new != "" {
		return
	}
	kind, name := "branch", strings.TrimPrefix(ref, "refs/heads/")
	if t, ok := strings.CutPrefix(ref, "refs/tags/"); ok {
		kind, name = "tag", t
	}
	body := object{"ref": name, "ref_type": kind, "pusher_type": "user"}
	if new == "" {
		s.emit(r, a, "delete", "", body)
		return
	}
	body["master_branch"], body["description"] = r.defaultBranch, nil
	s.emit(r, a, "create", "", body)
}

// maxPushCommits is how many commits a push event lists.
// https://docs.github.com/en/webhooks/webhook-events-and-payloads#push
const maxPushCommits = 2048

func (s *Server) pushJSON(r *repository, a actor, ref, old, new string, forced bool) object {
	before, after := old, new
	if before == "" {
		before = noSHA
	}
	if after == "" {
		after = noSHA
	}
	commits := []object{}
	var head any
	if new != "" {
		revs := []string{new, "^" + old}
		if old == "" {
			revs = []string{new}
			for other, sha := range r.refs {
				if other != ref && sha != new {
					revs = append(revs, "^"+sha)
				}
			}
			slices.Sort(revs[1:])
		}
		cs, err := s.git.commitsIn(r.dir, revs...)
		if err != nil {
			s.log.Error("commits of a push", "repo", r.fullName(), "error", err)
		}
		for _, c := range cs[max(0, len(cs)-maxPushCommits):] {
			commits = append(commits, s.pushCommitJSON(r, c))
		}
		head = s.pushCommitJSON(r, s.git.facts(r.dir, new))
	}
	return object{
		"ref": ref, "before": before, "after": after, "created": old == "", "deleted": new == "", "forced": forced,
		"base_ref": nil, "compare": s.html("/%s/compare/%.12s...%.12s", r.fullName(), before, after),
		"commits": commits, "head_commit": head,
		"pusher": object{"name": a.user.login, "email": s.email(a.user)},
	}
}

func (s *Server) pushCommitJSON(r *repository, c commitFacts) object {
	added, removed, modified := []string{}, []string{}, []string{}
	from := emptyTree
	if len(c.parents) > 0 {
		from = c.parents[0]
	}
	files, _ := s.git.diff(r.dir, from, c.sha)
	for _, f := range files {
		switch f.status {
		case "added":
			added = append(added, f.path)
		case "removed":
			removed = append(removed, f.path)
		case "renamed":
			added, removed = append(added, f.path), append(removed, f.from)
		default:
			modified = append(modified, f.path)
		}
	}
	o := s.simpleCommitJSON(c)
	o["distinct"], o["url"] = true, s.html("/%s/commit/%s", r.fullName(), c.sha)
	o["added"], o["removed"], o["modified"] = added, removed, modified
	return o
}
