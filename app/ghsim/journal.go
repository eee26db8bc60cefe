package ghsim

import "time"

// Entry is one thing that happened, in the order in which it happened. The kinds
// are those of webhooks where there is one ("issues.opened", "issues.labeled",
// "issue_comment.created", "issue_comment.edited", "pull_request.opened",
// "pull_request.synchronize", "pull_request.ready_for_review",
// "pull_request_review.submitted", "pull_request_review_comment.created", "check_run.created",
// "check_run.completed", "check_suite.completed", "workflow_run.completed",
// "installation.created", "status", …), and besides: "repository.created",
// "repository.deleted", "push", "push.created", "push.deleted", "push.forced",
// "pull_request.merged", "reaction.created", "label.created", "label.edited",
// "label.deleted", "check_run.in_progress", "check_run.rerequested",
// "check_run.requested_action", "check_suite.rerequested",
// "workflow_run.rerequested" and "app.created".
type Entry struct {
	Seq    int       // 1, 2, 3, …
	At     time.Time // by the simulator's clock
	Kind   string    // event and action: "issue_comment.created", "push", "check_run.completed"
	Actor  string    // login; a bot's ends in [bot]
	Repo   string    // owner/name
	Number int       // issue or pull request; 0 when it is about neither
	Ref    string    // branch, check or label name, or comment id, by kind
	SHA    string    // commit, where there is one
	Detail string    // title, body, conclusion or state, by kind
}

// note appends to the journal; the mutex is held.
func (s *Server) note(e Entry) {
	e.Seq, e.At = len(s.entries)+1, s.now()
	s.entries = append(s.entries, e)
	s.changed.Broadcast()
}

// Timeline is everything that happened so far. With kinds, only entries of
// these kinds.
func (s *Server) Timeline(kinds ...string) []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	var es []Entry
	for _, e := range s.entries {
		keep := len(kinds) == 0
		for _, k := range kinds {
			keep = keep || k == e.Kind
		}
		if keep {
			es = append(es, e)
		}
	}
	return es
}

// Call is one API request that was received.
type Call struct {
	Seq          int
	At           time.Time
	Method       string
	Pattern      string // route pattern, "/repos/{owner}/{repo}/issues"; empty for an unknown route
	Path         string // as requested, with the query
	Status       int
	Installation int64 // whose token it carried; 0 for none
	Conditional  bool  // answered 304 and not counted against the rate limit
	Fault        bool  // answered by a fault, not by the simulator
}

// Calls are the API requests received so far, REST and GraphQL, in order of
// completion. Git over HTTP and pages are not among them.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// CountCalls is how many API requests were received that count against a rate
// limit: everything but answers 304.
func (s *Server) CountCalls() int {
	n := 0
	for _, c := range s.Calls() {
		if !c.Conditional {
			n++
		}
	}
	return n
}
