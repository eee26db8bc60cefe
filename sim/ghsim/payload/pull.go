package payload

import (
	"maps"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/rules"
)

// Review is a review; payloads print its state in lower case.
func (s *Shaper) Review(r *model.Repository, i *model.Issue, v *model.Review) Object {
	html := s.HTML("/%s/pull/%d#pullrequestreview-%d", r.FullName(), i.Number, v.ID)
	pull := s.API("/repos/%s/pulls/%d", r.FullName(), i.Number)
	return Object{
		"id": v.ID, "node_id": NodeID("PRR", v.ID), "user": s.User(v.By), "body": v.Body, "state": v.State,
		"commit_id":    v.SHA,
		"submitted_at": Stamp(v.At), "html_url": html, "pull_request_url": pull, "author_association": r.Association(v.By),
		"_links": Object{"html": Object{"href": html}, "pull_request": Object{"href": pull}},
	}
}

// end is one end of a pull request; the simulator has no forks.
func (s *Shaper) end(r *model.Repository, branch, sha string) Object {
	return Object{"label": r.Owner.Login + ":" + branch, "ref": branch, "sha": sha, "user": s.User(r.Owner),
		"repo": s.Repository(r)}
}

// PullLite is a pull request as lists carry it.
func (s *Shaper) PullLite(r *model.Repository, i *model.Issue) Object {
	p := i.Pull
	u := s.API("/repos/%s/pulls/%d", r.FullName(), i.Number)
	issue := s.API("/repos/%s/issues/%d", r.FullName(), i.Number)
	html := s.HTML("/%s/pull/%d", r.FullName(), i.Number)
	statuses := s.API("/repos/%s/statuses/%s", r.FullName(), p.HeadSHA)
	href := func(s string) Object { return Object{"href": s} }
	review := s.API("/repos/%s/pulls/comments{/number}", r.FullName())
	return Object{
		"id": p.ID, "node_id": NodeID("PR", i.ID), "number": i.Number, "url": u, "html_url": html,
		"diff_url": html + ".diff", "patch_url": html + ".patch", "issue_url": issue, "state": i.State, "locked": i.Locked,
		"title": i.Title, "user": s.User(i.By), "body": OrNull(i.Body),
		"created_at": Stamp(i.Made), "updated_at": Stamp(i.Updated), "closed_at": Stamp(i.Closed),
		"merged_at": Stamp(p.MergedAt), "merge_commit_sha": OrNull(p.MergeSHA), "assignee": s.userOrNull(i.Assignee()),
		"assignees": s.Users(i.Assignees), "requested_reviewers": []Object{}, "requested_teams": []Object{},
		"labels": s.Labels(r, i.Labels), "milestone": nil, "draft": p.Draft, "commits_url": u + "/commits",
		"review_comments_url": u + "/comments", "review_comment_url": review, "comments_url": issue + "/comments",
		"statuses_url": statuses,
		"head":         s.end(r, p.Head, p.HeadSHA), "base": s.end(r, p.Base, p.BaseSHA),
		"_links": Object{"self": href(u), "html": href(html), "issue": href(issue), "comments": href(issue + "/comments"),
			"review_comments": href(u + "/comments"), "review_comment": href(review), "commits": href(u + "/commits"),
			"statuses": href(statuses)},
		"author_association": r.Association(i.By), "auto_merge": nil, "active_lock_reason": nil,
	}
}

// Pull is a pull request in full.
func (s *Shaper) Pull(r *model.Repository, i *model.Issue) Object {
	p := i.Pull
	cmp := s.git.Compare(r.Dir, p.BaseSHA, p.HeadSHA)
	additions, deletions := cmp.Totals()
	mergeable, state := any(nil), "unknown"
	if i.State == "open" {
		_, clean := s.git.MergeTree(r.Dir, r.Head(p.Base), p.HeadSHA)
		if mergeable, state = clean, rules.State(s.git, r, i); r.MergeStale {
			mergeable, state = false, "dirty"
		}
	}
	o := s.PullLite(r, i)
	if i.State == "open" {
		o["merge_commit_sha"] = OrNull(r.TestMerges[r.Head(p.Base)+p.HeadSHA])
	}
	maps.Copy(o, Object{
		"merged": !p.MergedAt.IsZero(), "mergeable": mergeable, "rebaseable": mergeable, "mergeable_state": state,
		"merged_by": s.userOrNull(p.MergedBy), "comments": len(i.Comments), "review_comments": len(p.Threads),
		"maintainer_can_modify": false,
		"commits":               len(cmp.Commits), "additions": additions, "deletions": deletions,
		"changed_files": len(cmp.Files),
	})
	return o
}

// pullStubs are the open pull requests with this commit as their head, as in checks.
func (s *Shaper) pullStubs(r *model.Repository, sha string) []Object {
	end := func(ref, sha string) Object {
		return Object{"ref": ref, "sha": sha,
			"repo": Object{"id": r.ID, "url": s.API("/repos/%s", r.FullName()), "name": r.Name}}
	}
	out := []Object{}
	for _, i := range r.Issues {
		if i.Pull != nil && i.State == "open" && i.Pull.HeadSHA == sha {
			out = append(out, Object{"id": i.Pull.ID, "number": i.Number,
				"url":  s.API("/repos/%s/pulls/%d", r.FullName(), i.Number),
				"head": end(i.Pull.Head, sha), "base": end(i.Pull.Base, i.Pull.BaseSHA)})
		}
	}
	return out
}

// ReviewComment is a comment on a line of a pull request.
func (s *Shaper) ReviewComment(r *model.Repository, c *model.ReviewComment) Object {
	u := s.API("/repos/%s/pulls/comments/%d", r.FullName(), c.ID)
	html := s.HTML("/%s/pull/%d#discussion_r%d", r.FullName(), c.Issue.Number, c.ID)
	side := "RIGHT"
	if c.Old {
		side = "LEFT"
	}
	pull := s.API("/repos/%s/pulls/%d", r.FullName(), c.Issue.Number)
	o := Object{
		"id": c.ID, "node_id": NodeID("PRRC", c.ID), "pull_request_review_id": c.Review, "url": u, "html_url": html,
		"pull_request_url": pull,
		"diff_hunk":        s.hunkAt(r, c), "path": c.Path, "position": 1, "original_position": 1, "commit_id": c.SHA,
		"original_commit_id": c.SHA,
		"user":               s.User(c.By), "body": c.Body, "created_at": Stamp(c.Made), "updated_at": Stamp(c.Updated),
		"author_association": r.Association(c.By), "start_line": nil, "original_start_line": nil, "start_side": nil,
		"original_line": c.Line, "side": side, "subject_type": "line",
		"reactions": s.rollup(u, c.Reactions),
		"_links":    Object{"self": Object{"href": u}, "html": Object{"href": html}, "pull_request": Object{"href": pull}},
	}
	if c.First != 0 {
		o["original_start_line"], o["start_side"] = c.First, side
	}
	if first, last, ok := s.presentLines(r, c); ok {
		o["line"] = last
		if c.First != 0 {
			o["start_line"] = first
		}
	} else {
		delete(o, "position") // REST omits them then
	}
	if c.ReplyTo != 0 {
		o["in_reply_to_id"] = c.ReplyTo
	}
	return o
}

// presentLines is the present place in the pull request of a comment's lines; false: they have changed, and the
// comment is outdated.
func (s *Shaper) presentLines(r *model.Repository, c *model.ReviewComment) (first, last int, ok bool) {
	head := c.Issue.Pull.HeadSHA
	if c.Old || c.SHA == head {
		return c.First, c.Line, true
	}
	change := git.FileChange{}
	// From commit to commit: a force-pushed branch has another merge base.
	for _, f := range s.git.Between(r.Dir, c.SHA, head) {
		if f.Path == c.Path || f.From == c.Path {
			change = f
		}
	}
	if change.Status == "removed" {
		return 0, 0, false
	}
	first, last = change.MovedTo(c.First), change.MovedTo(c.Line)
	return first, last, last != 0 && (c.First == 0 || first != 0)
}

// hunkAt is the diff hunk of a comment, down to its line.
func (s *Shaper) hunkAt(r *model.Repository, c *model.ReviewComment) string {
	cmp := s.git.Compare(r.Dir, c.Issue.Pull.BaseSHA, c.SHA)
	n := slices.IndexFunc(cmp.Files, func(f git.FileChange) bool { return f.Path == c.Path })
	if n < 0 {
		return ""
	}
	return cmp.Files[n].HunkTo(c.Line, c.Old)
}
